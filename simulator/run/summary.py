"""Summary of a run: its counts, rates and faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from simulator.run.pacing import Unit
from simulator.sinks.ledger import Place

# Maximum faults that a summary and a record list; further ones are only counted.
MOST_OCCURRENCES = 100_000


@dataclass
class Summary:
    """Results of a run. `changes` counts the row changes of the turns from `first_turn` up to `next_turn`, before
    splitting; `messages` counts the messages sent for them; `delivered` and `failed` are the sink's counts of these.
    The rates are row changes, messages or bytes a second (`rate_unit`): the average that the pace asked for, and the
    reached one. `repeated` counts messages that were sent again, in all parts of a resumed run, since an ended part or
    a broken connection left open whether they had arrived; `repeated_in` has them by topic and partition. `ddl` counts
    the statements that occurred, `ddl_not_sent` those of them that the product did not send. `faults` counts those that
    occurred by name, `occurrences` has each of them."""

    first_turn: int = 0
    next_turn: int = 0
    changes: int = 0
    snapshot_rows: int = 0
    ddl: int = 0
    ddl_not_sent: int = 0
    heartbeats: int = 0
    messages: int = 0
    delivered: int = 0
    failed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    rate_unit: Unit = "changes"
    rate_wanted: float = 0.0
    rate_reached: float = 0.0
    repeated: int = 0
    repeated_in: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False
    topics: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    occurrences: list[dict[str, Any]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """All members; a run without faults has none about them."""
        members = asdict(self)
        if not self.faults:
            del members["faults"], members["occurrences"]
        return members

    def add_faults(self, counts: Mapping[str, int], occurrences: Sequence[dict[str, Any]]) -> None:
        """Counts faults that occurred; the first `MOST_OCCURRENCES` are kept."""
        for name, count in counts.items():
            self.faults[name] = self.faults.get(name, 0) + count
        self.occurrences += occurrences[: MOST_OCCURRENCES - len(self.occurrences)]

    def count_repeated(self, counts: Counter[Place]) -> None:
        """Sets the counts of messages that were sent again."""
        self.repeated = counts.total()
        self.repeated_in = [
            {"topic": topic, "partition": partition, "messages": count}
            for (topic, partition), count in sorted(counts.items())
            if count
        ]
