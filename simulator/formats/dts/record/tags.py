"""The tags of records; all are texts.

| record | tags |
| --- | --- |
| rows | pk_uk_info, readerThroughoutTime, metaVersion; of MySQL thread_id and server_id too |
| rows of the full load | pk_uk_info, metaVersion |
| BEGIN | readerThroughoutTime; of MySQL status variables, GTID and thread_id too |
| COMMIT | readerThroughoutTime; of MySQL thread_id too |
| statements | readerThroughoutTime; of MySQL GTID, GTID_SET, status variables, ids and more, in alphabetical order |
| heartbeats | readerThroughoutTime |

Printed messages show those of MySQL, except of COMMIT. Tags of other sources and of the full load are decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record.record import Texts, digits
from simulator.formats.dts.systems import system_of
from simulator.model import BEGIN, COMMIT, Kind, SchemaChange, Table
from simulator.sources.log import Entries, entry
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.source import Source
from simulator.text.json_style import quote

# MySQL's status variables of a session with defaults, as in printed messages: flags, sql_mode, character set.
STATUS: Final = {"Q_FLAGS2_CODE": "0", "Q_SQL_MODE_CODE": "1168113696", "Q_CHARSET_CODE": "33"}
# Connections to the source: each transaction belongs to one.
FIRST_THREAD, THREADS = 1000, 16


def keys(table: Table) -> str:
    """pk_uk_info: the primary key under its name, the columns in key order."""
    if not table.primary_key:
        return "{}"
    return '{"PRIMARY":[' + ",".join(map(quote, table.primary_key)) + "]}"


class Tags:
    """The tags of a source's records."""

    def __init__(self, options: RecordOptions, source: Source) -> None:
        self.options, self.log, self.system = options, source.log, system_of(source)

    def of_changes(self, kind: Kind, of_table: Mapping[str, str], at: Entries, write_ms: Any) -> dict[str, Texts]:
        """The tags of rows and marks; marks have none of a table."""
        reader: dict[str, Texts] = {"readerThroughoutTime": digits(write_ms)}
        if not self.system.mysql:
            if not of_table:
                return reader
            return {"pk_uk_info": of_table["pk_uk_info"], **reader, "metaVersion": of_table["metaVersion"]}
        thread = {"thread_id": digits(FIRST_THREAD + at.txn % THREADS)}
        if kind is BEGIN:
            session: dict[str, Texts] = {name: STATUS[name] for name in ("Q_SQL_MODE_CODE", "Q_CHARSET_CODE")}
            return {**session, **self._gtid(at), **thread, **reader, "Q_FLAGS2_CODE": STATUS["Q_FLAGS2_CODE"]}
        if kind is COMMIT:
            return {**thread, **reader}
        first = {"pk_uk_info": of_table["pk_uk_info"]}
        last = {"server_id": self.options.server_id, "metaVersion": of_table["metaVersion"]}
        return {**first, **reader, **thread, **last}

    def of_statement(self, event: SchemaChange) -> dict[str, Texts]:
        """The tags of a statement, in alphabetical order."""
        reader: dict[str, Texts] = {"readerThroughoutTime": str(event.write_ms)}
        if not self.system.mysql:
            return reader
        tags: dict[str, Texts] = {
            **self._gtid(entry(event), executed=True),
            **STATUS,
            **reader,
            "commitTimestamp": str(event.event_ms // 1000),
            "lowerCaseTableNames": "true",
            "server_id": self.options.server_id,
            "thread_id": str(FIRST_THREAD + event.txn % THREADS),
        }
        return dict(sorted(tags.items()))

    def _gtid(self, at: Entries, *, executed: bool = False) -> dict[str, Texts]:
        """The transaction's GTID, and the executed GTID set, if the source has GTIDs."""
        if not isinstance(self.log, MysqlLog) or not self.options.gtid or not self.system.gtids:
            return {}
        server = self.options.server_uuid
        return {"GTID": self.log.gtid(at, server)} | ({"GTID_SET": self.log.gtid_set(at, server)} if executed else {})
