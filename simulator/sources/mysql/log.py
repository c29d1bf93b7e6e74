"""MySQL's and MariaDB's binary log: file and offset of each event, GTIDs, executed GTID sets, sessions.

Every format reads these from here. Sources: MySQL's sql_mode bits (`query_options.h`), numbers of collations (SHOW
COLLATION), messages that people have printed; MariaDB, "Global Transaction ID": domain, server, sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Ints
from simulator.sources.log import Entries, Log, spread, text
from simulator.text.template import join

# Transactions in a file, a power of two (NumPy masks and shifts ten times as quickly as it divides); each has an equal
# share of the file's 1 GiB (max_binlog_size).
FILE_BITS: Final = 10
TRANSACTIONS_PER_FILE: Final = 1 << FILE_BITS
TRANSACTION_BYTES: Final = 1 << 20
# Offset of the first event after a file's header: in MySQL 8.0, and in 5.7.
FIRST_OFFSET: Final = 157
FIRST_OFFSET_57: Final = 154
# Bytes of the events before a transaction, of those before its first row, and of a row event.
BEGIN_BYTES: Final = 64
FIRST_ROW_BYTES: Final = 64
ROW_BYTES: Final = 32
# UUID of the default server.
SERVER_UUID: Final = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
SERVER_ID: Final = 1
# First number and count (a power of two) of connections; each generated transaction uses one of them. A script is one
# session.
FIRST_THREAD, THREADS = 1000, 16
# Words of sql_mode by their bits.
MODE_BITS: Final = {
    "REAL_AS_FLOAT": 0, "PIPES_AS_CONCAT": 1, "ANSI_QUOTES": 2, "IGNORE_SPACE": 3, "ONLY_FULL_GROUP_BY": 5,
    "NO_UNSIGNED_SUBTRACTION": 6, "NO_AUTO_VALUE_ON_ZERO": 19, "NO_BACKSLASH_ESCAPES": 20, "STRICT_TRANS_TABLES": 21,
    "STRICT_ALL_TABLES": 22, "NO_ZERO_IN_DATE": 23, "NO_ZERO_DATE": 24, "ALLOW_INVALID_DATES": 25,
    "ERROR_FOR_DIVISION_BY_ZERO": 26, "NO_AUTO_CREATE_USER": 28, "HIGH_NOT_PRECEDENCE": 29,
    "NO_ENGINE_SUBSTITUTION": 30, "TIME_TRUNCATE_FRACTIONAL": 32,
}  # fmt: skip
# sql_mode of sessions that do not set it: of MySQL 8.0 (as in printed messages), 5.7, and MariaDB 10.11.
SQL_MODE: Final = 1168113696
SQL_MODE_57: Final = 1436549152
SQL_MODE_MARIADB: Final = 1411383296
# The session's character set as the number of its default collation. 33 is utf8's, as in printed messages.
CHARSET: Final = 33
CHARSETS: Final = {
    "armscii8": 32, "ascii": 11, "big5": 1, "binary": 63, "cp1250": 26, "cp1251": 51, "cp1256": 57, "cp1257": 59,
    "cp850": 4, "cp852": 40, "cp866": 36, "cp932": 95, "dec8": 3, "eucjpms": 97, "euckr": 19, "gb18030": 248,
    "gb2312": 24, "gbk": 28, "geostd8": 92, "greek": 25, "hebrew": 16, "hp8": 6, "keybcs2": 37, "koi8r": 7, "koi8u": 22,
    "latin1": 8, "latin2": 9, "latin5": 30, "latin7": 41, "macce": 38, "macroman": 39, "sjis": 13, "swe7": 10,
    "tis620": 18, "ujis": 12, "utf8": 33, "utf8mb3": 33, "utf8mb4": 45,
}  # fmt: skip
UTF8MB4_80: Final = 255


class MysqlLog(Log):
    """The position of an event is its end. The first transaction of a file begins after the header."""

    def __init__(self, first_offset: int = FIRST_OFFSET, sql_mode: int = SQL_MODE) -> None:
        self.first_offset, self._sql_mode = first_offset, sql_mode

    def thread(self, entries: Entries) -> Ints:
        """Connection number of each transaction's session."""
        return _of_session(entries, "thread", FIRST_THREAD + (entries.txn & THREADS - 1))

    def sql_mode(self, entries: Entries) -> Ints:
        """sql_mode of each transaction's session."""
        return _of_session(entries, "sql_mode", np.full(len(entries), self._sql_mode, dtype=np.int64))

    def charset(self, entries: Entries) -> Ints:
        """The character set of each transaction's session."""
        return _of_session(entries, "charset", np.full(len(entries), CHARSET, dtype=np.int64))

    def file_number(self, entries: Entries) -> Ints:
        """The number of the log file, from 1."""
        ended = 0 if entries.header is None else _of_session(entries, "ended_files", entries.txn)
        return (entries.txn >> FILE_BITS) + 1 + ended

    def file(self, entries: Entries, *, base: str = "mysql-bin") -> pa.Array:
        """The name of the log file, `mysql-bin.000001`, from a dictionary."""
        numbers = self.file_number(entries)
        # entries of a block are in few consecutive files
        first, last = (int(numbers.min()), int(numbers.max())) if len(numbers) else (1, 1)
        names = pa.array([f"{base}.{number:06}" for number in range(first, last + 1)], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array((numbers - first).astype(np.int32)), names)

    def offset(self, entries: Entries) -> Ints:
        """End position of each event in its binlog file.

        >>> one, zero = np.ones(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        >>> MysqlLog().offset(Entries(one, np.array([-1, 0, 1, 2]), one, zero, zero)).tolist()
        [1048733, 1048797, 1048861, 1048893]
        """
        lead = BEGIN_BYTES + FIRST_ROW_BYTES
        rows = lead + spread(entries.seq - 1, step=ROW_BYTES, share=TRANSACTION_BYTES - 2 * lead)
        inside = np.where(entries.seq > 0, rows, np.where(entries.seq < 0, 0, BEGIN_BYTES))
        offset: Ints = (entries.txn & TRANSACTIONS_PER_FILE - 1) * TRANSACTION_BYTES + (inside + self.first_offset)
        return offset

    def number(self, entries: Entries) -> Ints:
        """The number of the file, and the offset in ten digits: 780000072469."""
        return self.file_number(entries) * 10**10 + self.offset(entries)

    def position(self, entries: Entries) -> pa.Array:
        """`mysql-bin.000078:72469`."""
        return join([self.file(entries), ":", pa.array(self.offset(entries))], len(entries))

    def gtid(self, entries: Entries, server_uuid: str = SERVER_UUID) -> pa.Array:
        """The GTID of each transaction: `3e11fa47-71ca-11e1-9e33-c80aa9429562:7`; null of snapshot rows."""
        if entries.header is not None:
            return pa.array([header.gtid or f"{server_uuid}:{header.last}" for header in entries.header], pa.string())
        numbers = pc.if_else(pa.array(entries.txn > 0), text(entries.txn), pa.scalar(None, pa.string()))
        return join([server_uuid, ":", numbers], len(numbers))

    def gtid_set(self, entries: Entries, server_uuid: str = SERVER_UUID, *, before: int = 0) -> pa.Array:
        """The set of GTIDs executed with each transaction: `3e11fa47-…:1-7`; the first alone is `…:1`.

        `before`: the number of transactions that the server executed before the stream.
        """
        if entries.header is not None:
            sets = [_set(server_uuid, before + header.last, header.others) for header in entries.header]
            return pa.array(sets, pa.string())
        last = before + entries.txn
        several = join([f"{server_uuid}:1-", pa.array(last)], len(last))
        if last.min(initial=2) > 1:
            return several
        return pc.if_else(pa.array(last > 1), several, pc.if_else(pa.array(last == 1), f"{server_uuid}:1", ""))


class MariadbLog(MysqlLog):
    """GTIDs are domain, server and number: `0-1-7`. The executed set is the last of each domain."""

    def __init__(self) -> None:
        super().__init__(sql_mode=SQL_MODE_MARIADB)

    def gtid(self, entries: Entries, server_uuid: str = SERVER_UUID) -> pa.Array:
        """`0-1-7`; null of snapshot rows."""
        if entries.header is not None:
            return pa.array([header.gtid or f"0-{SERVER_ID}-{header.last}" for header in entries.header], pa.string())
        numbers = pc.if_else(pa.array(entries.txn > 0), text(entries.txn), pa.scalar(None, pa.string()))
        return pc.binary_join_element_wise(f"0-{SERVER_ID}", numbers, "-")

    def gtid_set(self, entries: Entries, server_uuid: str = SERVER_UUID, *, before: int = 0) -> pa.Array:
        """`0-1-7`: all up to 7; "" before the first."""
        if entries.header is not None:
            sets = [_mariadb_set(before + header.last, header.others) for header in entries.header]
            return pa.array(sets, pa.string())
        last = before + entries.txn
        return pc.if_else(pa.array(last > 0), pc.binary_join_element_wise(f"0-{SERVER_ID}", text(last), "-"), "")


def _of_session(entries: Entries, name: str, generated: Ints) -> Ints:
    """A property of each transaction's session: the server's own if known, else the generated one."""
    if entries.header is None:
        return generated
    return np.array([getattr(header, name) for header in entries.header], dtype=np.int64)


def sql_mode_code(modes: Iterable[str]) -> int:
    """sql_mode as the log holds it: a bit for each word."""
    return sum(1 << MODE_BITS[word] for word in modes)


def _mariadb_set(last: int, other_gtids: str) -> str:
    """The last GTID of each domain."""
    return other_gtids.removeprefix(",") if other_gtids or not last else f"0-{SERVER_ID}-{last}"


def _set(server_uuid: str, last: int, other_gtids: str) -> str:
    """The set with GTIDs of other servers in it, which begin with a comma."""
    if not last:
        return other_gtids.removeprefix(",")
    return f"{server_uuid}:1{f'-{last}' if last > 1 else ''}{other_gtids}"
