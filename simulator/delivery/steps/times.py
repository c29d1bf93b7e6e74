"""Times that a product reports differently from the source."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Changes
from simulator.model import Event


def previous_commits(changes: Changes) -> Changes:
    """Sets the commit time of each change and event to that of the transaction before its own."""
    history = changes.history

    def batch_of(batch: ChangeBatch) -> ChangeBatch:
        if not batch.envelope.phase:
            return batch
        event_ms = history.previous_ms(batch.envelope.turn)
        return replace(batch, envelope=replace(batch.envelope, event_ms=event_ms))

    def event_of(event: Event) -> Event:
        if not event.order.phase:
            return event
        return replace(event, event_ms=int(history.previous_ms(np.array([event.order.turn], dtype=np.int64))[0]))

    return replace(
        changes, batches=[batch_of(batch) for batch in changes.batches], events=[event_of(e) for e in changes.events]
    )
