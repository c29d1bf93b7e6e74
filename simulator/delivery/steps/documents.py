"""JSON documents with the types that their text lacks."""

from __future__ import annotations

from dataclasses import replace

from simulator.delivery.steps import Changes


def typed_documents(changes: Changes) -> Changes:
    """Gives products that print binary JSON documents themselves those with types of their own."""
    batches = [
        batch if batch.typed_json is None else replace(batch.typed_json, envelope=batch.envelope)
        for batch in changes.batches
    ]
    return replace(changes, batches=batches)
