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

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.formats.drs import dds as drs_dds
from simulator.formats.drs import envelope as drs
from simulator.formats.drs.envelope import System
from simulator.formats.drs.fields import mysql_fields, relational_fields
from simulator.formats.drs.systems import system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.model import READ, Column, Event, Kind
from simulator.sources import find
from simulator.text import json_style
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Field


class ByKind:
    """Writes changes of some kinds with an encoder of their own, since their values look different."""

    def __init__(self, rest: Encoder, others: Mapping[Kind, Encoder]) -> None:
        self._rest, self._others = rest, others

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array:
        return self._others.get(packed.changes.kind, self._rest).encode(packed, end)

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        return self._rest.encode_event(event, kind)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self._rest.text(column, array)


# The members of messages about a system's tables.
Members: TypeAlias = Callable[[Settings, System, str], tuple[Field, ...]]


def layout(settings: Settings, format: str = "drs-json", members: Members | None = None) -> Layout:
    """How the source's changes are written; `members` are those of a dialect."""
    settings = drs.complete(settings, timestamps="epoch")
    if find(settings.source).id == "mongodb":
        return drs_dds.layout(settings, format)
    system = system_of(settings, format)
    order, style = drs.order(settings), json_style.HTML_SAFE
    make = members or (mysql_fields if system.db_type is None else relational_fields)
    fields = make(settings, system, format)

    def encoder(kind: Kind | None) -> Encoder:
        return Encoder(fields, lambda column: system.cell(column, settings, kind), style, order)

    sends = drs.sends(settings, system)
    return Layout(
        fields=fields,
        cell=lambda column: system.cell(column, settings, None),
        style=style,
        routing=drs.routing(settings, format, system),
        order=order,
        writer=ByKind(encoder(None), {kind: encoder(kind) for kind in system.kinds}) if system.kinds else None,
        sends=sends,
        snapshot_ddl=READ in sends,
        previous_commit=system.previous_commit,
        statements=system.statements,
    )


FORMAT = Format(
    id="drs-json",
    title="DRS JSON",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("gaussdb", "mongodb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    options=(
        *drs.OPTIONS,
        drs.COLUMN_ORDER,
        drs.DDL_TABLE,
        *drs.MYSQL_OPTIONS,
        *drs.OTHER_OPTIONS,
        *drs.LAYOUT_OPTIONS,
    ),
    layout=layout,
)
