"""Times that a product reports otherwise than the source has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Changes
from simulator.model import Event


def previous_commits(changes: Changes) -> Changes:
    """Gives changes and events of the stream the commit time of the transaction before theirs."""
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
