"""Where a change is in its source's log, as members of `source` in CloudCanal's Debezium envelope.

The page prints MySQL's. Those of other sources are the members of Debezium's connectors, which is a decision. Rows of
the full load have the place at which the stream begins, and null where Debezium's snapshots have null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.formats.cloudcanal.options import DebeziumOptions
from simulator.formats.cloudcanal.types import library
from simulator.formats.format import Settings
from simulator.model import DDL, READ, ROW_KINDS, UPDATE, Event
from simulator.sources import mysql, sqlserver
from simulator.sources.mongodb import log as mongodb_log
from simulator.sources.mysql.binlog import FIRST_OFFSET
from simulator.sources.oracle import log as oracle_log
from simulator.sources.postgresql import log as postgresql_log
from simulator.sources.sqlserver import log as sqlserver_log
from simulator.text.template import join
from simulator.wire.fields import Field, PerChange


class Place(Protocol):
    """What positions are made of: arrays of one envelope."""

    @property
    def turn(self) -> Ints: ...
    @property
    def ordinal(self) -> Ints: ...
    @property
    def txn(self) -> Ints: ...
    @property
    def seq(self) -> Ints: ...
    @property
    def size(self) -> Ints: ...
    @property
    def offset(self) -> Ints: ...
    @property
    def event_ms(self) -> Ints: ...
    @property
    def in_second(self) -> Ints: ...


@dataclass(frozen=True)
class One:
    """The place of a statement, which is a transaction of its own."""

    turn: Ints
    ordinal: Ints
    txn: Ints
    seq: Ints
    size: Ints
    offset: Ints
    event_ms: Ints
    in_second: Ints


def one(event: Event) -> One:
    """The place of a single event."""
    numbers = (
        event.order.turn, event.order.ordinal, event.txn, 1, 1, event.offset, event.event_ms, event.in_second,
    )  # fmt: skip
    return One(*(np.array([number], dtype=np.int64) for number in numbers))


def placed(of: Callable[[Place], Ints | pa.Array], scanned: Any = None) -> dict[Any, Any]:
    """A member made of a change's place, numbers or texts; `scanned` stands there in rows of the full load."""

    def changes(batch: ChangeBatch) -> Any:
        values = of(batch.envelope)
        return join(['"', values, '"'], len(values)) if isinstance(values, pa.Array) else values

    def event(event: Event) -> Any:
        value = of(one(event))[0]
        return value.as_py() if isinstance(value, pa.Scalar) else int(value)

    return {**dict.fromkeys((*ROW_KINDS, DDL), PerChange(changes, event)), READ: scanned}


# Where a log file has its first event, if not where MySQL 8.0 has it: its description is three bytes shorter in 5.7.
FIRST_EVENTS: Final[Mapping[str, int]] = {"mysql-5.7": 154}


def mysql_position(settings: Settings[DebeziumOptions]) -> list[Field]:
    """File and place in the binary log; the transaction's GTID, null where the source has none."""
    server = settings.options.server_uuid
    first = FIRST_EVENTS.get(str(settings.source), FIRST_OFFSET)
    return [
        Field("file", placed(lambda at: mysql.binlog_file(at.turn), "mysql-bin.000001")),
        Field("gtid", placed(lambda at: mysql.gtid(server, at.txn)) if settings.options.gtid else None),
        Field("pos", placed(lambda at: mysql.binlog_offset(at.turn, at.ordinal) - FIRST_OFFSET + first, first)),
        Field("server_id", settings.options.server_id),
    ]


def mongodb_position(settings: Settings[DebeziumOptions]) -> list[Field]:
    """The ordinal of the cluster time; its seconds are those of the time at the source."""
    return [Field("ord", placed(lambda at: mongodb_log.cluster_times(at.event_ms, at.in_second)[1]))]


# As the text that it is in `source`.
FIRST_SCN: Final = str(oracle_log.FIRST_SCN)


def oracle_position(settings: Settings[DebeziumOptions]) -> list[Field]:
    """System change numbers of the change and its commit, as texts; the transaction; redo thread 1."""
    return [
        Field("commit_scn", placed(lambda at: pa.array(oracle_log.commit_scn(at.txn)).cast(pa.string()))),
        Field("redo_thread", {**dict.fromkeys((*ROW_KINDS, DDL), 1), READ: None}),
        Field("scn", placed(lambda at: pa.array(oracle_log.change_scn(at.txn, at.seq)).cast(pa.string()), FIRST_SCN)),
        Field("ssn", 0),
        Field("txId", placed(lambda at: oracle_log.xid(at.txn))),
    ]


def postgresql_position(settings: Settings[DebeziumOptions]) -> list[Field]:
    """The place in the write-ahead log and the transaction's number."""
    return [
        Field("lsn", placed(lambda at: postgresql_log.lsn(at.offset), postgresql_log.FIRST_LSN - 1)),
        Field("txId", placed(lambda at: postgresql_log.xid(at.txn))),
        Field("xmin", None),
    ]


def sqlserver_position(settings: Settings[DebeziumOptions]) -> list[Field]:
    """Log sequence numbers of the change and its commit; the number of the event, 2 for updates."""
    return [
        Field("change_lsn", placed(lambda at: sqlserver.change_lsn(at.txn, at.seq))),
        Field("commit_lsn", placed(lambda at: sqlserver.commit_lsn(at.txn, at.size), sqlserver_log.lsn_text(0, 0))),
        Field("event_serial_no", {**dict.fromkeys((*ROW_KINDS, DDL), 1), UPDATE: 2, READ: None}),
    ]


POSITIONS: Final[Mapping[str, Callable[[Settings[DebeziumOptions]], list[Field]]]] = {
    "mongodb": mongodb_position,
    "mysql": mysql_position,
    "oracle": oracle_position,
    "postgresql": postgresql_position,
    "sqlserver": sqlserver_position,
}


def positions(settings: Settings[DebeziumOptions]) -> list[Field]:
    """The connector's own members of `source`."""
    return POSITIONS[library(settings)](settings)
