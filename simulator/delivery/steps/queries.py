"""Texts of the statements that change rows, for products that send them.

The log has them before the rows if the server is configured so: MySQL's `binlog_rows_query_log_events`, MariaDB's
`binlog_annotate_row_events`. A text applies until the next one, or the end of the transaction (Debezium's
`BinlogOffsetContext`, Maxwell's `BinlogConnectorReplicator`). Scenarios have no statements, so each change gets a
statement that changes its row, composed here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, decoded
from simulator.delivery.steps import Changes, Step
from simulator.model import DELETE, MARKS, READ, LoggedStatement, StatementKind
from simulator.sources.source import Source

_KINDS: Final = (StatementKind.ROWS_QUERY, StatementKind.ANNOTATION)
# Ordinals of the texts in a turn, ascending, and the texts.
Texts = tuple[list[int], list[str]]


def with_queries(source: Source) -> Step:
    """The step that gives changes the texts of their statements."""

    def step(changes: Changes) -> Changes:
        texts: dict[int, Texts] = {}
        for event in changes.events:
            if isinstance(event, LoggedStatement) and event.kind in _KINDS:
                ordinals, statements = texts.setdefault(event.order.turn, ([], []))
                ordinals.append(event.order.ordinal)
                statements.append(event.sql)
        return replace(changes, batches=[_with_queries(batch, texts, source) for batch in changes.batches])

    return step


def _with_queries(batch: ChangeBatch, texts: Mapping[int, Texts], source: Source) -> ChangeBatch:
    envelope = batch.envelope
    if batch.kind in MARKS or batch.kind is READ:
        return batch
    if envelope.header is None:
        queries: Sequence[str | None] = _statements(batch, source)
    else:
        orders = zip(envelope.turn.tolist(), envelope.ordinal.tolist(), strict=True)
        queries = [_logged(*texts.get(turn, ([], [])), ordinal) for turn, ordinal in orders]
    return replace(batch, envelope=replace(envelope, query=np.array([*queries, None], dtype=object)[:-1]))


def _logged(ordinals: Sequence[int], statements: Sequence[str], ordinal: int) -> str | None:
    """The last text before a change."""
    position = bisect_left(ordinals, ordinal)
    return statements[position - 1] if position else None


def _statements(batch: ChangeBatch, source: Source) -> list[str]:
    """The statement that changes each row; both halves of a changed key have that of the update."""
    columns = batch.table.columns
    after, before = batch.after, None
    if batch.before is not None:
        before = [batch.full_before(i) for i in range(len(columns))]
    if batch.counterpart is not None:
        after, before = (batch.counterpart, before) if batch.kind is DELETE else (after, [*batch.counterpart])

    def rows(image: Sequence[pa.Array] | None) -> Sequence[dict[str, str | None] | None]:
        if image is None:
            return [None] * len(batch)
        texts = [
            source.format_values(decoded(array), column.type) for array, column in zip(image, columns, strict=True)
        ]
        names = [column.name for column in columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*texts, strict=True)]

    pairs = zip(rows(before), rows(after), strict=True)
    return [source.ddl.row_change(batch.table, old, new) for old, new in pairs]
