"""Redelivery: where a product resumes after its process ended, and what it renews in messages that come again.

A product stores its position at intervals, and resumes there after a restart. So the messages between the stored
position and the last one that was sent come again: one unbroken stretch, in the old order, to the same partitions. It
ends with the last message before the end; then the stream goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from simulator.model import Life


@dataclass(frozen=True, slots=True)
class Redelivery:
    """Restart rule of a product.

    * `resumes`: the stored position is the record after the last one of a batch, in mid-transaction, too; or the begin
      of a transaction; or the begin of a second, and so of the first transaction that committed in it.
    * `setting` says how often the position is stored, every `interval_ms` by default.
    * `stop`: what a clean stop repeats. The transaction in flight comes again, or nothing does.
    * `repeats_commit`: where the position is the end of a transaction, its COMMIT mark comes again.
    * `snapshots_again`: without a stored position it begins with a new snapshot, so deletes since then do not come.
    * `fails_at_ddl`: it takes the rows before a DDL statement for rows after it when they come again, and fails.
    * `renewed`: members that differ in the second delivery, with their new values; all others are kept. Names are
      paths in the JSON of the value; `key` and `header NAME` are those of the message.
    * `rewrites`: the second delivery is written anew, at a later time. False: it is read from the product's own store.
    * `evidence`: the rule was captured, is documented, or is decided here.
    """

    resumes: Literal["record", "transaction", "second"]
    setting: str
    interval_ms: int
    evidence: Literal["captured", "documented", "decided"]
    stop: Literal["nothing", "transaction"] = "nothing"
    repeats_commit: bool = False
    snapshots_again: bool = False
    fails_at_ddl: bool = False
    renewed: Mapping[str, str] = field(default_factory=dict)
    rewrites: bool = True


# Rule of formats without a known one.
AT_LEAST_ONCE: Final = Redelivery("transaction", "", 1000, "decided")


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Times of a process's life. Write times are at least `restart_ms`; then the product catches up with changes
    committed since `begin_ms`, `CATCH_UP` times as fast as they were made.
    """

    life: Life
    restart_ms: int = 0
    begin_ms: int = 0


CATCH_UP: Final = 10
