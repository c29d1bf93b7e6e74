"""Where a change stands in its source's log, as DTS writes it: closed forms of its transaction and its place in that.

| source | position | transaction |
| --- | --- | --- |
| MySQL, MariaDB | end of the event in its binary log file, `@`, the file's number: `72469@78` | `0` |

MySQL's forms are those of messages that people have printed; a restart position is where the transaction begins. A
transaction takes a megabyte of the log, and its events a fixed part of that, so that nothing has to be counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import Envelope
from simulator.model import BEGIN, COMMIT, Event, Kind
from simulator.sources import mysql
from simulator.wire.template import join

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Positions:
    """Columns of text: where each change ends, where reading can start again to get it, and its transaction."""

    source: pa.Array | str
    safe: pa.Array | str
    txid: pa.Array | str


# Places in a transaction's share of the log, in steps of `mysql.binlog_offset`: the events that announce it take 64
# bytes, those of a row and its table 128 with them.
_BEGUN: Final = 4
_FIRST_ROW: Final = 8


def of_changes(source: str, kind: Kind, envelope: Envelope) -> Positions:
    """Of rows or marks of a batch; `source` is the id of the system."""
    places = _FIRST_ROW + 2 * (envelope.seq - 1)
    if kind is BEGIN:
        places = np.full(len(places), _BEGUN, dtype=np.int64)
    if kind is COMMIT:
        places = places + 2
    return _mysql(envelope.txn, places)


def of_event(source: str, event: Event) -> Positions:
    """Of a statement, which is a transaction of its own, or of a heartbeat: both positions are the same."""
    found = _mysql(np.array([event.txn], dtype=np.int64), np.zeros(1, dtype=np.int64))
    at = pa.array(found.safe)[0].as_py()
    return Positions(at, at, found.txid)


def commit_numbers(source: str, txn: Ints, size: Ints) -> Ints:
    """What each transaction, of so many changes, has for an SCN, rising with it.

    Of MySQL where it ends in the log: the file's number, and its offset in ten digits: 780000072469.
    """
    end = mysql.binlog_offset(txn, _FIRST_ROW + 2 * size)
    number: Ints = mysql.binlog_file_number(txn) * 10**10 + end
    return number


def snapshot_number(source: str) -> int:
    """The one that the rows of a full load have: below all others."""
    return 10**10 + mysql.FIRST_OFFSET


def _mysql(txn: Ints, places: Ints) -> Positions:
    file = pa.array(mysql.binlog_file_number(txn)).cast(pa.string())

    def at(places: Ints) -> pa.Array:
        return join([pa.array(mysql.binlog_offset(txn, places)).cast(pa.string()), "@", file], len(txn))

    return Positions(at(places), at(np.zeros_like(places)), "0")
