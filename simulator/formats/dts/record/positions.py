"""Positions in the source's log as DTS writes them: where a change ends, where reading can restart, its transaction.

| source | position | transaction |
| --- | --- | --- |
| MySQL, MariaDB | end of the event in its binary log file, `@`, the file's number: `72469@78` | `0` |
| MongoDB | cluster time, `<seconds>_<ordinal>` | none |
| Oracle, PostgreSQL, SQL Server | as the system prints it | the system's id |

MySQL's forms are those of messages that people have printed: a restart position is where the transaction begins. The
others are decided here; both positions are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from simulator.formats.dts.record.record import Texts
from simulator.sources.log import Entries, Log
from simulator.sources.mongodb.log import MongodbLog
from simulator.sources.mysql.log import MysqlLog
from simulator.text.template import join
from simulator.wire.avro import Sized


@dataclass(frozen=True, slots=True)
class Positions:
    """Columns of text. Rows of the full load have none."""

    source: Texts = ""
    safe: Texts = ""
    txid: Texts = ""


def positions(log: Log, entries: Entries) -> Positions:
    """Position of changes, marks, a statement or a heartbeat."""
    if isinstance(log, MysqlLog):
        return Positions(_mysql(log, entries), _mysql(log, entries.begin), "0")
    if isinstance(log, MongodbLog):
        seconds, ordinals = log.cluster_times(entries)
        position: Texts = join([pa.array(seconds), "_", pa.array(ordinals)], len(entries))
        return Positions(position, position)
    position = log.position(entries)
    return Positions(position, position, log.transaction_id(entries))


def shown(position: Texts) -> str:
    """The position of a statement or a heartbeat."""
    if isinstance(position, Sized):
        position = join(position.pieces, position.count)
    return position if isinstance(position, str) else str(position[0])


def _mysql(log: MysqlLog, entries: Entries) -> Texts:
    return Sized([pa.array(log.offset(entries)), "@", pa.array(log.file_number(entries))], len(entries))
