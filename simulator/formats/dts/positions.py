"""Where a change stands in its source's log, as DTS writes it: closed forms of its transaction and its place in that.

| source | position | transaction | SCN of SharePlex |
| --- | --- | --- | --- |
| MongoDB | cluster time, `<seconds>_<ordinal>` | none | - |
| MySQL, MariaDB | end of the event in its binary log file, `@`, the file's number: `72469@78` | `0` | 780000072469 |
| Oracle | SCN | `usn.slot.seq` | that of the commit |
| PostgreSQL | LSN, `0/16B6C50` | xid | the commit's LSN as one number |
| SQL Server | LSN, `0000002a:000001c8:0003` | `0000:00000394` | the commit's LSN as one number |

MySQL's forms are those of messages that people have printed: a restart position is where the transaction begins. There
a transaction takes a megabyte of the log, and its events a fixed part of that, so that nothing has to be counted. The
others are decided here; both positions are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import Envelope
from simulator.model import BEGIN, COMMIT, Event, Kind
from simulator.sources import mysql
from simulator.sources.mongodb import log as mongodb_log
from simulator.sources.mysql import binlog as mysql_binlog
from simulator.sources.oracle import log as oracle_log
from simulator.sources.postgresql import log as postgresql_log
from simulator.sources.sqlserver import log as sqlserver_log
from simulator.text.template import join

Ints = npt.NDArray[np.int64]
Texts: TypeAlias = pa.Array | str


@dataclass(frozen=True, slots=True)
class Positions:
    """Columns of text: where each change ends, where reading can start again to get it, and its transaction."""

    source: Texts
    safe: Texts
    txid: Texts


@dataclass(frozen=True, slots=True)
class At:
    """Where changes are in the stream: their transaction, their place in it, counted from 1, and their second's."""

    txn: Ints
    place: Ints
    event_ms: Ints
    in_second: Ints


def of_changes(source: str, kind: Kind, envelope: Envelope) -> Positions:
    """Of rows or marks of a batch; `source` is such as `mysql-8.0`."""
    places = envelope.seq
    if kind is BEGIN:
        places = np.zeros_like(places)
    if kind is COMMIT:
        places = places + 1
    return LOGS[source.rpartition("-")[0]].positions(At(envelope.txn, places, envelope.event_ms, envelope.in_second))


def of_event(source: str, event: Event) -> Positions:
    """Of a statement, which is a transaction of its own, or of a heartbeat: both positions are the same."""
    numbers = (event.txn, 0, event.event_ms, event.in_second)
    found = LOGS[source.rpartition("-")[0]].positions(At(*(np.array([number]) for number in numbers)))
    at = pa.array(found.safe)[0].as_py()
    return Positions(at, at, found.txid if isinstance(found.txid, str) else found.txid[0].as_py())


def commit_numbers(source: str, txn: Ints, size: Ints) -> Ints:
    """What each transaction, of so many changes, has for an SCN, rising with it."""
    return LOGS[source.rpartition("-")[0]].commits(txn, size)


def snapshot_number(source: str) -> int:
    """The one that the rows of a full load have: below all others."""
    return LOGS[source.rpartition("-")[0]].first


def transactions(source: str, txn: Ints, size: Ints) -> pa.Array:
    """The id of each transaction as text; that of its commit where the source has no other."""
    return LOGS[source.rpartition("-")[0]].transactions(txn, size)


@dataclass(frozen=True, slots=True)
class Log:
    """A source's log: positions of changes, and of transactions what SharePlex has for SCN and id."""

    positions: Callable[[At], Positions]
    commits: Callable[[Ints, Ints], Ints]
    transactions: Callable[[Ints, Ints], pa.Array]
    first: int


# ---------------------------------------------------------------------------------------------------------- MySQL

# In steps of `mysql.binlog_offset`: the events that announce a transaction end at the first, the first row (with what
# announces its table) at the second; sixteen bytes each.
_BEGUN, _FIRST_ROW = 4, 8


def _mysql_offset(txn: Ints, place: Ints) -> Ints:
    return mysql.binlog_offset(txn, np.where(place == 0, _BEGUN, _FIRST_ROW + 2 * (place - 1)))


def _mysql(at: At) -> Positions:
    file = pa.array(mysql.binlog_file_number(at.txn)).cast(pa.string())

    def text(offset: Ints) -> pa.Array:
        return join([pa.array(offset).cast(pa.string()), "@", file], len(file))

    begun = mysql.binlog_offset(at.txn, np.zeros_like(at.txn))
    return Positions(text(_mysql_offset(at.txn, at.place)), text(begun), "0")


def _mysql_commits(txn: Ints, size: Ints) -> Ints:
    """The number of the file, and where the transaction ends in it in ten digits."""
    number: Ints = mysql.binlog_file_number(txn) * 10**10 + _mysql_offset(txn, size + 1)
    return number


def _numbers(commits: Callable[[Ints, Ints], Ints]) -> Callable[[Ints, Ints], pa.Array]:
    return lambda txn, size: pa.array(commits(txn, size)).cast(pa.string())


# --------------------------------------------------------------------------------------- Oracle, PostgreSQL, SQL Server


def _oracle(at: At) -> Positions:
    scn = pa.array(oracle_log.change_scn(at.txn, at.place)).cast(pa.string())
    return Positions(scn, scn, oracle_log.transaction_id(at.txn))


# Numbers of PostgreSQL's log that a transaction takes: its beginning, its changes, its commit. Changes beyond have the
# place of the last one.
_RECORDS: Final = 1 << 10


def _postgresql_lsn(txn: Ints, place: Ints) -> Ints:
    return postgresql_log.lsn(txn * _RECORDS + np.minimum(place, _RECORDS - 2))


def _postgresql(at: At) -> Positions:
    lsn = postgresql_log.lsn_text(_postgresql_lsn(at.txn, at.place))
    return Positions(lsn, lsn, pa.array(postgresql_log.xid(at.txn)).cast(pa.string()))


def _postgresql_commits(txn: Ints, size: Ints) -> Ints:
    return postgresql_log.lsn(txn * _RECORDS + _RECORDS - 1)


def _sqlserver(at: At) -> Positions:
    lsn = sqlserver_log.change_lsn(at.txn, at.place)
    return Positions(lsn, lsn, sqlserver_log.transaction_id(at.txn))


def _sqlserver_commits(txn: Ints, size: Ints) -> Ints:
    file, block, record = sqlserver_log.lsn_numbers(txn, size + 1)
    number: Ints = (file << 48) + (block << 16) + record
    return number


# ------------------------------------------------------------------------------------------------------------ MongoDB


def _mongodb(at: At) -> Positions:
    """The seconds and the ordinal of the cluster time; a change has no other number."""
    seconds, ordinals = mongodb_log.cluster_times(at.event_ms, at.in_second)
    place = join([pa.array(seconds).cast(pa.string()), "_", pa.array(ordinals).cast(pa.string())], len(seconds))
    return Positions(place, place, "")


_MYSQL: Final = Log(_mysql, _mysql_commits, _numbers(_mysql_commits), 10**10 + mysql_binlog.FIRST_OFFSET)
_ORACLE: Final = Log(
    _oracle,
    lambda txn, size: oracle_log.commit_scn(txn),
    lambda txn, size: oracle_log.transaction_id(txn),
    oracle_log.FIRST_SCN,
)
_POSTGRESQL: Final = Log(
    _postgresql,
    _postgresql_commits,
    lambda txn, size: pa.array(postgresql_log.xid(txn)).cast(pa.string()),
    postgresql_log.FIRST_LSN - 1,
)
LOGS: Final[Mapping[str, Log]] = {
    "gaussdb": _POSTGRESQL,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "mongodb": Log(_mongodb, lambda txn, size: txn, _numbers(lambda txn, size: txn), 0),
    "oceanbase-mysql": _MYSQL,
    "oceanbase-oracle": _ORACLE,
    "oracle": _ORACLE,
    "postgresql": _POSTGRESQL,
    "sqlserver": Log(_sqlserver, _sqlserver_commits, _numbers(_sqlserver_commits), sqlserver_log.FIRST_FILE << 48),
}
