"""oms-default-extend-column-type: OMS, serialization method DefaultExtendColumnType (DEFAULT_WITH_SCHEMA in its API).

Spec: "Data formats", OMS Community Edition V3.3.1, "DefaultExtendColumnType-compatible JSON message format". Stands on
oms-default. Differs in:

* rows, before and after, end with `__light_type`: the name of each column's type, null columns included:
  `{"id":7,"name":null,"__light_type":{"id":{"schemaType":"INT"},"name":{"schemaType":"VARCHAR"}}}`.
"""

from __future__ import annotations

from dataclasses import replace

from simulator.formats.format import Layout, Settings
from simulator.formats.oms import default as oms_default
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.options import ExtendedOptions
from simulator.model import Table
from simulator.text.json_style import Style, quote
from simulator.wire.fields import PerTable


def light_types(columns: Columns) -> PerTable:
    def text(table: Table, style: Style) -> str:
        members = (f'{quote(c.name, style)}:{{"schemaType":{quote(columns.name(c), style)}}}' for c in table.columns)
        return '"__light_type":{' + ",".join(members) + "}"

    return PerTable(text)


def layout(settings: Settings[ExtendedOptions], columns: Columns | None = None) -> Layout:
    columns = columns or Columns(settings, bigint=settings.options.bigint_type_name)
    return oms_default.layout(settings, columns, light_types(columns))


FORMAT = replace(
    oms_default.FORMAT,
    id="oms-default-extend-column-type",
    title="OMS DefaultExtendColumnType",
    spec="Data formats, OMS Community Edition V3.3.1, DefaultExtendColumnType",
    settings=ExtendedOptions,
    layout=layout,
)
