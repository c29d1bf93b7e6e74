"""What a server writes to its log as a script runs: transactions, and the GTIDs that they have."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.model import ExecutedGtids
from simulator.stream.literal.transactions import Entry, Transaction


@dataclass
class Log:
    """All that was committed. `last` is the number of the server's last GTID; `executed` are GTIDs of other servers."""

    transactions: list[Transaction] = field(default_factory=list)
    last: int = 0
    executed: dict[str, set[int]] = field(default_factory=dict)

    def commit(self, entries: list[Entry], ms: int, gtid: str = "automatic") -> None:
        """A transaction; each DDL statement is one of its own. `gtid` is what SET GTID_NEXT said."""
        if gtid == "automatic":
            self.last, gtid = self.last + 1, ""
        else:
            server, _, number = gtid.rpartition(":")
            gtid = f"{server.lower()}:{int(number)}"
            self.executed.setdefault(server.lower(), set()).add(int(number))
        self.transactions.append(Transaction(tuple(entries), ms, executed=self._executed(gtid)))

    def heartbeat(self, ms: int) -> None:
        self.transactions.append(Transaction((), ms, heartbeat=True, executed=self._executed()))

    def _executed(self, gtid: str = "") -> ExecutedGtids:
        others = "".join(f",{server}:{_intervals(numbers)}" for server, numbers in sorted(self.executed.items()))
        return ExecutedGtids(self.last, others, gtid)


def _intervals(numbers: set[int]) -> str:
    """`1-3:7` for 1, 2, 3 and 7."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ":".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)
