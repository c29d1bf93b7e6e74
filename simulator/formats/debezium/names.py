"""Names of topics and schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from simulator.delivery.routing import Topics, fill
from simulator.formats.debezium.options import ConnectorOptions
from simulator.model import TableId

# Kafka's longest name of a topic.
LONGEST: Final = 249


def sanitised(name: str) -> str:
    """A topic's name in which each UTF-16 unit that Kafka does not allow is replaced with _.

    >>> sanitised("a.Tá b$😀")
    'a.T__b___'
    """
    out = re.sub(r"[^A-Za-z0-9._-]", lambda match: "__" if ord(match[0]) > 0xFFFF else "_", name)
    return out[:LONGEST]


def avro_name(name: str) -> str:
    """A dotted name with the characters that Avro allows.

    >>> avro_name("dbserver1.we-ird.1t")
    'dbserver1.we_ird._1t'
    """
    parts = (re.sub(r"[^A-Za-z0-9_]", "_", part) for part in name.split("."))
    return ".".join(f"_{part}" if part[:1].isdigit() else part for part in parts)


@dataclass(frozen=True)
class TableTopics(Topics):
    """A topic for each table."""

    def of(self, table_id: TableId, pattern: str | None = None) -> str:
        return sanitised(
            fill(pattern or self.pattern, database=table_id.database, schema=table_id.schema, table=table_id.name)
        )


@dataclass(frozen=True)
class Names:
    """Names by a connector's settings; `parts`: the parts of a table's name in its topic."""

    options: ConnectorOptions
    parts: str

    @property
    def topics(self) -> TableTopics:
        delimiter = self.options.topic_delimiter
        return TableTopics(delimiter.join([self.options.topic_prefix, *self.parts.split(".")]))

    @property
    def transactions(self) -> str:
        options = self.options
        return sanitised(f"{options.topic_prefix}{options.topic_delimiter}{options.topic_transaction}")

    @property
    def schema_changes(self) -> str:
        return sanitised(self.options.topic_prefix)

    @property
    def heartbeats(self) -> str:
        return f"{self.options.topic_heartbeat_prefix}{self.options.topic_delimiter}{self.options.topic_prefix}"

    def schema(self, table: TableId, what: str) -> str:
        """The name of a table's schema: `dbserver1.shop.orders.Envelope`."""
        return self.adjusted(f"{self.topics.of(table)}.{what}")

    def adjusted(self, name: str) -> str:
        return avro_name(name) if self.options.name_adjustment == "avro" else name

    def field(self, name: str) -> str:
        """A column's name in a row."""
        return avro_name(name.replace(".", "_")) if self.options.field_adjustment == "avro" else name
