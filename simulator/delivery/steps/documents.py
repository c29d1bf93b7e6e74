"""JSON documents with types that their text does not show."""

from __future__ import annotations

from dataclasses import replace

from simulator.delivery.steps import Changes


def typed_documents(changes: Changes) -> Changes:
    """Adds the binary types to JSON documents, for products that print binary documents themselves."""
    batches = [
        batch if batch.typed_json is None else replace(batch.typed_json, envelope=batch.envelope)
        for batch in changes.batches
    ]
    return replace(changes, batches=batches)
