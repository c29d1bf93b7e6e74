"""Statements of each kind that applications, migrations and dumps have: the embedded engine does what real servers do,
or refuses. `constructs.sql` has them; what a server of another kind does not know is an error on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from test_random_servers import SEEDS, check_against_server

from simulator import sources
from simulator.sql.script import run, script_of

TEXT: Final = Path(__file__).with_name("constructs.sql").read_text(encoding="utf-8")
REFUSED: Final = 117  # of the statements, by the embedded engine as MySQL 8.0


def test_refusals() -> None:
    """Each has the hint, and none has words of the evaluator."""
    errors = run(script_of(TEXT, "s.sql"), sources.find("mysql-8.0"), force=True).errors
    refused = [error for error in errors if not re.match(r"s\.sql:\d+: ERROR \d+ \(", error)]
    assert all(error.endswith(" runs it on a real server.") for error in refused)
    assert not [error for error in refused if "Error" in error or ": this statement" in error]
    assert len(refused) == REFUSED, "\n".join(refused)


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", SEEDS)
def test_server_and_memory(source: str, servers: Callable[[str], str]) -> None:
    # a client of MariaDB's tests is known by its address, which shows in what is logged of views and routines
    user = "-- @user root@127.0.0.1\n" if source.startswith("mariadb") else ""
    check_against_server(user + TEXT, source, servers)
