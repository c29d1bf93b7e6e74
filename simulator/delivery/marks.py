"""Marks: the BEGIN and COMMIT of each transaction in a block, for products that send them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simulator import order as order_keys
from simulator.batch import ChangeBatch, Envelope
from simulator.model import BEGIN, Kind, Table, TableId


def marks(batches: Sequence[ChangeBatch], kind: Kind, database: str) -> ChangeBatch | None:
    """One mark per transaction, as changes without a table. A mark copies the envelope of the transaction's first
    change (BEGIN) or last change (COMMIT), and comes right before or after it in log and stream. None if there is no
    transaction, as in a snapshot.
    """
    envelopes = [batch.envelope for batch in batches if batch.envelope.phase]
    if not envelopes:
        return None
    arrays = {name: np.concatenate([getattr(envelope, name) for envelope in envelopes]) for name in Envelope.ARRAYS}
    order = np.lexsort((arrays["ordinal"], arrays["turn"]))
    txn = arrays["txn"][order]
    # marks take numbers next to those of changes, which are free; a split insert may follow the last change
    border, step = (txn[:-1] != txn[1:], order_keys.BEGIN if kind is BEGIN else order_keys.COMMIT)
    ends = np.flatnonzero(np.append(True, border) if kind is BEGIN else np.append(border, True))
    firsts = [envelope.txn_in_second for envelope in envelopes if envelope.txn_in_second is not None]
    begins = kind is BEGIN and all(envelope.statement_ms is not None for envelope in envelopes)
    headers = [envelope.header for envelope in envelopes if envelope.header is not None]
    columns: dict[str, Any] = {name: array[order[ends]] for name, array in arrays.items()}
    envelope = Envelope(
        phase=1,
        txn_in_second=np.concatenate(firsts)[order[ends]] if firsts else None,
        statement_ms=np.concatenate([envelope.logged_ms for envelope in envelopes])[order[ends]] if begins else None,
        header=np.concatenate(headers)[order[ends]] if len(headers) == len(envelopes) else None,
        **columns,
    )
    envelope = replace(
        envelope,
        ordinal=envelope.ordinal + step,
        offset=envelope.offset + step,
        seq=0 * envelope.seq if kind is BEGIN else envelope.size + 1,
    )
    return ChangeBatch(Table(TableId(database, ""), ()), kind, envelope, (), None)
