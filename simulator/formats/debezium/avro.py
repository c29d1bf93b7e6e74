"""debezium-avro: the records of debezium-json in Confluent's wire format, as Confluent's Avro converter writes them.

Debezium 3.6 with `io.confluent.connect.avro.AvroConverter` 7.0 (the converter's code; messages made by it). Apicurio's
converter writes the same where it is set to Confluent's format (`apicurio.registry.as-confluent=true`).

* A key or value is a zero, the id of its schema in four bytes, and the datum. Tombstones, and keys of tables without
  one, have no bytes.
* Schemas are those of Connect in Avro (`confluent/schema.py`). A table's schema changes with its columns, and so does
  its id.
* A registry (`schema.registry.url`) numbers all schemas of a run before its first message; `schema.ids` reads the
  numbers from a file of its schemas. `confluent/subjects.py` says under which subjects, in which order.
* Without either the id of a schema is the checksum (CRC-32) of its text, without its first bit: decided here.
* Names that Avro does not allow are refused, as the converter does: `schema.name.adjustment.mode=avro` and
  `field.name.adjustment.mode=avro` change them in the connector, `scrub.invalid.names=true` in the converter.
* Headers stay text and JSON: another converter makes them.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from simulator.errors import OptionError
from simulator.formats.debezium.confluent.schema import AvroSchemas
from simulator.formats.debezium.confluent.subjects import AvroSubjects
from simulator.formats.debezium.confluent.writer import AvroKeys, AvroUnwrappedWriter, AvroWriter, Frames
from simulator.formats.debezium.json import FORMAT as JSON
from simulator.formats.debezium.json import envelopes_of, layout_of
from simulator.formats.debezium.options import AvroOptions, unwrapping
from simulator.formats.format import Layout, Settings
from simulator.model import STATEMENT
from simulator.subjects.ids import Registered, SchemaIds, Subjects
from simulator.subjects.registered import USER_INFO, Origin


def layout(settings: Settings[AvroOptions]) -> Layout:
    options = settings.options
    envelopes = envelopes_of("debezium-avro", settings)
    schemas = AvroSchemas(meta_data=options.meta_data, scrub=options.scrub)
    origin = origin_of(options)
    frames = Frames(schemas, SchemaIds(origin))
    keys = AvroKeys(envelopes, frames)
    writer: AvroWriter | AvroUnwrappedWriter = AvroWriter(envelopes, keys, frames)
    if options.transforms == "unwrap":
        writer = AvroUnwrappedWriter(envelopes, keys, unwrapping(options), frames)
    subjects = Subjects(frames.ids, AvroSubjects(options, envelopes, schemas, writer.value_schema))
    made = layout_of(envelopes, writer)
    assert made.sends is not None
    # ids are asked for before the first message, and a stream tells its tables, not whether a log has messages
    sends = made.sends - {STATEMENT} if origin.is_given else made.sends
    return replace(made, sends=sends, container=Registered(origin=origin), subjects=subjects)


def origin_of(options: AvroOptions) -> Origin:
    """Origin of the ids of schemas. Raises OptionError for options that contradict each other, or have no effect."""
    if "@" in urlsplit(options.registry or "").netloc:
        raise OptionError(
            f"-f debezium-avro,schema.registry.url=…: write it without credentials; set {USER_INFO} in the environment"
            " to user:password."
        )
    if options.registry and options.ids:
        raise OptionError("-f debezium-avro,schema.ids=…: ids come from it or schema.registry.url, not from both.")
    if not options.auto_register and not options.registry:
        raise OptionError("-f debezium-avro,auto.register.schemas=false: it needs schema.registry.url.")
    return Origin(options.registry, options.auto_register, options.ids)


FORMAT = replace(
    JSON,
    id="debezium-avro",
    title="Debezium Avro",
    spec=f"{JSON.spec}; Confluent's Avro converter 7.0",
    settings=AvroOptions,
    layout=layout,
    binary=True,
)
