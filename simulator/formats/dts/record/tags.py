"""The tags of records; all are texts.

| record | tags |
| --- | --- |
| rows | pk_uk_info, readerThroughoutTime, metaVersion; of MySQL thread_id and server_id too |
| rows of the full load | pk_uk_info, metaVersion |
| BEGIN | readerThroughoutTime; of MySQL status variables, GTID and thread_id too |
| COMMIT | readerThroughoutTime; of MySQL thread_id too |
| statements | readerThroughoutTime; of MySQL GTID, GTID_SET, status variables, ids and more, in alphabetical order |
| heartbeats | readerThroughoutTime |

Printed messages show those of MySQL, except of COMMIT. A printed `{"uk_item_code":["item_code"],"PRIMARY":["id"]}` has
the order of a HashMap. Tags of other sources and of the full load are decided here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record.record import Texts, digits
from simulator.formats.dts.systems import system_of
from simulator.model import BEGIN, MARKS, READ, Kind, SchemaChange, Table
from simulator.sources.log import Entries, entry
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.source import Source
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import quote

# The flags of a session, as in printed messages.
FLAGS: Final = {"Q_FLAGS2_CODE": "0"}
# Tags that messages of a year lack: the first printed ones with server_id are of 2021, with metaVersion of 2023.
LATER: Final[Mapping[str, tuple[str, ...]]] = {
    "2023": (),
    "2021": ("metaVersion",),
    "2020": ("metaVersion", "server_id"),
}


def keys(table: Table) -> str:
    """pk_uk_info: the columns of the primary key and of each unique key, in the order of a Java HashMap."""
    columns = {"PRIMARY": table.primary_key} if table.primary_key else {}
    columns |= {key.name: key.columns for key in table.unique_keys}
    names = list(columns)
    members = (f"{quote(names[i])}:[{','.join(map(quote, columns[names[i]]))}]" for i in hash_order(names))
    return "{" + ",".join(members) + "}"


def version_of(object_name: str, fields: bytes, table: Table) -> str:
    """metaVersion: 32 bits that differ if the names, the types or the keys of a table differ."""
    types = [(t.name, t.length, t.scale, t.unsigned, t.charset, t.labels) for t in (c.type for c in table.columns)]
    shape = (types, table.primary_key, *table.unique_keys)
    return str(zlib.crc32(object_name.encode() + fields + repr(shape).encode()))


class Tags:
    """The tags of a source's records."""

    def __init__(self, options: RecordOptions, source: Source) -> None:
        self.options, self.log, self.system = options, source.log, system_of(source)
        self._later = LATER[options.tags]

    def of_changes(self, kind: Kind, of_table: Mapping[str, str], entries: Entries, write_ms: Any) -> dict[str, Texts]:
        """The tags of rows and marks; marks have none of a table."""
        reader: dict[str, Texts] = {"readerThroughoutTime": digits(write_ms)}
        thread = self._thread(entries)
        if kind is BEGIN and self.system.mysql:
            return {**self._session(entries), **self._gtid(entries), **thread, **reader, **FLAGS}
        if kind in MARKS:
            return {**thread, **reader}
        first: dict[str, Texts] = {"pk_uk_info": of_table["pk_uk_info"]}
        last: dict[str, Texts] = {"metaVersion": of_table["metaVersion"]}
        if kind is READ:
            return self._dated({**first, **last})
        server: dict[str, Texts] = {"server_id": self.options.server_id} if self.system.mysql else {}
        return self._dated({**first, **reader, **thread, **server, **last})

    def of_statement(self, event: SchemaChange) -> dict[str, Texts]:
        """The tags of a statement, in alphabetical order."""
        reader: dict[str, Texts] = {"readerThroughoutTime": str(event.write_ms)}
        if not self.system.mysql:
            return reader
        entries = entry(event)
        tags: dict[str, Texts] = {
            **self._gtid(entries, executed=True),
            **self._session(entries),
            **FLAGS,
            **reader,
            "commitTimestamp": str(event.event_ms // 1000),
            "lowerCaseTableNames": "true",
            "server_id": self.options.server_id,
            **self._thread(entries),
        }
        return self._dated(dict(sorted(tags.items())))

    def _dated(self, tags: dict[str, Texts]) -> dict[str, Texts]:
        """The tags without those that were introduced later."""
        return {name: tag for name, tag in tags.items() if name not in self._later} if self._later else tags

    def _thread(self, entries: Entries) -> dict[str, Texts]:
        return {"thread_id": digits(self.log.thread(entries))} if isinstance(self.log, MysqlLog) else {}

    def _session(self, entries: Entries) -> dict[str, Texts]:
        """Status variables of the session: sql_mode, and its character set."""
        assert isinstance(self.log, MysqlLog)
        return {
            "Q_SQL_MODE_CODE": digits(self.log.sql_mode(entries)),
            "Q_CHARSET_CODE": digits(self.log.charset(entries)),
        }

    def _gtid(self, entries: Entries, *, executed: bool = False) -> dict[str, Texts]:
        """The transaction's GTID, and the executed GTID set, if the source has GTIDs."""
        if not isinstance(self.log, MysqlLog) or not self.options.gtid or not self.system.gtids:
            return {}
        server = self.options.server_uuid
        return {"GTID": self.log.gtid(entries, server)} | (
            {"GTID_SET": self.log.gtid_set(entries, server)} if executed else {}
        )
