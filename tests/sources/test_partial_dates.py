"""MySQL's dates that no calendar has: how values, columns and rows of them print, and that no other system has them."""

from __future__ import annotations

import datetime as dt
import pickle
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from each import each

import simulator
from simulator.carriers import as_integers, storage
from simulator.partial_dates import (
    DATE,
    DATETIME,
    ZERO_DAY,
    ZERO_US,
    Partial,
    joined_us,
    partial_day,
    partial_us,
    split_all,
    split_us,
)
from simulator.sources import find
from simulator.truth.verify.tables.cells import hashes

MYSQL: Final = find("mysql")

# type, literals, values as Python's, the column as it prints
COLUMNS: Final = [
    (
        "date",
        ["0000-00-00", "2020-00-15", "2024-02-29", "0001-01-01", None],
        ["0000-00-00", "2020-00-15", dt.date(2024, 2, 29), dt.date(1, 1, 1), None],
        "<partial_dates[date32[day]]: 0000-00-00, 2020-00-15, 2024-02-29, 0001-01-01, None>",
    ),
    (
        "datetime(3)",
        ["2020-01-00 01:02:03.5", "2024-02-29 12:00:00"],
        ["2020-01-00 01:02:03.500000", dt.datetime(2024, 2, 29, 12)],  # noqa: DTZ001 (a column without a zone)
        "<partial_dates[timestamp[us]]: 2020-01-00 01:02:03.500000, 2024-02-29 12:00:00>",
    ),
    (
        "timestamp",
        ["0000-00-00 00:00:00"],
        ["0000-00-00 00:00:00.000000"],
        "<partial_dates[timestamp[us]]: 0000-00-00 00:00:00.000000>",
    ),
]


@each(COLUMNS)
def test_columns_print_as_dates(typed: str, literals: list[str | None], values: list[Any], printed: str) -> None:
    array = MYSQL.parse_values(literals, MYSQL.parse_type(typed))
    assert array.to_pylist() == values
    assert repr(array) == str(array) == printed
    assert str(array[0]) == str(values[0])
    assert pickle.loads(pickle.dumps(array)).equals(array)
    assert (hashes([array]) == hashes([storage(array)])).all()
    # the column is one of the calendar in memory: nothing is copied
    assert storage(array).buffers()[1].address == array.buffers()[1].address


@each(
    [
        (partial_day(2020, 0, 0), "2020-00-00"),
        (partial_day(2021, 2, 31), "2021-02-31"),
        (partial_us(2020, 0, 15, 3_500_000), "2020-00-15 00:00:03.500000"),
        (joined_us(ZERO_DAY, 1), "0000-00-00 00:00:00.000001"),
        (split_us(ZERO_US)[0], "0000-00-00"),
    ]
)
def test_numbers_print_as_dates(number: Partial, printed: str) -> None:
    assert repr([number]) == f"[{printed}]"
    assert f"{number}" == printed
    assert number == int(number)


def test_dates_of_a_column_that_becomes_one_of_dates_and_times() -> None:
    dates = MYSQL.parse_values(["2024-02-29", None], MYSQL.parse_type("date"))
    assert (
        str(MYSQL.stored(dates, MYSQL.parse_type("datetime")))
        == "<partial_dates[timestamp[us]]: 2024-02-29 00:00:00, None>"
    )


def test_a_date_before_christ_is_none_of_them() -> None:
    early = find("postgresql").parse_values(["0044-03-15 BC"], find("postgresql").parse_type("date"))
    assert early.type == pa.date32() != DATE
    assert str(early[0].cast(pa.string())) == "-0043-03-15"


def test_columns_are_split_as_single_numbers_are() -> None:
    array = MYSQL.parse_values(
        ["0000-00-00 00:00:01", "2020-00-15 23:59:59", "9999-12-31 00:00:00"], MYSQL.parse_type("datetime")
    )
    assert array.type == DATETIME
    us = np.asarray(as_integers(array))
    assert list(zip(*(column.tolist() for column in split_all(us)), strict=True)) == [split_us(int(n)) for n in us]


def test_rows_with_types_have_them_as_the_drivers_of_mysql_do(tmp_path: Path) -> None:
    script = tmp_path / "zero.sql"
    script.write_text(
        "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, d DATE, m DATETIME);\n"
        "SET sql_mode = ''; INSERT INTO t VALUES (1, '2020-00-15', '0000-00-00'), (2, '2024-02-29', NULL);\n"
    )
    run = simulator.simulate(script, "canal-json", typed=True)
    assert run.expected["d.t"] == [
        {"id": 1, "d": "2020-00-15", "m": "0000-00-00 00:00:00.000000"},
        {"id": 2, "d": dt.date(2024, 2, 29), "m": None},
    ]
