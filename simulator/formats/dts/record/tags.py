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

import pyarrow as pa

from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record.record import Texts
from simulator.formats.dts.systems import system_of
from simulator.formats.format import Settings
from simulator.model import BEGIN, COMMIT, Kind, SchemaChange, Table
from simulator.text.json_style import quote
from simulator.wire import avro

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
        self.system = system_of(settings.source)
        self.mysql = self.system.mysql

    @property
    def version(self) -> str:
        """What the server says it is."""
        return self.settings.options.source_version or self.system.versions[self.settings.source.version]

    def of_changes(self, kind: Kind, of_table: Mapping[str, str], txn: Any, write_ms: Any) -> dict[str, Texts]:
        """The tags of rows and marks."""
        reader: dict[str, Texts] = {"readerThroughoutTime": dts_record.digits(write_ms)}
        if not self.mysql:
            if not of_table:
                return reader
            return {"pk_uk_info": of_table["pk_uk_info"], **reader, "metaVersion": of_table["metaVersion"]}
        thread = {"thread_id": dts_record.digits(FIRST_THREAD + txn % THREADS)}
        if kind is BEGIN:
            begun: dict[str, Texts] = {name: STATUS[name] for name in ("Q_SQL_MODE_CODE", "Q_CHARSET_CODE")}
            numbers = pa.array(txn).cast(pa.string())
            return {**begun, **self._gtid(numbers), **thread, **reader, "Q_FLAGS2_CODE": STATUS["Q_FLAGS2_CODE"]}
        if kind is COMMIT:
            return {**thread, **reader}
        info = {"pk_uk_info": of_table["pk_uk_info"]}
        last = {"server_id": self.settings.options.server_id, "metaVersion": of_table["metaVersion"]}
        return {**info, **reader, **thread, **last}

    def _gtid(self, numbers: pa.Array | str) -> dict[str, Texts]:
        """GTID of a transaction, where MySQL has them."""
        if not self.settings.options.gtid or not self.system.gtids:
            return {}
        lead = f"{self.settings.options.server_uuid}:"
        if isinstance(numbers, str):
            return {"GTID": lead + numbers}
        return {"GTID": avro.join([lead.encode(), numbers.cast(pa.binary())], len(numbers)).cast(pa.string())}

    def of_statement(self, event: SchemaChange) -> dict[str, Texts]:
        """The tags of a statement, in alphabetical order."""
        reader: dict[str, Texts] = {"readerThroughoutTime": str(event.write_ms)}
        if not self.mysql:
            return reader
        gtid = self._gtid(str(event.txn))
        sets: dict[str, Texts] = {"GTID_SET": f"{self.settings.options.server_uuid}:1-{event.txn}"} if gtid else {}
        found: dict[str, Texts] = {
            **gtid,
            **sets,
            **STATUS,
            **reader,
            "commitTimestamp": str(event.event_ms // 1000),
            "lowerCaseTableNames": "true",
            "server_id": self.settings.options.server_id,
            "thread_id": str(FIRST_THREAD + event.txn % THREADS),
        }
        return dict(sorted(found.items()))
