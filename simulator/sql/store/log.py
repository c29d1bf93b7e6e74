"""What a server writes to its log as a script runs: transactions of row changes, DDL statements and logged texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulator.model import Kind, SchemaChangeKind, StatementKind, Table

Row = tuple[Any, ...]
# Places of the columns that an image holds; None: all of them.
Places = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row as it was and is, as stored. `run` is equal for neighbours that a rows event may hold together."""

    table: Table
    kind: Kind
    before: Row | None
    after: Row | None
    run: int
    ms: int
    logged_before: Places = None
    logged_after: Places = None


@dataclass(frozen=True, slots=True)
class Ddl:
    """A DDL statement as logged; the first table that it is about, as it was and is."""

    kind: SchemaChangeKind
    database: str
    before: Table | None
    after: Table | None
    sql: str
    ms: int


@dataclass(frozen=True, slots=True)
class Text:
    """A statement, or what goes before one, logged as text."""

    kind: StatementKind
    database: str
    table: str
    sql: str
    ms: int


Entry = RowChange | Ddl | Text


@dataclass(frozen=True, slots=True)
class Transaction:
    """A turn of the script: entries that were committed together; none of them is a heartbeat.

    `own` and `foreign` are the executed GTIDs with this transaction: how many of the server's own, and the sets of
    others, as `,uuid:1-3`.
    """

    entries: tuple[Entry, ...]
    ms: int
    own: int = 0
    foreign: str = ""


@dataclass
class Log:
    """All that was committed. `runs` counts the runs of rows; `executed` are GTIDs of other servers."""

    transactions: list[Transaction] = field(default_factory=list)
    own: int = 0
    executed: dict[str, set[int]] = field(default_factory=dict)

    def commit(self, entries: list[Entry], ms: int, gtid: str = "automatic") -> None:
        """A transaction; each DDL statement is one of its own. `gtid` is what SET GTID_NEXT said."""
        if gtid == "automatic":
            self.own += 1
        else:
            server, _, number = gtid.rpartition(":")
            self.executed.setdefault(server.lower(), set()).add(int(number))
        self.transactions.append(Transaction(tuple(entries), ms, self.own, self.foreign()))

    def heartbeat(self, ms: int) -> None:
        self.transactions.append(Transaction((), ms, self.own, self.foreign()))

    def foreign(self) -> str:
        return "".join(f",{server}:{_intervals(numbers)}" for server, numbers in sorted(self.executed.items()))


def _intervals(numbers: set[int]) -> str:
    """`1-3:7` for 1, 2, 3 and 7."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ":".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)
