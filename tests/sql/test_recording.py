"""Recordings: a script's history in a file gives the messages and rows of the script."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from command import Command

from simulator.model import Table
from simulator.run.scenario import load, open_stream
from simulator.stream.engine.block import Stream

SCRIPT: Final = """CREATE DATABASE shop; USE shop; SET sql_mode = '';
CREATE TABLE orders (id int AUTO_INCREMENT PRIMARY KEY, state varchar(10) charset latin1, total decimal(30,12), j json,
 b longblob, g point, t time(3), s set('a','b'), e enum('x','y'), bi bit(9), y year, f double, r float, d date,
 dt datetime(6), ts timestamp null, u bigint unsigned, z int(5) zerofill, UNIQUE KEY un (u));
INSERT INTO orders (state, total, j, b, g, t, s, e, bi, y, f, r, d, dt, ts, u, z) VALUES
 ('é', -123456789012345678.000000000001, '{"b":1.5,"a":"x"}', x'00ff', point(1,2), '-838:59:59', 'a,b', 'y', b'101',
 2024, -1e300, 1.5, '2024-00-00', '2024-02-29 23:59:59.999999', '2024-01-01 00:00:00', 18446744073709551615, 7),
 ('', 7, json_object('d', cast('2024-01-01' as date), 'e', cast(1.5 as decimal(4,2))), '', null, null, '', '',
 null, 0, -0e0, 0, '0000-00-00', 0, 0, 1, null);
-- @snapshot
-- @step pay
UPDATE orders SET state = 'paid', j = json_set(coalesce(j, '{}'), '$.t', cast('10:11:12.5' as time(1)));
ALTER TABLE orders ADD COLUMN n int NOT NULL DEFAULT 5, MODIFY total decimal(31,12);
SET binlog_row_image = MINIMAL; SET binlog_rows_query_log_events = 1; SET NAMES utf8mb4;
UPDATE orders SET n = 6 WHERE id = 2;
SET binlog_row_image = FULL;
-- @heartbeat
CREATE TABLE copy LIKE orders; INSERT INTO copy SELECT * FROM orders; ALTER TABLE copy DROP COLUMN b;
RENAME TABLE copy TO moved;
DELETE FROM orders WHERE id = 2; TRUNCATE moved; INSERT INTO orders (state) VALUES ('z'); DROP TABLE moved;
"""


def rows(stream: Stream, turn: int) -> dict[Table, list[str]]:
    def texts(table: Table, columns: tuple[pa.Array, ...]) -> list[str]:
        of_columns = zip(columns, table.columns, strict=True)
        printed = [stream.source.format_values(array, column.type) for array, column in of_columns]
        return sorted(map(repr, zip(*printed, strict=True)))

    return {table: texts(table, columns) for table, columns in stream.rows_at(turn)}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "fixture.sql"
    file.write_text(SCRIPT)
    return file


@pytest.mark.parametrize("source", ["mysql-8.0", "mysql-5.7", "mariadb-10.11"])
def test_the_same_messages_and_rows(source: str, script: Path, command: Command) -> None:
    kept = script.with_suffix(".cdc")
    text = SCRIPT.replace("SET binlog_rows_query_log_events = 1;", "") if "maria" in source else SCRIPT
    script.write_text(text)
    done = command("record", str(script), "--source", source, "--to", str(kept))
    assert f"transactions of {source}" in done.err
    for format in ("canal-json,filter_query_dml=on", "dts-avro"):
        sent = command("run", str(script), "--source", source, "-f", format, "--envelope", "-q").out
        assert sent.count("\n") > 8
        assert command("run", str(kept), "-f", format, "--envelope", "-q").out == sent
    streams = [open_stream(*load(str(each), source if each is script else None)) for each in (script, kept)]
    turns = [stream.turns for stream in streams]
    assert turns[0] == turns[1]
    for turn in range((turns[0] or 0) + 1):
        assert rows(streams[0], turn) == rows(streams[1], turn)


def test_what_is_no_recording(script: Path, command: Command) -> None:
    kept, other = script.with_suffix(".cdc"), script.with_name("other.cdc")
    command("record", str(script), "--to", str(kept))
    for arguments, problem in (
        (("run", str(other), "-f", "canal-json"), "there is no recording"),
        (("run", str(kept), "-f", "canal-json", "--source", "mysql-5.7"), "was recorded on mysql-8.0; leave it out"),
        (("run", str(kept), "-f", "canal-json", "--sql-engine", "mysql://h"), "is a recording, so no server runs it"),
        (("record", str(kept), "--to", str(other)), "expected SCRIPT.sql, or a server's URL, and --to FILE.cdc"),
        (("record", str(script), "--to", "x.json"), "expected SCRIPT.sql, or a server's URL, and --to FILE.cdc"),
    ):
        assert problem in command(*arguments, status=2).err
    other.write_bytes(b"nothing")
    assert "is no recording" in command("check", str(other), status=2).err
    other.write_bytes(kept.read_bytes()[:-3000])
    assert "the recording is incomplete" in command("check", str(other), status=2).err
    with pa.ipc.new_stream(str(other), pa.schema([]).with_metadata({"cdcsim": '{"version": 1}'})):
        pass
    assert "the recording has version 1, not 2: record it again" in command("check", str(other), status=2).err
    script.write_text("CREATE DATABASE d; DROP TABLE d.t;")
    other.unlink()
    assert "ERROR 1051" in command("record", str(script), "--to", str(other), status=2).err
    assert not other.exists()
