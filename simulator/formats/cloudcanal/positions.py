"""Log positions of changes, as members of `source` in CloudCanal's Debezium envelope.

The page prints MySQL's. Decided here: other sources have the members of Debezium's connectors, OceanBase only the
transaction. Rows of the full load have the position at which the log begins, and null where Debezium's snapshots have
null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simulator.formats.cloudcanal.options import DebeziumOptions
from simulator.formats.format import Settings
from simulator.formats.members import per_entry
from simulator.model import DDL, READ, ROW_KINDS, UPDATE
from simulator.sources.log import Log, text
from simulator.sources.mongodb.log import MongodbLog
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oceanbase.log import OceanbaseLog
from simulator.sources.oracle.log import OracleLog
from simulator.sources.postgresql.log import PostgresqlLog
from simulator.sources.sqlserver.log import SqlserverLog
from simulator.wire.fields import Field


def logged(value: Any) -> dict[Any, Any]:
    """A value of changes and statements; rows of the full load have null."""
    return {**dict.fromkeys((*ROW_KINDS, DDL), value), READ: None}


def mysql_position(log: MysqlLog, settings: Settings[DebeziumOptions]) -> list[Field]:
    """File and offset in the binary log; the transaction's GTID, null if the source has none."""
    server = settings.options.server_uuid
    return [
        Field("file", per_entry(log.file)),
        Field("gtid", logged(per_entry(lambda entries: log.gtid(entries, server))) if settings.options.gtid else None),
        Field("pos", per_entry(log.offset)),
        Field("server_id", settings.options.server_id),
    ]


def oceanbase_position(log: OceanbaseLog, settings: Settings[DebeziumOptions]) -> list[Field]:
    """The transaction in the commit log, which has neither files nor GTIDs."""
    return [Field("txId", logged(per_entry(log.transaction_id)))]


def mongodb_position(log: MongodbLog, settings: Settings[DebeziumOptions]) -> list[Field]:
    """The ordinal of the cluster time; its seconds are those of the time at the source."""
    return [Field("ord", logged(per_entry(lambda entries: log.cluster_times(entries)[1])))]


def oracle_position(log: OracleLog, settings: Settings[DebeziumOptions]) -> list[Field]:
    """System change numbers of the change and its commit, as texts; the transaction; redo thread 1."""
    return [
        Field("commit_scn", logged(per_entry(lambda entries: text(log.commit_number(entries))))),
        Field("redo_thread", logged(1)),
        Field("scn", per_entry(log.position)),
        Field("ssn", 0),
        Field("txId", logged(per_entry(log.xid))),
    ]


def postgresql_position(log: PostgresqlLog, settings: Settings[DebeziumOptions]) -> list[Field]:
    """The place in the write-ahead log and the transaction's number."""
    return [
        Field("lsn", per_entry(log.number)),
        Field("txId", logged(per_entry(log.xid))),
        Field("xmin", None),
    ]


def sqlserver_position(log: SqlserverLog, settings: Settings[DebeziumOptions]) -> list[Field]:
    """Log sequence numbers of the change and its commit; the number of the event, 2 for updates."""
    return [
        Field("change_lsn", logged(per_entry(log.position))),
        Field("commit_lsn", per_entry(lambda entries: log.position(entries.commit))),
        Field("event_serial_no", {**logged(1), UPDATE: 2}),
    ]


POSITIONS: Final[tuple[tuple[type[Log], Callable[[Any, Settings[DebeziumOptions]], list[Field]]], ...]] = (
    (OceanbaseLog, oceanbase_position),  # before the systems that it is compatible with
    (MongodbLog, mongodb_position),
    (MysqlLog, mysql_position),
    (OracleLog, oracle_position),
    (PostgresqlLog, postgresql_position),
    (SqlserverLog, sqlserver_position),
)


def positions(settings: Settings[DebeziumOptions]) -> list[Field]:
    """The connector's own members of `source`."""
    log = settings.source.log
    return next((positions_of(log, settings) for kind, positions_of in POSITIONS if isinstance(log, kind)), [])
