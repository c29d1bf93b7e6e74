"""Debezium's JDBC sink into PostgreSQL: our messages as Kafka Connect hands them to it, and what it fails with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from jars import Plugin
from jvm import Reader

from simulator.model import Message

SINK: Final = Plugin(
    "io.debezium:debezium-connector-jdbc:3.6.0.Final",
    (
        *("debezium-connector-jdbc", "debezium-connector-common", "debezium-connect-plugins", "debezium-util"),
        *("debezium-config", "debezium-sink", "debezium-api", "debezium-openlineage-api"),
        *("hibernate-core", "hibernate-agroal", "hibernate-models", "byte-buddy", "agroal-pool", "agroal-api"),
        *("jaxb-runtime", "jaxb-core", "txw2", "istack-commons-runtime", "angus-activation", "classmate"),
        *("jakarta.persistence-api", "jakarta.xml.bind-api", "jakarta.activation-api", "jakarta.transaction-api"),
        *("jakarta.inject-api", "jboss-logging", "antlr4-runtime", "sketches-java", "slf4j-api"),
        *("kafka-clients", "connect-api", "postgresql"),
    ),
)
# The sink's own names; what is not here is its default.
PROPERTIES: Final = {
    "name": "sink",
    "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
    "connection.username": "postgres",
    "connection.password": "none",
    "connection.pool.min_size": "1",
    "connection.pool.max_size": "2",
    "insert.mode": "upsert",
    "delete.enabled": "true",
    "primary.key.mode": "record_key",
    "schema.evolution": "basic",
    "collection.name.format": "${source.table}",
    "quote.identifiers": "true",
}


def written(sink: Reader, url: str, messages: Iterable[Message], **properties: str) -> list[str]:
    """Hand the messages about rows to a task of the sink, which writes them to a database; its failures.

    Of a `debezium-json` with schemas; topics of DDL, transactions and heartbeats are not the sink's.
    """
    rows = [message for message in messages if message.topic.count(".") > 1]
    address = url.partition("@")[2]
    own = {
        **PROPERTIES,
        "connection.url": f"jdbc:postgresql://{address}",
        "topics": ",".join(sorted({message.topic for message in rows})),
        **properties,
    }
    lines = [json.dumps({"connector": own}).encode()]
    for message in rows:
        record = {
            "topic": message.topic,
            "partition": message.partition or 0,
            "key": None if message.key is None else message.key.decode(),
            "value": None if message.value is None else message.value.decode(),
        }
        lines.append(json.dumps(record).encode())
    return [json.loads(line)["error"] for answer in sink.ask([*lines, b"put"]) for line in answer]
