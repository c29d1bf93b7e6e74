"""Where a change stands in its source's log, as DTS writes it: closed forms of its transaction and its place in that.

| source | position | transaction | SCN of SharePlex |
| --- | --- | --- | --- |
| MySQL, MariaDB | end of the event in its binary log file, `@`, the file's number: `72469@78` | `0` | 780000072469 |
| Oracle | SCN | `usn.slot.seq` | that of the commit |
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
from simulator.sources import mysql, mysql_binlog, oracle_log, sqlserver_log
from simulator.wire.template import join

Ints = npt.NDArray[np.int64]
Texts: TypeAlias = pa.Array | str


@dataclass(frozen=True, slots=True)
class Positions:
    """Columns of text: where each change ends, where reading can start again to get it, and its transaction."""

    source: Texts
    safe: Texts
    txid: Texts


def of_changes(source: str, kind: Kind, envelope: Envelope) -> Positions:
    """Of rows or marks of a batch; `source` is such as `mysql-8.0`."""
    places = envelope.seq
    if kind is BEGIN:
        places = np.zeros_like(places)
    if kind is COMMIT:
        places = places + 1
    return LOGS[source.rpartition("-")[0]].positions(envelope.txn, places)


def of_event(source: str, event: Event) -> Positions:
    """Of a statement, which is a transaction of its own, or of a heartbeat: both positions are the same."""
    found = LOGS[source.rpartition("-")[0]].positions(np.array([event.txn]), np.zeros(1, dtype=np.int64))
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
    """A source's log. `positions(txn, place)`: of the changes with this place in their transaction, counted from 1."""

    positions: Callable[[Ints, Ints], Positions]
    commits: Callable[[Ints, Ints], Ints]
    transactions: Callable[[Ints, Ints], pa.Array]
    first: int


# ---------------------------------------------------------------------------------------------------------- MySQL

# In steps of `mysql.binlog_offset`: the events that announce a transaction end at the first, the first row (with what
# announces its table) at the second; sixteen bytes each.
_BEGUN, _FIRST_ROW = 4, 8


def _mysql_offset(txn: Ints, place: Ints) -> Ints:
    return mysql.binlog_offset(txn, np.where(place == 0, _BEGUN, _FIRST_ROW + 2 * (place - 1)))


def _mysql(txn: Ints, place: Ints) -> Positions:
    file = pa.array(mysql.binlog_file_number(txn)).cast(pa.string())

    def at(offset: Ints) -> pa.Array:
        return join([pa.array(offset).cast(pa.string()), "@", file], len(txn))

    return Positions(at(_mysql_offset(txn, place)), at(mysql.binlog_offset(txn, np.zeros_like(txn))), "0")


def _mysql_commits(txn: Ints, size: Ints) -> Ints:
    """The number of the file, and where the transaction ends in it in ten digits."""
    number: Ints = mysql.binlog_file_number(txn) * 10**10 + _mysql_offset(txn, size + 1)
    return number


def _numbers(commits: Callable[[Ints, Ints], Ints]) -> Callable[[Ints, Ints], pa.Array]:
    return lambda txn, size: pa.array(commits(txn, size)).cast(pa.string())


# --------------------------------------------------------------------------------------------------- Oracle, SQL Server


def _oracle(txn: Ints, place: Ints) -> Positions:
    scn = pa.array(oracle_log.change_scn(txn, place)).cast(pa.string())
    return Positions(scn, scn, oracle_log.transaction_id(txn))


def _sqlserver(txn: Ints, place: Ints) -> Positions:
    lsn = sqlserver_log.change_lsn(txn, place)
    return Positions(lsn, lsn, sqlserver_log.transaction_id(txn))


def _sqlserver_commits(txn: Ints, size: Ints) -> Ints:
    file, block, record = sqlserver_log.lsn_numbers(txn, size + 1)
    number: Ints = (file << 48) + (block << 16) + record
    return number


_MYSQL: Final = Log(_mysql, _mysql_commits, _numbers(_mysql_commits), 10**10 + mysql_binlog.FIRST_OFFSET)
LOGS: Final[Mapping[str, Log]] = {
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "oceanbase-mysql": _MYSQL,
    "oracle": Log(
        _oracle,
        lambda txn, size: oracle_log.commit_scn(txn),
        lambda txn, size: oracle_log.transaction_id(txn),
        oracle_log.FIRST_SCN,
    ),
    "sqlserver": Log(_sqlserver, _sqlserver_commits, _numbers(_sqlserver_commits), sqlserver_log.FIRST_FILE << 48),
}
