"""What a server writes to its log as a script runs: transactions, and the GTIDs that they have."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field

from simulator.model import TransactionHeader
from simulator.sources.mysql.log import CHARSET, FIRST_THREAD, SQL_MODE
from simulator.stream.literal.transactions import Entry, Transaction


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a server logs of the session, as in `TransactionHeader`."""

    thread: int = FIRST_THREAD
    sql_mode: int = SQL_MODE
    charset: int = CHARSET
    database: str = ""


@dataclass
class Log:
    """All that was committed. `last` is the number of the server's last GTID; `executed` are GTIDs of other servers."""

    transactions: list[Transaction] = field(default_factory=list)
    last: int = 0
    executed: dict[str, set[int]] = field(default_factory=dict)

    def commit(self, entries: list[Entry], ms: int, gtid: str, session: SessionFacts) -> None:
        """A transaction; each DDL statement is one of its own. `gtid` is what SET GTID_NEXT said."""
        if gtid == "automatic":
            self.last, gtid = self.last + 1, ""
        else:
            server, _, number = gtid.rpartition(":")
            gtid = f"{server.lower()}:{int(number)}"
            self.executed.setdefault(server.lower(), set()).add(int(number))
        self.transactions.append(Transaction(tuple(entries), ms, header=self._header(gtid, session)))

    def heartbeat(self, ms: int) -> None:
        self.transactions.append(Transaction((), ms, heartbeat=True, header=self._header("", SessionFacts())))

    def _header(self, gtid: str, session: SessionFacts) -> TransactionHeader:
        others = "".join(f",{server}:{_intervals(numbers)}" for server, numbers in sorted(self.executed.items()))
        return TransactionHeader(self.last, others, gtid, *astuple(session))


def _intervals(numbers: set[int]) -> str:
    """`1-3:7` for 1, 2, 3 and 7."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ":".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)
