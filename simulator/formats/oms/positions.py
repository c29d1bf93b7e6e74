"""Sequences, transactions and ids of changes.

Source: libobcdc (DmlStmtUniqueID) for OceanBase's uniqueId. Decisions: the running number of a second counts positions
in the second's stream, gaps included; ids of changes of other systems.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.formats.format import Settings
from simulator.formats.members import per_entry
from simulator.formats.oms.options import DefaultOptions, OmsOptions
from simulator.sources.log import entries
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oceanbase.log import OceanbaseLog
from simulator.text.template import Piece
from simulator.wire.fields import PerChange, number_pieces

SEQUENCES_A_SECOND: Final = 100_000


def as_text(number: PerChange) -> PerChange:
    """Integers as JSON strings."""

    def of(batch: ChangeBatch) -> list[Piece]:
        return ['"', pa.array(number.of(batch)), '"']

    return PerChange(of, lambda event: str(number.event(event)) if number.event else "")


def sequence_of(event_ms: Any, in_second: Any) -> Any:
    """Seconds and a running number of five digits: 160934467100001; larger numbers carry over into the seconds."""
    return event_ms // 1000 * SEQUENCES_A_SECOND + in_second


SEQUENCE: Final = PerChange(
    lambda batch: sequence_of(batch.envelope.event_ms, batch.envelope.in_second),
    lambda event: sequence_of(event.event_ms, event.in_second),
)


def transaction(settings: Settings[OmsOptions]) -> PerChange:
    """The source's id of the transaction."""
    return per_entry(settings.source.log.transaction_id)


def unique_id(settings: Settings[DefaultOptions]) -> PerChange:
    """The store's id of a change: tenant, log stream, transaction, place in the redo log, row of the transaction; for
    MySQL file and offset in the binary log and the row; for other systems transaction, position and row."""
    log = settings.source.log

    def of(batch: ChangeBatch) -> list[Piece]:
        log_entries = entries(batch.envelope)
        row = number_pieces("_", batch.envelope.place - 1)
        if isinstance(log, OceanbaseLog):
            stream = f'"{settings.options.tenant_id}_{settings.options.log_stream}_'
            redo = number_pieces("_", log.redo_lsn(log_entries))
            return [stream, log.transaction_id(log_entries), *redo, *row, '"']
        if isinstance(log, MysqlLog):
            return ['"', log.file(log_entries), *number_pieces("_", log.offset(log_entries)), *row, '"']
        return ['"', log.transaction_id(log_entries), "_", log.position(log_entries), *row, '"']

    return PerChange(of)
