"""drs-json-c: Huawei Cloud DRS, "JSON-C", the variant for stream frameworks that read Canal's messages.

Spec: "Kafka Message Format" (page of 2024-03-28), section JSON-C and table 5; of MySQL and TaurusDB only. Stands on
drs-json. Differs in:

* a deleted row is in `data`; `old` is null then, as for INSERT;
* timestamps are `yyyy-MM-dd HH:mm:ss` in the time zone of the source's session, without a fraction.

`old` of an update has all columns, as in drs-json. Table 5 does not list INIT: rows of the full load are INIT here, or
INSERT (`init_as_insert=on`) for readers that reject it. Table 5 still says that Oracle's database is its schema; with
--allow-undocumented, rows of other sources have its members too. Documents have none.
"""

from __future__ import annotations

from simulator.formats.drs import task
from simulator.formats.drs.fields import WORDS, ddl_word, images, table_5
from simulator.formats.drs.json import tables
from simulator.formats.drs.options import JsonCOptions
from simulator.formats.drs.systems import tables_of
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.known import SECONDS
from simulator.formats.members import by_row
from simulator.model import DDL, DELETE, READ, UPDATE
from simulator.wire.fields import Field, PerEvent, derived


def layout(settings: Settings[JsonCOptions]) -> Layout:
    """Raises NotOffered for documents."""
    options, system = settings.options, tables_of(settings, FORMAT.id)
    words = {**WORDS, DDL: PerEvent(ddl_word)}
    if options.init_as_insert:
        words[READ] = "INSERT"
    after, before = images(system, options)
    fields = derived(
        table_5(system, options, FORMAT.id),
        [
            Field("type", words),
            Field("data", {**by_row(after), DELETE: before}),
            Field("old", {**by_row(None), UPDATE: before}),
        ],
    )
    return tables(settings, FORMAT.id, system, fields, system.json_c_cell or system.cell, unit_us=SECONDS)


FORMAT = Format(
    id="drs-json-c",
    title="DRS JSON-C",
    product=task.PRODUCT,
    spec=task.SPEC,
    sources=("mysql",),
    brokers=("kafka",),
    sends=task.SENDS,
    silent=task.SILENT,
    settings=JsonCOptions,
    layout=layout,
)
