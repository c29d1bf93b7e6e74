"""`cdcsim expected`: the rows that a consumer must hold, computed without a replay, are those that a consumer gets."""

from __future__ import annotations

import csv
import errno
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import yaml
from command import Command
from random_scenarios import shrunk

import simulator

# It has values as the database's client prints them.
FORMAT = "dts-canal-json,frac=pad,timestamp_zone=UTC"
Rows = dict[str, dict[tuple[str, ...], dict[str, str | None]]]


def consumed(scenario: str, **options: Any) -> tuple[Rows, int]:
    """A consumer: the rows that it holds at the end, by table and key, and the turn after the last."""
    held: Rows = {}
    turn = 0
    for message in simulator.messages(scenario, FORMAT, snapshot=True, **options):
        turn = max(turn, message.order.turn * message.order.phase)
        value = json.loads(message.value or b"")
        if value["isDdl"]:
            if "`channel`" in value["sql"] or " channel " in value["sql"]:  # of rows that are there already
                for row in held["orders"].values():
                    row["channel"] = "web"
            continue
        rows = held.setdefault(value["table"], {})
        (row,) = value["data"]
        if value["type"] in ("UPDATE", "DELETE"):
            (old,) = value.get("old", value["data"])
            del rows[tuple(old[name] for name in value["pkNames"])]
        if value["type"] != "DELETE":
            rows[tuple(row[name] for name in value["pkNames"])] = row
    return held, turn + 1


def written(folder: Path, form: str) -> Rows:
    """The files' rows by table and key, as texts."""
    held: Rows = {}
    for table in json.loads((folder / "tables.json").read_bytes())["tables"]:
        path = folder / table["file"]
        if form == "csv":
            with path.open(newline="", encoding="utf-8") as file:
                rows: Any = list(csv.DictReader(file))
        else:
            rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert len(rows) == table["rows"]
        if rows:
            held[table["table"].rpartition(".")[2]] = {tuple(row[name] for name in table["key"]): row for row in rows}
    return held


@pytest.mark.parametrize("start", [0, 19_500])
def test_a_consumer_holds_these_rows(command: Command, tmp_path: Path, start: int) -> None:
    """Also behind a new column."""
    file = tmp_path / "orders.yaml"
    file.write_text(yaml.safe_dump(shrunk("orders", rows=300), sort_keys=False))
    scenario = str(file)
    held, turn = consumed(scenario, limit=1500, start_at=start)
    command("expected", scenario, "--at", str(turn), "--to", tmp_path / "rows", "--as", "jsonl", status=0)
    assert written(tmp_path / "rows", "jsonl") == held


SCRIPT = """create database shop; use shop;
create table t (id bigint unsigned primary key, price decimal(20,4), data varbinary(8), note text);
create table unused (id int primary key);
insert into t values (18446744073709551615, 12.5, x'00ff', ''), (2, null, null, null), (3, 1, x'', 'x');
update t set price = 0.0001 where id = 2;
delete from t where id = 3;
"""


def test_values_survive(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT)
    command("expected", script, "--to", tmp_path / "typed", status=0)
    rows = parquet.read_table(tmp_path / "typed" / "shop.t.parquet")
    assert rows.schema.types == [pa.uint64(), pa.decimal128(20, 4), pa.binary(), pa.string()]
    assert [list(map(str, row.values())) for row in rows.to_pylist()] == [
        ["2", "0.0001", "None", "None"],
        ["18446744073709551615", "12.5000", "b'\\x00\\xff'", ""],
    ]
    assert parquet.read_table(tmp_path / "typed" / "shop.unused.parquet").num_rows == 0
    command("expected", script, "--to", tmp_path / "texts", "--as", "csv", status=0)
    lines = (tmp_path / "texts" / "shop.t.csv").read_text().splitlines()
    assert lines[0] == '"id","price","data","note"'
    assert lines[1] == '"2","0.0001",,'
    assert lines[2].endswith(',""')


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["orders"], "orders.yaml has no end: name a turn, as in --at 100000 (a run's summary names one)."),
        (["tour", "--at", "1000"], "--at 1000: "),
        (["orders", "--at", str(10**30)], "is not a number from 0 to"),
    ],
)
def test_a_wrong_turn(command: Command, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = command("expected", *arguments, "--to", tmp_path / "rows", status=2)
    assert sentence in done.err
    assert not (tmp_path / "rows").exists()


def test_nothing_is_overwritten(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    done = command("expected", "tour", "--to", tmp_path, status=1)
    assert f"--to {tmp_path}: the folder is not empty." in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_full_disk_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    def full(writer: parquet.ParquetWriter, rows: pa.Table) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write", full)
    folder = tmp_path / "rows"
    done = command("expected", "crud", "--at", "100", "--to", str(folder), status=1)
    assert done.err == f"cdcsim: --to {folder}: the rows cannot be written: No space left on device.\n"
    assert not folder.exists()


def test_a_run_names_the_command(command: Command, tmp_path: Path) -> None:
    run = ("run", "orders", "-f", "canal-json", "--limit", "5")
    done = command(*run, "--snapshot", "--to", f"file:{tmp_path}", status=0)
    assert "rows that a consumer must hold now: cdcsim expected orders --at " in done.err
    assert "expected" not in command(*run, status=0).err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["canal-json", "--snapshot"], True),
        (["canal-json", "--no-snapshot"], False),  # the script finds rows, which nothing has sent
        (["drs-json", "--snapshot", "--source", "postgresql"], False),
    ],
)
def test_no_consumer_holds_rows_that_were_not_sent(command: Command, arguments: list[str], named: bool) -> None:
    assert ("must hold now: cdcsim expected tour" in command("run", "tour", "-f", *arguments, status=0).err) is named


FINE = """create database shop; use shop;
create table t (id int primary key, seen timestamp(6), size double, place point);
insert into t values (1, '2024-05-01 10:00:00.123456', 1.2345678901234567, st_geomfromtext('point(1 2)', 4326));
"""
WHOLE = {
    "seen": "2024-05-01 10:00:00.123456",
    "size": "1.2345678901234567",
    "place": "SRID=4326;POINT(2 1)",
}
# What of these values is not in messages of a format.
KNOWN: dict[str, dict[str, str]] = {
    "drs-json": {},
    "drs-json-c": {"seen": "2024-05-01 10:00:00.000000"},
    "drs-avro": {"seen": "2024-05-01 10:00:00.123000"},
    "oms-default": {"size": "1.234567890123457"},
    "cloudcanal-json": {"place": "POINT(2 1)"},
    "cloudcanal-json,geometry_srid=keep": {},
    "dts-avro": {"place": "POINT(2 1)"},
}


@pytest.mark.parametrize("format", KNOWN)
def test_a_consumer_of_a_format_knows_no_more_than_its_messages_have(
    command: Command, tmp_path: Path, format: str
) -> None:
    script = tmp_path / "fine.sql"
    script.write_text(FINE)
    run = command("run", script, "-f", format, "--source", "mysql", "--envelope", status=0)
    named = f" -f {format}" if KNOWN[format] else ""
    assert f"--source mysql-8.0{named} --to DIR" in run.err
    command("expected", script, "-f", format, "--as", "jsonl", "--to", tmp_path / "rows", status=0)
    (row,) = [json.loads(line) for line in (tmp_path / "rows" / "shop.t.jsonl").read_bytes().splitlines()]
    assert row == {"id": "1", **WHOLE, **KNOWN[format]}
    assert json.loads((tmp_path / "rows" / "tables.json").read_bytes())["format"] == format


def test_tables_and_columns_that_are_not_sent_are_not_expected(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "oms"
    run = command("run", "boundary", "-f", "oms-default", "--source", "oracle", "--snapshot", "--limit", "5", status=0)
    assert "cannot write BFILE: their tables change in the stream and are not sent." in run.err
    words = run.err.partition("must hold now: cdcsim ")[2].partition(" --to DIR")[0].split()
    command(*words, "--to", folder, status=0)
    files = {path.name for path in folder.iterdir()}
    assert "ORCL.BOUNDARY.TYPE_CLOB.parquet" in files
    assert "ORCL.BOUNDARY.TYPE_BFILE.parquet" not in files
    folder = tmp_path / "drs"
    command("expected", "boundary", "--at", "5", "--source", "oracle", "-f", "drs-json", "--to", folder, status=0)
    assert parquet.read_schema(folder / "ORCL.BOUNDARY.TYPE_CLOB.parquet").names == ["ID", "VERSION"]


def test_the_command_has_the_options_of_the_run(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "wrong.sql"
    script.write_text(
        "create database shop; use shop; create table t (id int primary key); insert into nothing values (1);"
    )
    run = command("run", script, "-f", "canal-json", "--force", "--sql-engine", "embedded", status=0)
    assert f"cdcsim expected {script} --at 2 --source mysql-8.0 --sql-engine embedded --force --to DIR" in run.err


@pytest.mark.parametrize("source", ["postgresql", "sqlserver"])
def test_no_rows_are_promised_where_no_snapshot_is_sent(command: Command, source: str) -> None:
    run = ("run", "orders", "-f", "drs-json", "--source", source, "--snapshot", "--limit", "5")
    done = command(*run, status=0)
    assert "snapshot rows are not sent by drs-json" in done.err
    assert "cdcsim expected" not in done.err


def test_the_summary_names_what_the_full_load_cuts(command: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "times.yaml"
    columns = {"id": {"type": "bigint", "values": "sequence"}, "seen": {"type": "datetime(6)"}}
    scenario.write_text(
        yaml.safe_dump({"source": "mysql", "tables": {"t": {"key": "id", "rows": 3, "columns": columns}}})
    )
    run = ("run", scenario, "-f", "cloudcanal-json", "--snapshot", "--start-at", "9", "--limit", "1")
    assert "snapshot rows of cloudcanal-json have less of shop.t.seen than the table" in command(*run, status=0).err
    run = ("run", scenario, "-f", "cloudcanal-json,full_datetime=log", "--snapshot", "--start-at", "9", "--limit", "1")
    assert "have less of" not in command(*run, status=0).err
