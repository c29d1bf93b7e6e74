"""Findings about messages, by kind: all are counted; the first of each kind are kept as examples."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from simulator.model import OrderKey

# Examples that a verdict keeps of each kind, by default.
EXAMPLES: Final = 5


class Wrong(enum.Enum):
    """Kinds of findings."""

    MISSING = "missing"
    DOUBLED = "doubled"
    REORDERED_IN_KEY = "reordered within a key"
    REORDERED = "reordered in its partition"
    ALTERED = "altered"
    WRONG_PARTITION = "in the wrong partition"
    FOREIGN = "foreign"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: its kind, the partition, the order key of the expected message (None for a foreign message), and a
    sentence for people. `count`: number of adjacent messages that it covers."""

    wrong: Wrong
    topic: str
    partition: int
    expected: OrderKey | None
    text: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}: {self.text}" if self.topic else self.text


@dataclass(slots=True)
class Verdict:
    """Result of comparing messages: counts of messages, counts of findings by kind, and examples.

    `redelivered` counts repeated messages in a run that ends where the stream continues, as products resend them after
    a restart. They are findings (doubled) unless at-least-once delivery is allowed. `allowed` counts the faults of the
    run, by name, that are no findings. `hint` is a cause that the findings share, in words.
    """

    expected: int = 0
    read: int = 0
    right: int = 0
    redelivered: int = 0
    counts: Counter[Wrong] = field(default_factory=Counter)
    examples: dict[Wrong, list[Finding]] = field(default_factory=dict)
    most_examples: int = EXAMPLES
    allowed: Counter[str] = field(default_factory=Counter)
    hint: str = ""

    def add(self, finding: Finding) -> None:
        self.counts[finding.wrong] += finding.count
        examples = self.examples.setdefault(finding.wrong, [])
        if len(examples) < self.most_examples:
            examples.append(finding)

    def wants(self, wrong: Wrong) -> bool:
        """Whether an example of this kind is kept."""
        return len(self.examples.get(wrong, ())) < self.most_examples

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.counts

    @property
    def findings(self) -> list[Finding]:
        """The examples of all kinds."""
        return [finding for wrong in Wrong for finding in self.examples.get(wrong, ())]

    def __str__(self) -> str:
        """The findings as lines: counts, then examples."""
        lines = [f"{self.right:,} of {self.expected:,} messages are right ({self.read:,} read)"]
        if self.redelivered:
            lines.append(f"{self.redelivered:,} redelivered: allowed, since the product delivers at least once")
        if self.allowed:
            names = ", ".join(f"{count:,} {name}" for name, count in self.allowed.items())
            lines.append(f"faults of the run that are allowed: {names}")
        for wrong in Wrong:
            if count := self.counts[wrong]:
                lines.append(f"{count:,} {wrong.value}")
                examples = self.examples.get(wrong, [])
                lines += [f"  {finding}" for finding in examples]
                if (more := count - sum(finding.count for finding in examples)) > 0:
                    lines.append(f"  … and {more:,} more")
        if self.hint:
            lines.append(self.hint)
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The findings as data, for programs."""
        return {
            "ok": self.ok,
            "expected": self.expected,
            "read": self.read,
            "right": self.right,
            "redelivered": self.redelivered,
            "allowed": dict(self.allowed),
            "hint": self.hint,
            "wrong": {wrong.value: count for wrong, count in self.counts.items()},
            "examples": [
                {
                    "kind": finding.wrong.value,
                    "topic": finding.topic,
                    "partition": finding.partition,
                    "expected": None if finding.expected is None else str(finding.expected),
                    "text": finding.text,
                    "count": finding.count,
                }
                for finding in self.findings
            ],
        }
