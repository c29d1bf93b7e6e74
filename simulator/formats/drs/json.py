"""drs-json: Huawei Cloud DRS, "JSON".

Spec: "Kafka Message Format" (page of 2024-03-28), tables 2 to 4, their samples and table 6; its Chinese edition of
2025-11 for `sql` of rows ("") and `old` of inserts (null). The layout depends on the source:

| source | layout |
| --- | --- |
| MongoDB (DDS) | table 3: see `dds` |
| Oracle, PostgreSQL, GaussDB, SQL Server | table 4: columnType, dbType, schema, opType, and table 2's from id on |
| MySQL, TaurusDB | table 2: mysqlType, id, es, ts, database, table, type, isDdl, sql, sqlType, data, old, pkNames |

What stands out:

* Columns stand in the order of a java.util.HashMap, in all maps alike; Gson's HTML-safe escapes (table 6).
* Every value is a string, SQL NULL is null; `old` of an update has all columns; a deleted row is in `old`, `data` is
  null.
* One row a message. No member is ever left out.
* `type` of DDL is DDL whatever the statement; INIT and INIT_DDL in the full load.
* `id` counts everything that DRS sees, so it has gaps; `es` has whole seconds, as the binary log.

Decided here, for lack of a word in the page: INIT_DDL is a CREATE TABLE before the rows of each table; the table of DDL
is "" (`ddl_table=name`); `es` of the full load has milliseconds; names are written as they are (the sample's `test ` is
taken for a slip of the page).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from simulator.formats.drs import dds as drs_dds
from simulator.formats.drs import envelope as drs
from simulator.formats.drs.envelope import System
from simulator.formats.drs.fields import mysql_fields, relational_fields
from simulator.formats.drs.options import JsonOptions
from simulator.formats.drs.systems import system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.model import Kind
from simulator.text import json_style
from simulator.wire.by_kind import ByKind
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Field

# The members of messages about a system's tables.
Members: TypeAlias = Callable[[drs.DrsSettings, System, str], tuple[Field, ...]]


def written(settings: drs.DrsSettings, format: str, members: Members | None = None) -> Layout:
    """How the source's changes are written; `members` are those of a dialect."""
    if settings.source.id == "mongodb":
        return drs_dds.layout(settings, format)
    system = system_of(settings, format)
    make = members or (mysql_fields if system.db_type is None else relational_fields)
    fields = make(settings, system, format)

    def encoder(kind: Kind | None) -> Encoder:
        return Encoder(
            fields, lambda column: system.cell(column, settings, kind), json_style.HTML_SAFE, drs.order(settings)
        )

    writer = ByKind(encoder(None), {kind: encoder(kind) for kind in system.kinds}) if system.kinds else encoder(None)
    return drs.layout(settings, format, system, writer)


def layout(settings: Settings[JsonOptions]) -> Layout:
    return written(drs.complete(settings), FORMAT.id)


FORMAT = Format(
    id="drs-json",
    title="DRS JSON",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("gaussdb", "mongodb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    settings=JsonOptions,
    layout=layout,
)
