"""drs-json-c: Huawei Cloud DRS, "JSON-C", the variant for stream frameworks that read Canal's messages.

Spec: "Kafka Message Format" (page of 2024-03-28), section JSON-C and table 5. MySQL and TaurusDB only. Stands on
drs-json. Differs in:

* a deleted row is in `data`; `old` is null then, as for INSERT;
* timestamps are `yyyy-MM-dd HH:mm:ss`, in the zone of the source's session, without a fraction.

`old` of an update has all columns, as in drs-json. Table 5 lists no INIT: rows of the full load are INIT, or INSERT
with `init_as_insert=on` for readers that reject it. It still says what Oracle's database is (the schema): rows of other
sources, of which DRS writes none, have the members of table 5 too, if somebody insists; documents have no such members.
"""

from __future__ import annotations

from simulator.errors import NotOffered
from simulator.formats.drs import envelope as drs
from simulator.formats.drs import fields as drs_fields
from simulator.formats.drs import images as drs_images
from simulator.formats.drs import json as drs_json
from simulator.formats.drs.envelope import System
from simulator.formats.drs.options import JsonCOptions
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import by_row
from simulator.model import DDL, DELETE, READ, UPDATE
from simulator.wire.fields import Field, PerEvent


def fields(settings: drs.DrsSettings, system: System, format: str) -> tuple[Field, ...]:
    """Table 5."""
    words = {**drs_fields.WORDS, DDL: PerEvent(drs_fields.ddl_word)}
    if settings.options.init_as_insert:
        words[READ] = "INSERT"
    after, before = drs_images.images(settings, system)
    changed = {
        "type": Field("type", words),
        "data": Field("data", {**by_row(after), DELETE: before}),
        "old": Field("old", {**by_row(None), UPDATE: before}),
    }
    return tuple(changed.get(field.name, field) for field in drs_fields.common_fields(settings, system, format))


def layout(settings: Settings[JsonCOptions]) -> Layout:
    """The parent's, with members of its own. Raises NotOffered for documents: there is no layout to follow."""
    if settings.source.id == "mongodb":
        raise NotOffered("-f drs-json-c: DRS writes JSON-C of MySQL and TaurusDB only; drs-json has documents.")
    return drs_json.written(drs.complete(settings, "text"), "drs-json-c", fields)


FORMAT = Format(
    id="drs-json-c",
    title="DRS JSON-C",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("mysql",),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    settings=JsonCOptions,
    layout=layout,
)
