"""The log of a server as a script runs: transactions and their GTIDs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from simulator.model import TransactionHeader
from simulator.sources.mysql.log import CHARSET, FIRST_THREAD, SQL_MODE
from simulator.stream.literal.transactions import Entry, Transaction


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The facts of a session that a server logs, as in `TransactionHeader`."""

    thread: int = FIRST_THREAD
    sql_mode: int = SQL_MODE
    charset: int = CHARSET
    database: str = ""
    xa: bool = False


@dataclass
class Log:
    """All committed transactions. `last` is the number of the server's last GTID; `executed` are GTIDs of other servers
    as ranges of numbers, or MariaDB's last GTID of each domain."""

    transactions: list[Transaction] = field(default_factory=list)
    last: int = 0
    executed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    ended_files: int = 0

    def commit(self, entries: list[Entry], ms: int, gtid: str, session: SessionFacts) -> None:
        """Append a transaction; each DDL statement is a transaction. `gtid` is the value of GTID_NEXT."""
        if gtid == "automatic":
            self.last, gtid = self.last + 1, ""
        elif ":" in gtid:
            gtid = self.execute(gtid)
        else:
            self.domains[gtid.partition("-")[0]] = gtid
        self.transactions.append(Transaction(tuple(entries), ms, header=self._header(gtid, session)))

    def execute(self, gtids: str) -> str:
        """Add GTIDs of one server: `uuid:7`, `uuid:1-5:7`. Returns them in the server's notation."""
        server, *ranges = gtids.lower().split(":")
        pairs = [(int(first), int(last or first)) for first, _, last in (numbers.partition("-") for numbers in ranges)]
        self.executed[server] = _merged([*self.executed.get(server, ()), *pairs])
        return f"{server}:{_ranges(pairs)}"

    def heartbeat(self, ms: int) -> None:
        self.transactions.append(Transaction((), ms, heartbeat=True, header=self._header("", SessionFacts())))

    def _header(self, gtid: str, session: SessionFacts) -> TransactionHeader:
        other_gtids = "".join(f",{server}:{_ranges(numbers)}" for server, numbers in sorted(self.executed.items()))
        other_gtids += "".join(f",{last}" for _, last in sorted(self.domains.items()))
        return TransactionHeader(self.last, other_gtids, gtid, **asdict(session), ended_files=self.ended_files)


def _merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted ranges; adjacent ranges are merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and merged[-1][1] + 1 >= first:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return merged


def _ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """`1-3:7` for 1, 2, 3 and 7."""
    return ":".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
