"""drs-json: Huawei Cloud DRS, "JSON".

Spec: "Kafka Message Format" (page of 2024-03-28), tables 2 to 4, their samples and table 6; its Chinese edition of
2025-11 for `sql` of rows ("") and `old` of inserts (null). The layout depends on the source:

| source | members |
| --- | --- |
| MySQL, TaurusDB | table 2: mysqlType, id, es, ts, database, table, type, isDdl, sql, sqlType, data, old, pkNames |
| Oracle, PostgreSQL, GaussDB, SQL Server | table 4: columnType, dbType, schema, opType, then table 2 from id on |
| MongoDB (DDS) | table 3: see `dds` |

* A message holds one row. No member is ever left out.
* Columns stand in the order of a java.util.HashMap, the same in all maps. Strings have Gson's HTML-safe escapes
  (table 6).
* Values are strings; SQL NULL is null.
* `old` of an update has all columns. A deleted row is in `old`, and `data` is null.
* `type` is INSERT, UPDATE, DELETE; DDL for every statement; INIT and INIT_DDL in the full load.
* `id` numbers everything that DRS reads, so it has gaps. `es` has whole seconds, as the binary log.

Decided here, since the page does not say: the CREATE TABLE of each table, one without rows included, is an INIT_DDL
before its rows, and of SQL scripts what SHOW CREATE TABLE prints; `table` of DDL is "" (`ddl_table=name`); `es` of the
full load has milliseconds; names are written as they are (the sample's `test ` is taken for a slip).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.formats.drs import task
from simulator.formats.drs.fields import mysql_fields, order, relational_fields
from simulator.formats.drs.options import DrsOptions, JsonOptions, MapOptions
from simulator.formats.drs.systems import system_of
from simulator.formats.drs.systems.system import DocumentSystem, TableSystem
from simulator.formats.format import Format, Layout, Settings
from simulator.model import Column, Kind
from simulator.text import json_style
from simulator.wire.by_kind import ByKind
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field


def tables(
    settings: Settings[MapOptions],
    format: str,
    system: TableSystem,
    fields: Sequence[Field],
    cell: Callable[[Column, DrsOptions, Kind | None], Cell],
    *,
    unit_us: int = 1,
) -> Layout:
    """These members with these values; `unit_us` as in `task.layout`."""
    options = settings.options

    def encoder(kind: Kind | None) -> Encoder:
        return Encoder(fields, lambda column: cell(column, options, kind), json_style.HTML_SAFE, order(options))

    special = {kind: encoder(kind) for kind in system.kinds}
    writer = ByKind(encoder(None), special) if special else encoder(None)
    return task.layout(settings, format, system, writer, unit_us=unit_us)


def layout(settings: Settings[JsonOptions]) -> Layout:
    system = system_of(settings)
    if isinstance(system, DocumentSystem):
        return task.layout(settings, FORMAT.id, system, system.writer(settings.source))
    members = mysql_fields if system.db_type is None else relational_fields
    return tables(settings, FORMAT.id, system, members(system, settings.options, FORMAT.id), system.cell)


FORMAT = Format(
    id="drs-json",
    title="DRS JSON",
    product=task.PRODUCT,
    spec=task.SPEC,
    sources=("gaussdb", "mongodb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka",),
    sends=task.SENDS,
    silent=task.SILENT,
    settings=JsonOptions,
    layout=layout,
)
