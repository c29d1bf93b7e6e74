"""Random scripts on real servers and on rows in memory: the same messages, or the embedded engine refused.

What it refuses is taken out of the script before both run it. Where it warns that a server may choose another order of
rows, their order is not compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from random_sql import script

from simulator import sources
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.sql.script import script_of

# One run of so many scripts; a server has a third of all 201.
SCRIPTS: Final = 67
SEEDS: Final = {"mysql-8.0": 0, "mysql-5.7": SCRIPTS, "mariadb-10.11": 2 * SCRIPTS}
_ERROR: Final = re.compile(r"random\.sql:(\d+): (ERROR \d+ \()?")

Message = dict[str, Any]


def outcome(text: str, source: str, engine: str) -> tuple[list[Message], dict[int, bool], bool]:
    """Messages without what is of the run, the lines that failed and whether the server's way, and whether there were
    warnings."""
    job = Job(replace(script_of(text, "random.sql"), engine=engine), sources.find(source), "canal-json", force=True)
    messages = [json.loads(message.value or b"") for message in job.messages(Limits())]
    for message in messages:
        for name in ("id", "es", "ts", "gtid"):
            message.pop(name, None)
    found = [match for match in map(_ERROR.match, job.stream.errors) if match]
    assert len(found) == len(job.stream.errors), job.stream.errors
    return messages, {int(match[1]): match[2] is not None for match in found}, bool(job.stream.warnings)


def unordered(message: Message) -> Message:
    rows = zip(message["data"] or [], message["old"] or [None] * 999, strict=False)
    return {**message, "data": sorted(map(json.dumps, rows)), "old": None}


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", SEEDS)
def test_server_and_memory(source: str, servers: Callable[[str], str]) -> None:
    text = "".join(script(seed, database=f"d{seed}") for seed in range(SEEDS[source], SEEDS[source] + SCRIPTS))
    assert check_against_server(text, source, servers) > 10 * SCRIPTS


def check_against_server(text: str, source: str, servers: Callable[[str], str]) -> int:
    """Run a script in memory and on a server; returns the number of messages."""
    while True:
        ours, failed, warned = outcome(text, source, "")
        lines = text.split("\n")
        if all(failed.values()):
            break
        # what was refused may have been the table of other statements
        text = "\n".join("-- refused" if failed.get(i) is False else line for i, line in enumerate(lines, 1))
    theirs, wanted, _ = outcome(text, source, servers(source))
    different = sorted(failed.keys() ^ wanted.keys())
    assert not different, [f"{i}: {lines[i - 1]}" for i in different]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == other or (warned and unordered(mine) == unordered(other))
    return len(ours)
