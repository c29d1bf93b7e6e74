"""drs-json-c: Huawei Cloud DRS, "JSON-C", the variant for stream frameworks that read Canal's messages.

Spec: "Kafka Message Format" (page of 2024-03-28), section JSON-C and table 5. MySQL and TaurusDB only. Stands on
drs-json. Differs in:

* a deleted row is in `data`; `old` is null then, as for INSERT;
* timestamps are `yyyy-MM-dd HH:mm:ss`, in the zone of the source's session, without a fraction.

`old` of an update has all columns, as in drs-json. Table 5 lists no INIT: rows of the full load are INIT, or INSERT
with `init_as_insert=on` for readers that reject it.
"""

from __future__ import annotations

from simulator.errors import NotOffered
from simulator.formats import drs, drs_fields, drs_json
from simulator.formats.canal_json import by_row, switch
from simulator.model import DDL, DELETE, READ, UPDATE
from simulator.sources import find, mysql
from simulator.wire.fields import Field, PerEvent, Rows
from simulator.wire.format import Format, Layout, Option, Settings


def layout(settings: Settings) -> Layout:
    """The parent's, with two members changed. Raises NotOffered for what is no MySQL: there is no layout to follow."""
    if find(settings.source).types is not mysql:
        raise NotOffered("-f drs-json-c: DRS writes JSON-C of MySQL and TaurusDB only; drs-json has the other sources.")
    words = {**drs_fields.WORDS, DDL: PerEvent(drs_fields.ddl_word)}
    if settings["init_as_insert"]:
        words[READ] = "INSERT"
    return drs_json.layout(
        drs.complete(settings, timestamps="text"),
        "drs-json-c",
        changes=(
            Field("type", words),
            Field("data", {**by_row(Rows("after")), DELETE: Rows("before")}),
            Field("old", {**by_row(None), UPDATE: Rows("before")}),
        ),
    )


FORMAT = Format(
    id="drs-json-c",
    title="DRS JSON-C",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("mysql",),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    options=(
        *drs.OPTIONS,
        drs.COLUMN_ORDER,
        drs.DDL_TABLE,
        *drs.MYSQL_OPTIONS,
        Option("init_as_insert", "off", "on: rows of the full load are INSERT, for open-source readers.", parse=switch),
    ),
    layout=layout,
)
