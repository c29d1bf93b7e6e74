"""The independent readers, each one JVM for the whole session, started when the first test asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from jars import Jars
from jvm import Reader
from released_consumers import PAIMON, SEATUNNEL

DRIVER: Final = Jars("bson-4.11.1", ("org.mongodb:bson:4.11.1",))
LATER: Final = Jars("bson-5.14.0", ("org.mongodb:bson:5.14.0",))
CANAL: Final = Jars(
    "canal-protocol-1.1.8", ("com.alibaba.otter:canal.protocol:1.1.8", "com.alibaba.fastjson2:fastjson2:2.0.31")
)
FLINK: Final = Jars(
    "flink-formats-2.3.0",
    (
        *(f"org.apache.flink:flink-{part}:2.3.0" for part in ("json", "table-common", "table-runtime", "core")),
        *(f"org.apache.flink:flink-{part}:2.3.0" for part in ("core-api", "sql-avro-confluent-registry")),
        "org.apache.flink:flink-metrics-core:2.3.0",
        "org.apache.flink:flink-shaded-jackson:2.20.1-21.0",
        "org.slf4j:slf4j-api:1.7.36",
    ),
)
GSON: Final = Jars("gson-2.15.0", ("com.google.code.gson:gson:2.15.0",))
SDK: Final = Jars(
    "dts-subscribe-sdk-2.0.0",
    (
        "com.aliyun.dts:dts-new-subscribe-sdk:2.0.0",
        "org.apache.avro:avro:1.8.2",
        "org.codehaus.jackson:jackson-core-asl:1.9.13",
        "org.codehaus.jackson:jackson-mapper-asl:1.9.13",
        "com.alibaba:fastjson:1.2.31",
        "com.google.code.gson:gson:2.8.6",
        "com.vividsolutions:jts-core:1.14.0",
        "org.apache.commons:commons-lang3:3.8.1",
        "org.apache.kafka:kafka-clients:2.7.0",
        "log4j:log4j:1.2.17",
        "org.slf4j:slf4j-api:1.7.7",
        "org.slf4j:slf4j-log4j12:1.7.21",
    ),
)
UTF8: Final = "-Dfile.encoding=UTF-8"


@pytest.fixture(scope="session")
def driver() -> Iterator[Reader]:
    """MongoDB's own BSON library, of the driver whose texts are imitated."""
    with Reader("BsonTrip.java", DRIVER, UTF8) as reader:
        yield reader


@pytest.fixture(scope="session")
def later() -> Iterator[Reader]:
    """A later driver, which reads the same and writes doubles otherwise."""
    with Reader("BsonTrip.java", LATER, UTF8) as reader:
        yield reader


@pytest.fixture(scope="session")
def canal() -> Iterator[Reader]:
    """Canal's own message class: a message comes back as its producer writes what its consumer read."""
    with Reader("FlatMessageTrip.java", CANAL, UTF8) as reader:
        yield reader


@pytest.fixture(scope="session")
def flink() -> Iterator[Reader]:
    """Flink's canal-json, debezium-json, maxwell-json and debezium-avro-confluent: a message comes back as a changelog
    (`flink_table.read`)."""
    with Reader("FlinkCanal.java", FLINK) as reader:
        yield reader


@pytest.fixture(scope="session")
def gson() -> Iterator[Reader]:
    """Gson with its default escapes: a text comes back as it writes what it read."""
    with Reader("GsonTrip.java", GSON, UTF8) as reader:
        yield reader


@pytest.fixture(scope="session")
def sdk() -> Iterator[Reader]:
    """Alibaba's SDK of change tracking: a record in hexadecimal digits comes back as what it tells its users."""
    options = ("--add-exports", "java.base/sun.util.calendar=ALL-UNNAMED", "-Duser.timezone=UTC")
    with Reader("DtsRecord.java", SDK, UTF8, *options) as reader:
        yield reader


@pytest.fixture(scope="session")
def paimon() -> Iterator[Reader]:
    """The parser of Paimon's CDC actions for canal-json: a message comes back as the records for the table."""
    with Reader("PaimonCanal.java", PAIMON, UTF8) as reader:
        yield reader


@pytest.fixture(scope="session")
def seatunnel() -> Iterator[Reader]:
    """SeaTunnel's canal_json: a message comes back as its rows."""
    with Reader("SeaTunnelCanal.java", SEATUNNEL, UTF8) as reader:
        yield reader
