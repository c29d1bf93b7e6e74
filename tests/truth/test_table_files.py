"""A consumer's tables in the forms that writers of files have: a right table is right in each, others are named."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import simulator
from simulator.truth.verify.tables.comparer import TableVerdict, WrongRow

SCRIPT: Final = """
CREATE DATABASE shop; USE shop;
CREATE TABLE goods
  (id int PRIMARY KEY, name varchar(20), price decimal(10,2), ratio double, seen datetime(3), day date);
INSERT INTO goods VALUES (1, 'ann', 12.50, 0.41, '2024-05-01 10:00:00.250', '2024-02-29');
INSERT INTO goods VALUES (2, NULL, 7.00, 0.55, '2024-05-01 10:00:01.000', NULL);
INSERT INTO goods VALUES (3, 'dörte', 30, 0.07, '2024-05-01', '1999-12-31');
"""
ROWS: Final[list[dict[str, Any]]] = [
    dict(id="2", name=None, price="7.00", ratio="0.55", seen="2024-05-01 10:00:01.000", day=None),
    dict(id="1", name="ann", price="12.50", ratio="0.41", seen="2024-05-01 10:00:00.250", day="2024-02-29"),
    dict(id="3", name="dörte", price="30.00", ratio="0.07", seen="2024-05-01 00:00:00.000", day="1999-12-31"),
]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("script") / "goods.sql"
    path.write_text(SCRIPT)
    return path


def judged(script: Path, file: Path, content: bytes | None = None) -> TableVerdict:
    if content is not None:
        file.write_bytes(content)
    (verdict,) = simulator.verify_tables(script, file)
    return verdict


def as_csv(separator: str = ",", begin: str = "", end: str = "\n", **changes: Callable[[str], str]) -> bytes:
    output = io.StringIO()
    writer = csv.writer(output, delimiter=separator, lineterminator=end)
    writer.writerow(ROWS[0])
    writer.writerows(changed(**changes))
    return (begin + output.getvalue()).encode()


def changed(**changes: Callable[[str], str]) -> list[list[str | None]]:
    return [[v if v is None or n not in changes else changes[n](v) for n, v in row.items()] for row in ROWS]


def as_lines(**changes: Callable[[str], Any]) -> bytes:
    rows = [dict(zip(ROWS[0], row, strict=True)) for row in changed(**changes)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("goods.csv", as_csv()),
        ("goods.csv", as_csv(";")),
        ("goods.csv", as_csv("\t", end="\r\n")),
        ("goods.csv", as_csv("|", "\ufeff")),
        ("goods.csv", as_csv(id=lambda text: f"{text}.0", day=lambda text: f"{text} 00:00:00")),
        ("GOODS.csv", as_csv().replace(b"ratio", b"RATIO", 1)),
        ("goods.jsonl", as_lines(id=float, ratio=float, price=float)),
        ("goods.jsonl", as_lines(seen=lambda text: f"{text.replace(' ', 'T')}Z")),
        ("goods.jsonl", as_lines(seen=lambda text: f"{text}+00:00")),
        # Spark's writer leaves out members that are null
        ("goods.jsonl", as_lines().replace(b'"name": null, ', b"").replace(b', "day": null', b"")),
        ("goods.jsonl", as_lines() + b"\n"),
    ],
    ids=range(11),
)
def test_writers_of_text(name: str, content: bytes, script: Path, tmp_path: Path) -> None:
    verdict = judged(script, tmp_path / name, content)
    assert verdict.ok, str(verdict)


@pytest.fixture
def table() -> pa.Table:
    types = {"id": int, "price": Decimal, "ratio": float, "seen": datetime.fromisoformat, "day": date.fromisoformat}
    columns = zip(*changed(**types), strict=True)  # type: ignore[arg-type]
    return pa.table(dict(zip(ROWS[0], map(pa.array, columns), strict=True)))


@pytest.mark.parametrize(
    ("column", "type"),
    [
        ("id", pa.float64()),
        ("id", pa.decimal128(20, 0)),
        ("name", pa.binary()),
        ("price", pa.float64()),
        ("ratio", pa.decimal128(10, 4)),
        ("seen", pa.timestamp("ns", "UTC")),
        ("day", pa.timestamp("us")),
    ],
)
def test_types_of_parquet(column: str, type: pa.DataType, table: pa.Table, script: Path, tmp_path: Path) -> None:
    position = table.schema.get_field_index(column)
    parquet.write_table(table.set_column(position, column, table[column].cast(type)), tmp_path / "goods.parquet")
    verdict = judged(script, tmp_path / "goods.parquet")
    assert verdict.ok, str(verdict)


def test_files_of_parquet_with_different_columns(table: pa.Table, script: Path, tmp_path: Path) -> None:
    """A consumer has added a column and widened another, so its first file has fewer."""
    folder = tmp_path / "goods"
    folder.mkdir()
    narrow = table.slice(0, 1).drop(["name", "day"])
    parquet.write_table(narrow.set_column(0, "id", narrow["id"].cast(pa.int32())), folder / "1.parquet")
    parquet.write_table(table.slice(1), folder / "2.parquet")
    assert judged(script, folder).ok


def test_a_file_without_rows_has_all_columns(script: Path, tmp_path: Path) -> None:
    verdict = judged(script, tmp_path / "goods.jsonl", b"")
    assert verdict.counts == {WrongRow.MISSING: 3}


def test_all_rows_twice_are_a_verdict(tmp_path: Path) -> None:
    """They are no other run's."""
    small = {"tables.users.rows": 100}
    run = simulator.simulate("crud", "canal-json", limit=100, snapshot=True, settings=small)
    (rows,) = run.expected.values()
    (tmp_path / "users.jsonl").write_text("".join(f"{json.dumps(row, default=str)}\n" for row in rows) * 2)
    (verdict,) = simulator.verify_tables("crud", tmp_path / "users.jsonl", at=100, settings=small)
    assert verdict.counts == {WrongRow.REPEATED: len(rows)}
    assert "a change that came again may have been added again" in str(verdict)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("goods.csv", as_csv().replace(b"ratio", b"name", 1), "several of its columns may be 'name' of shop.goods"),
        ("goods.csv", as_csv().partition(b"\n")[2], "it has no column 'id' of shop.goods; it has '2, , 7.00, 0.55, "),
        ("goods.csv", as_csv().decode().encode("latin-1"), "it is not UTF-8"),
        ("goods.csv", gzip.compress(as_csv(), mtime=0), "it is compressed with gzip: decompress it first"),
        ("goods.jsonl", gzip.compress(as_lines(), mtime=0), "it is compressed with gzip: decompress it first"),
        ("goods.jsonl", as_lines()[:-9], "goods.jsonl:3: no JSON"),
    ],
    ids=range(6),
)
def test_files_that_are_no_table(name: str, content: bytes, words: str, script: Path, tmp_path: Path) -> None:
    with pytest.raises(simulator.SimulatorError) as error:
        judged(script, tmp_path / name, content)
    assert words in str(error.value)


def test_a_folder_without_a_file_of_a_table(script: Path, tmp_path: Path) -> None:
    with pytest.raises(
        simulator.UsageError, match=r"it has no file of shop\.goods: say which table it is, as in goods="
    ):
        simulator.verify_tables(script, tmp_path)
