"""Numbers of rows in rows events (`source.row`), as Debezium's engine 3.6.3 on MySQL 8.0.31 wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from simulator.run.job import open_job
from simulator.run.plan import Limits

SCRIPT: Final = """
create database d; use d;
create table t(id int primary key, v varchar(3000), n int);
alter table t add w int;
insert into t values (1, repeat('a', 2900), 1, 0), (2, repeat('b', 2900), 2, 0), (3, repeat('c', 2900), 3, 0), (4, 'd', 4, 0);
alter table t drop w;
update t set n = n + 1;
truncate table t;
insert into t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', 4);
update t set id = if(id % 2, id + 100, id), n = 9;
rename table t to z, z to y;
flush logs;
create table x(a int);
drop table x;
"""  # noqa: E501
# Operations, "-" of other statements, and the number in each message.
NUMBERS: Final = (
    "- 0, - 0, - 0, c 0, c 1, c 0, c 1, - 1, u 0, u 0, u 0, u 1, t 1, c 0, c 1, c 2, c 3, "
    "d 0, c 0, u 1, d 2, c 2, u 3, - 3, - 3, - 0, - 0"
)


FORMAT: Final = "debezium-json,value.converter.schemas.enable=false,skipped.operations=none"


def numbers(folder: Path, text: str, source: str, options: str = "", start_at: int = 0) -> list[str]:
    (folder / "rows.sql").write_text(text, encoding="utf-8")
    job = open_job(str(folder / "rows.sql"), FORMAT + options, source=source)
    values = [json.loads(message.value) for message in job.messages(Limits(start_at=start_at)) if message.value]
    return [f"{value.get('op', '-')} {value['source']['row']}" for value in values]


def test_numbers(tmp_path: Path) -> None:
    """An event has 8192 bytes; halves of updates count with other updates; the next file begins with 0."""
    assert ", ".join(numbers(tmp_path, SCRIPT, "mysql-8.0")) == NUMBERS


@pytest.mark.parametrize("version", ["3.6", "2.5"])
def test_statements_keep_the_last_number(version: str, tmp_path: Path) -> None:
    assert (
        numbers(tmp_path, SCRIPT.replace("flush logs;", ""), "mariadb-10.11", f",version={version}")[-4:] == ["- 3"] * 4
    )


def test_a_run_that_begins_at_a_statement(tmp_path: Path) -> None:
    """The number of the rows before it, which this run does not send."""
    everything = numbers(tmp_path, SCRIPT, "mysql-8.0")
    for start in range(1, 12):
        part = numbers(tmp_path, SCRIPT, "mysql-8.0", start_at=start)
        assert part == everything[len(everything) - len(part) :]
