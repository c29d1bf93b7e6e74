"""oms-default-extend-column-type: OMS, serialization method DefaultExtendColumnType (DEFAULT_WITH_SCHEMA in its API).

Spec: "Data formats", OMS Community Edition V3.3.1, "DefaultExtendColumnType-compatible JSON message format". Stands on
oms-default. Differs in:

* rows, before and after, end with `__light_type`: the name of each column's type, null columns included:
  `{"id":7,"name":null,"__light_type":{"id":{"schemaType":"INT"},"name":{"schemaType":"VARCHAR"}}}`.
"""

from __future__ import annotations

from dataclasses import replace

from simulator.formats.format import Layout, Settings
from simulator.formats.members import per_column
from simulator.formats.oms import default as oms_default
from simulator.formats.oms.layout import columns_of
from simulator.formats.oms.options import ExtendedOptions
from simulator.formats.oms.types.columns import Columns
from simulator.wire.fields import PerTable


def light_types(columns: Columns) -> PerTable:
    types = per_column(lambda column: {"schemaType": columns.name(column)})
    return PerTable(lambda table, style: f'"__light_type":{types.of(table, style)}')


def layout(settings: Settings[ExtendedOptions], columns: Columns | None = None) -> Layout:
    columns = columns or columns_of(settings, bigint=settings.options.bigint_type_name)
    return oms_default.layout(settings, columns, light_types(columns))


FORMAT = replace(
    oms_default.FORMAT,
    id="oms-default-extend-column-type",
    title="OMS DefaultExtendColumnType",
    spec="Data formats, OMS Community Edition V3.3.1, DefaultExtendColumnType",
    settings=ExtendedOptions,
    layout=layout,
)
