"""Separate encoders for kinds of changes with different layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.model import Column, Event, Kind, Table
from simulator.text.template import Piece
from simulator.wire.encoder import Encoder


class ByKind:
    """Encoder that delegates: each of `others` writes its kinds, `rest` all others. `check` is called once per table
    and raises UnsupportedType for one without rendering. `prepare` returns the changes as the product sees them.
    """

    def __init__(
        self,
        rest: Encoder,
        others: Mapping[Kind, Encoder],
        check: Callable[[Table], None] | None = None,
        prepare: Callable[[PackedBatch], PackedBatch] | None = None,
    ) -> None:
        self.rest, self.others = rest, others
        self._check, self._checked, self._prepare = check, set[Table](), prepare

    @property
    def fields(self) -> tuple[object, ...]:
        return self.rest.fields

    def pieces(self, packed: PackedBatch) -> list[Piece]:
        """The pieces of one JSON text per message."""
        table = packed.changes.table
        if self._check is not None and table not in self._checked:
            self._check(table)
            self._checked.add(table)
        if self._prepare is not None:
            packed = self._prepare(packed)
        return self.others.get(packed.changes.kind, self.rest).pieces(packed)

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        return self.rest.encode_event(event, kind)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self.rest.text(column, array)
