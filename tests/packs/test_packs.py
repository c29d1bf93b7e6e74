"""Packs: what is in the file, and that the readers for Java and Go read it and find a bug of a consumer."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
from command import Command
from jars import Jars
from native import native

import simulator
from simulator.cli.commands.files import READERS

HERE: Final = Path(__file__).parent
SOURCES: Final = Path(str(files("simulator.packs"))) / "readers"
JUNIT: Final = Jars("junit-1.11.4", ("org.junit.platform:junit-platform-console-standalone:1.11.4",))
RUN: Final = ("pack", "orders", "-f", "canal-json", "--route", "key", "--partitions", "3", "--limit", "60")
JAVA: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# A table without key, and texts that JSON escapes.
SCRIPT: Final = r"""
CREATE DATABASE shop;
USE shop;
CREATE TABLE notes (n INT, t VARCHAR(40));
INSERT INTO notes VALUES (1, 'quote " back\\slash'), (1, 'quote " back\\slash'), (2, NULL), (3, 'tab\tline\n\\n é🍎');
DELETE FROM notes WHERE n = 2;
"""


def entries(pack: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(pack) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def data(value: Any) -> bytes | None:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else None if value is None else value.encode()


@pytest.fixture
def orders(command: Command, tmp_path: Path) -> Path:
    file = tmp_path / "orders.zip"
    command(*RUN, "--to", file, status=0)
    return file


def test_a_pack_is_a_run(orders: Path) -> None:
    run = simulator.simulate("orders", "canal-json", route="key", partitions=3, limit=60)
    held = entries(orders)
    manifest = json.loads(held["manifest.json"])
    lines = [json.loads(line) for line in held["messages.jsonl"].splitlines()]
    assert [(each["topic"], each["partition"], data(each["key"]), data(each["value"])) for each in lines] == [
        (each.topic, each.partition, each.key, each.value) for each in run.messages
    ]
    assert len({each["partition"] for each in lines}) == 3
    assert manifest["messages"]["messages"] == len(lines)
    assert manifest["topics"] == {"example": 3}
    assert manifest["cdcsim"] == simulator.__version__
    assert (
        manifest["run"] | {"scenario": "orders.yaml", "format": "canal-json", "seed": 1, "snapshot": False}
        == (manifest["run"])
    )
    for table in manifest["tables"]:
        rows = [json.loads(line) for line in held[table["file"]].splitlines()]
        assert rows == run.expected[table["table"]]
        assert (len(rows), tuple(table["key"])) == (table["rows"], run.keys[table["table"]])
        assert all(row.keys() == table["columns"].keys() for row in rows)
    assert {table["file"] for table in manifest["tables"]} | {"manifest.json", "messages.jsonl"} == held.keys()


def test_the_same_run_is_the_same_pack(command: Command, orders: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    command(*RUN, "--to", again, status=0)
    assert again.read_bytes() == orders.read_bytes()


def test_partitions_that_a_client_would_choose_are_chosen(command: Command, tmp_path: Path) -> None:
    """As Kafka's Java producer does."""
    file = tmp_path / "pack.zip"
    done = command("pack", "tour", "-f", "cloudcanal-debezium", "--partitions", "4", "--to", file, status=0)
    assert re.fullmatch(rf"{file}: \d+ messages, \d+ expected rows of \d+ tables\n", done.err)
    lines = [json.loads(line) for line in entries(file)["messages.jsonl"].splitlines()]
    assert {type(each["partition"]) for each in lines} == {int}


def test_mistakes_are_sentences_and_leave_nothing(command: Command, orders: Path, tmp_path: Path) -> None:
    script = tmp_path / "wrong.sql"
    script.write_text("CREATE DATABASE shop;\nUSE shop;\nINSERT INTO a VALUES (1);\n", "utf-8")
    before = sorted(tmp_path.iterdir())
    for words, sentence in (
        (("orders", "--to", orders), f"--to {orders}: it is already there; name another file, or remove it."),
        (("orders", "--to", tmp_path / "no" / "a.zip"), f"--to {tmp_path}/no/a.zip: No such file or directory."),
        ((script, "--to", tmp_path / "wrong.zip"), f"{script}:3: ERROR 1146 (42S02): Table 'shop.a' doesn't exist"),
    ):
        done = command("pack", *words, "-f", "canal-json")
        assert done.status in (1, 2)
        assert sentence in done.err, done.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("language", READERS)
def test_readers_are_short_and_printed(command: Command, language: str) -> None:
    text = (SOURCES / READERS[language]).read_text("utf-8")
    assert command("pack", "--reader", language, status=0).out == text
    assert text.count("\n") <= 150


# ------------------------------------------------------------------------------------------------------ other languages


def ran(*words: str | Path, folder: Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """The status and the output of a program."""
    done = subprocess.run(
        list(map(str, words)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=900, check=False, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    return done.returncode, done.stdout


def compiled(folder: Path, *programs: str, path: str = "") -> str:
    """The class path of these programs and Java's reader."""
    javac = native("fetching").java_tool("javac", wanted_by="a test of Java's reader")
    names = [SOURCES / READERS["java"], *(HERE / program for program in programs)]
    status, output = ran(javac, "-Xlint:all", "-Werror", "-cp", path, "-d", folder / "classes", *names, folder=folder)
    assert not status, output
    return os.pathsep.join(filter(None, [str(folder / "classes"), path]))


@pytest.mark.jvm
def test_java_reads_what_was_sent(command: Command, tmp_path: Path) -> None:
    script, path = tmp_path / "notes.sql", compiled(tmp_path, "Show.java")
    script.write_text(SCRIPT, "utf-8")
    java = native("fetching").java_tool("java", wanted_by="a test of Java's reader")
    for format in ("canal-json", "cloudcanal-debezium", "dts-avro"):
        file = tmp_path / f"{format}.zip"
        command("pack", script, "-f", format, "--to", file, status=0)
        status, output = ran(java, *JAVA, "-cp", path, "Show", file, folder=tmp_path)
        assert not status, output
        run = simulator.simulate(script, format)
        sent = [
            ["message", shown(each.key), shown(each.value), *(f"{name}={shown(value)}" for name, value in each.headers)]
            for each in run.messages
        ]
        cells = [
            f"{table} {column} {shown(None if value is None else value.encode())}"
            for table, rows in run.expected.items()
            for row in rows
            for column, value in row.items()
        ]
        assert len(cells) == 6
        lines = [line.split() if line.startswith("message ") else line for line in output.splitlines()]
        assert [[*line[:1], *line[5:]] if isinstance(line, list) else line for line in lines] == [*sent, *cells]


def shown(value: bytes | None) -> str:
    return "null" if value is None else base64.b64encode(value).decode()


@pytest.mark.jvm
def test_junit_finds_a_bug(orders: Path, tmp_path: Path) -> None:
    """A consumer that takes the first row alone of a message of several."""
    (jar,) = JUNIT.folder().glob("*.jar")
    path = compiled(tmp_path, "Consumer.java", "PackTest.java", path=str(jar))
    java = native("fetching").java_tool("java", wanted_by="JUnit")
    for bug in ("false", "true"):
        options = (f"-Dpack={orders}", f"-Dbug={bug}", *JAVA)
        words = ("execute", "--select-class", "PackTest", "--disable-banner", "--details", "flat")
        status, output = ran(
            java, *options, "-cp", path, "org.junit.platform.console.ConsoleLauncher", *words, folder=tmp_path
        )
        assert status == (bug == "true"), output
        assert ("[         1 tests successful      ]" in output) == (bug == "false"), output
        assert bool(re.search(r"shop\.order_items, \d+ differences: \[order_id=\d+, line=\d+ is missing", output)) == (
            bug == "true"
        )


def go() -> str:
    """The path of Go 1.23 or newer. The README does not name it as needed, so a machine without it skips the test in
    words; CDCSIM_GO=required makes that a failure, as where Go was set up for it."""
    path = shutil.which("go")
    version = re.search(r"go1\.(\d+)", ran(path, "env", "GOVERSION", folder=HERE)[1]) if path else None
    if path and version and int(version[1]) >= 23:
        return path
    reason = f"Go's reader is not tested: this machine has {'an older Go than 1.23' if path else 'no Go'}"
    if os.environ.get("CDCSIM_GO") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def test_go_finds_a_bug(orders: Path, tmp_path: Path) -> None:
    """The same one, with the standard library alone: nothing is fetched."""
    program, folder = go(), tmp_path / "module"
    folder.mkdir()
    (folder / "go.mod").write_text("module cdcsimpack\n\ngo 1.23\n")
    for source in (SOURCES / READERS["go"], HERE / "consumer.go", HERE / "pack_test.go"):
        shutil.copy(source, folder)
    alone = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off", "CGO_ENABLED": "0"}
    alone["GOCACHE"] = str(native("fetching").cache_folder() / "go-build")
    status, output = ran(program, "test", "-c", "-vet=off", "-o", "packtest", ".", folder=folder, environment=alone)
    assert not status, output
    assert ran(folder / "packtest", folder=folder, environment={"PACK": str(orders)}) == (0, "PASS\n")
    status, output = ran(folder / "packtest", folder=folder, environment={"PACK": str(orders), "BUG": "yes"})
    assert status == 1
    assert re.search(r'order_id="\d+" line="\d+" is missing', output), output
