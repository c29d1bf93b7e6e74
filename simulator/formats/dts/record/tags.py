"""The tags of DTS records, all of them texts, and the server that they speak of.

| record | tags |
| --- | --- |
| rows | pk_uk_info, readerThroughoutTime, metaVersion; of MySQL thread_id and server_id as well |
| rows of the full load | pk_uk_info, metaVersion |
| BEGIN | of MySQL its status variables, GTID, thread_id; readerThroughoutTime |
| COMMIT | of MySQL thread_id; readerThroughoutTime |
| statements | of MySQL GTID, GTID_SET, status variables, ids and more, in alphabetical order; readerThroughoutTime |
| heartbeats | readerThroughoutTime |

Those of MySQL are in messages that people have printed. What other sources have, and the full load, is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record.record import Texts
from simulator.formats.dts.systems import system_of
from simulator.formats.format import Settings
from simulator.model import BEGIN, COMMIT, Kind, SchemaChange, Table
from simulator.sources.log import Entries, entry
from simulator.sources.mysql.log import MysqlLog
from simulator.text.json_style import quote

# MySQL's status variables of a session with defaults, as printed messages have them: flags, sql_mode, character set.
STATUS: Final = {"Q_FLAGS2_CODE": "0", "Q_SQL_MODE_CODE": "1168113696", "Q_CHARSET_CODE": "33"}
# Connections at the source; a transaction is one's.
FIRST_THREAD, THREADS = 1000, 16


def keys(table: Table) -> str:
    """pk_uk_info: the primary key under its name, the columns in key order."""
    if not table.primary_key:
        return "{}"
    return '{"PRIMARY":[' + ",".join(map(quote, table.primary_key)) + "]}"


class Tags:
    """The tags that a source's records have with certain settings."""

    def __init__(self, settings: Settings[RecordOptions]) -> None:
        self.settings = settings
        self.log = settings.source.log
        self.system = system_of(settings.source)
        self.mysql = self.system.mysql

    @property
    def version(self) -> str:
        """What the server says it is."""
        return self.settings.options.source_version or self.system.versions[self.settings.source.version]

    def of_changes(self, kind: Kind, of_table: Mapping[str, str], at: Entries, write_ms: Any) -> dict[str, Texts]:
        """The tags of rows and marks."""
        reader: dict[str, Texts] = {"readerThroughoutTime": dts_record.digits(write_ms)}
        if not self.mysql:
            if not of_table:
                return reader
            return {"pk_uk_info": of_table["pk_uk_info"], **reader, "metaVersion": of_table["metaVersion"]}
        thread = {"thread_id": dts_record.digits(FIRST_THREAD + at.txn % THREADS)}
        if kind is BEGIN:
            begun: dict[str, Texts] = {name: STATUS[name] for name in ("Q_SQL_MODE_CODE", "Q_CHARSET_CODE")}
            return {**begun, **self._gtid(at), **thread, **reader, "Q_FLAGS2_CODE": STATUS["Q_FLAGS2_CODE"]}
        if kind is COMMIT:
            return {**thread, **reader}
        info = {"pk_uk_info": of_table["pk_uk_info"]}
        last = {"server_id": self.settings.options.server_id, "metaVersion": of_table["metaVersion"]}
        return {**info, **reader, **thread, **last}

    def _gtid(self, at: Entries) -> dict[str, Texts]:
        """GTID of a transaction, where MySQL has them."""
        if not isinstance(self.log, MysqlLog) or not self.settings.options.gtid or not self.system.gtids:
            return {}
        return {"GTID": self.log.gtid(at, self.settings.options.server_uuid)}

    def of_statement(self, event: SchemaChange) -> dict[str, Texts]:
        """The tags of a statement, in alphabetical order."""
        reader: dict[str, Texts] = {"readerThroughoutTime": str(event.write_ms)}
        if not self.mysql:
            return reader
        at = entry(event)
        gtids = self._gtid(at)
        if gtids and isinstance(self.log, MysqlLog):
            gtids["GTID_SET"] = self.log.gtid_set(at, self.settings.options.server_uuid)
        found: dict[str, Texts] = {
            **gtids,
            **STATUS,
            **reader,
            "commitTimestamp": str(event.event_ms // 1000),
            "lowerCaseTableNames": "true",
            "server_id": self.settings.options.server_id,
            "thread_id": str(FIRST_THREAD + event.txn % THREADS),
        }
        return dict(sorted(found.items()))
