"""Joins, groups, windows, programs, views, and the order in which rows are read: what `queries.sql` says of each script
was recorded from the tables and binary logs of real servers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from each import each

from simulator import sources
from simulator.sql.script import run, script_of
from simulator.stream.literal.transactions import RowChange

SERVERS: Final = {"5.7": "mysql-5.7", "8.0": "mysql-8.0", "10.11": "mariadb-10.11"}
HEAD, *PARTS = re.split(r"^-- @(?=rows |changed )", Path(__file__).with_name("queries.sql").read_text(), flags=re.M)
SCRIPTS: Final = [(*re.fullmatch(r"(\w+) ([^:]+): ([^\n]+)\n(.*)", part, re.S).groups(),) for part in PARTS]


@each(SCRIPTS)
def test_queries(kind: str, servers: str, wanted: str, body: str) -> None:
    for server in servers.split():
        outcome = run(script_of(HEAD + body, "s.sql"), sources.find(SERVERS[server]), force=True)
        assert outcome.errors == []
        found: list[Any]
        if kind == "rows":
            found = [row[1] for _, row in outcome.session.table("d", "t").scan()]
        else:
            entries = outcome.session.log.transactions[-1].entries
            found = [one.before[0] for one in entries if isinstance(one, RowChange) and one.before]
        assert found == json.loads(wanted), server


@each(
    [
        ("update a set n=0 where g='x' or g is null", True),
        ("update a set n=0 where g='x' or g is null order by id", False),
        ("update a set n=0 where g>'a'", False),
        ("update a set n=0 where n>0", False),
        ("update a set n=0 where id=1 or g='x' limit 1", False),
    ]
)
def test_an_order_that_hangs_on_statistics_is_warned_of(statement: str, warned: bool) -> None:
    outcome = run(script_of(f"{HEAD}{statement};", "s.sql"), sources.find("mysql-8.0"))
    assert bool(outcome.warnings) is warned
    assert all("in another order" in warning for warning in outcome.warnings)
