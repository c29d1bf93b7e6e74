"""Wild random scripts: none fails within, every refusal is a sentence, and the messages replay to the tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

import pytest
from random_sql import script

from simulator import sources
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.sql.script import script_of

SENTENCE: Final = re.compile(
    r"random\.sql:\d+: (ERROR \d{4} \([0-9A-Z]{5}\): .+: (['\"]).*\2"
    r"|.+ is not supported by the embedded engine: .+; --sql-engine .+\.)",
    re.DOTALL,
)
_COLUMN: Final = re.compile(r"alter table (\w+) (add|drop) (?:column )?(?!unique |index )(\w+)")

Row = tuple[tuple[str, str | None], ...]


class Replay:
    """Tables as bags of rows, which messages fill: it knows the script's own DDL and believes nothing else."""

    def __init__(self) -> None:
        self.tables: dict[str, Counter[Row]] = {}

    def message(self, message: dict[str, Any]) -> None:
        table = self.tables.setdefault(message["table"], Counter())
        if message["isDdl"]:
            self.ddl(message, table)
            return
        rows = message["data"]
        olds = message["old"] or [{}] * len(rows)
        assert list(message["mysqlType"]) == list(message["sqlType"]) == list(rows[0])
        for row, old in zip(rows, olds, strict=True):
            if message["type"] in ("UPDATE", "DELETE"):
                before = tuple((row | old).items())
                assert table[before] > 0, f"{before} is not in {message['table']}"
                table[before] -= 1
            if message["type"] in ("UPDATE", "INSERT"):
                table[tuple(row.items())] += 1

    def ddl(self, message: dict[str, Any], table: Counter[Row]) -> None:
        if message["type"] == "TRUNCATE":
            table.clear()
        elif found := _COLUMN.match(message["sql"]):
            _, way, name = found.groups()
            # a new column without a default is null; one that is not null there fails the comparison of values below
            changed: Counter[Row] = Counter()
            for row, count in table.items():
                kept = tuple(cell for cell in row if cell[0] != name)
                changed[(*kept, (name, None)) if way == "add" else kept] += count
            self.tables[message["table"]] = changed


SOURCES: Final = ("mysql-8.0", "mysql-5.7", "mariadb-10.11")


@pytest.mark.parametrize("source", SOURCES)
def test_random_scripts(source: str) -> None:
    """Each source has scripts of its own."""
    for seed in range(SOURCES.index(source), 45, len(SOURCES)):
        _check(script(seed, wild=True), source)


def _check(text: str, source: str) -> None:
    job = Job(script_of(text, "random.sql"), sources.find(source), "canal-json,filter_query_dml=on", force=True)
    stream, codec = job.stream, job.codec
    assert stream.failure is None
    for problem in stream.errors:
        assert SENTENCE.fullmatch(problem), problem
    messages = [json.loads(message.value or b"") for message in job.messages(Limits())]
    replay = Replay()
    for message in messages:
        replay.message(message)
    for table, columns in stream.rows_at(stream.turns):
        texts = [
            codec.layout.writer.text(column, array).to_pylist()
            for column, array in zip(table.columns, columns, strict=True)
        ]
        names = [column.name for column in table.columns]
        rows = Counter(tuple(zip(names, values, strict=True)) for values in zip(*texts, strict=True))
        assert +replay.tables.get(table.id.name, Counter()) == rows
