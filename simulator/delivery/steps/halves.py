"""Numbering of changes in which the two halves of a split update count as two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.batch import ChangeBatch, Ints
from simulator.delivery.steps import Changes
from simulator.model import DELETE, INSERT, MARKS


def counted_halves(changes: Changes) -> Changes:
    """Counts each update that was split as two changes in `Envelope.place` and `places`."""
    batches = changes.batches
    deletes = [batch.envelope for batch in batches if batch.moved and batch.kind is DELETE]
    if not deletes:
        return changes
    first = min(int(envelope.txn.min()) for envelope in deletes)
    room = 2 + max(int(batch.envelope.size.max(initial=0)) for batch in batches)

    def number(txn: Ints, seq: Ints | int) -> Ints:
        """One number for (transaction, number of the change in it)."""
        numbers: Ints = np.clip(txn - first, -1, None) * room + seq
        return numbers

    splits = np.sort(np.concatenate([number(envelope.txn, envelope.seq) for envelope in deletes]))

    def recounted(batch: ChangeBatch) -> ChangeBatch:
        envelope = batch.envelope
        if batch.kind in MARKS or not envelope.phase:
            return batch
        begin, splits_before, end = (
            np.searchsorted(splits, number(envelope.txn, seq)) for seq in (0, envelope.seq, room - 1)
        )
        second = int(batch.moved and batch.kind is INSERT)
        counted = np.array([envelope.seq + splits_before - begin + second, envelope.size + end - begin])
        return replace(batch, envelope=replace(envelope, counted=counted))

    return replace(changes, batches=[recounted(batch) for batch in batches])
