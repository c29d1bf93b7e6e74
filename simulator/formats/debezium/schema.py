"""Schemas of Kafka Connect, and their JSON (`JsonConverter.asJsonSchema`).

Order of the members: type, then fields, items, or keys and values, optional, name, version, doc, parameters, default,
and field if it is a member of a struct. Only type and optional are always present.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from simulator.text.json_style import JACKSON_BYTES, quote


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema: `default` is the JSON text of its default, "" without one; `values` belong to a map, whose keys are
    strings."""

    type: str
    name: str = ""
    version: int | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, Schema], ...] = ()
    items: Schema | None = None
    values: Schema | None = None
    doc: str = ""
    optional: bool = False
    default: str = ""

    def json(self, field: str | None = None) -> str:
        """The schema as JSON; with `field`, as a field of a struct.

        >>> print(Schema("int32", "io.debezium.time.Date", 1).json("day"))
        {"type":"int32","optional":false,"name":"io.debezium.time.Date","version":1,"field":"day"}
        >>> print(Schema("struct").json())
        {"type":"struct","fields":[],"optional":false}
        """
        members = {"type": quote(self.type, JACKSON_BYTES)}
        if self.fields or self.type == "struct":
            members["fields"] = "[" + ",".join(schema.json(name) for name, schema in self.fields) + "]"
        if self.items is not None:
            members["items"] = self.items.json()
        if self.values is not None:
            members |= {"keys": STRING.json(), "values": self.values.json()}
        members["optional"] = "true" if self.optional else "false"
        if self.name:
            members["name"] = quote(self.name, JACKSON_BYTES)
        if self.version is not None:
            members["version"] = str(self.version)
        if self.doc:
            members["doc"] = quote(self.doc, JACKSON_BYTES)
        if self.parameters:
            pairs = (f"{quote(key, JACKSON_BYTES)}:{quote(value, JACKSON_BYTES)}" for key, value in self.parameters)
            members["parameters"] = "{" + ",".join(pairs) + "}"
        if self.default:
            members["default"] = self.default
        if field is not None:
            members["field"] = quote(field, JACKSON_BYTES)
        return "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"


STRING: Final = Schema("string")
BOOLEAN: Final = Schema("boolean")
BYTES: Final = Schema("bytes")
INT8, INT16, INT32, INT64 = (Schema(f"int{bits}") for bits in (8, 16, 32, 64))
FLOAT, DOUBLE = Schema("float"), Schema("double")


def optional(schema: Schema) -> Schema:
    return replace(schema, optional=True)


def struct(
    fields: Mapping[str, Schema] | Iterable[tuple[str, Schema]], name: str = "", version: int | None = None
) -> Schema:
    """A required struct."""
    pairs = fields.items() if isinstance(fields, Mapping) else fields
    return Schema("struct", name, version, fields=tuple(pairs))


def array(items: Schema) -> Schema:
    return Schema("array", items=items)


def semantic(base: Schema, name: str, parameters: Mapping[str, str] | None = None) -> Schema:
    """A semantic type of Debezium or Connect, based on a plain type; all have version 1."""
    return replace(base, name=name, version=1, parameters=tuple((parameters or {}).items()))


def decimal(precision: int | None, scale: int) -> Schema:
    """Connect's Decimal: the unscaled number in bytes."""
    parameters = {"scale": str(scale)}
    if precision is not None:
        parameters["connect.decimal.precision"] = str(precision)
    return semantic(BYTES, "org.apache.kafka.connect.data.Decimal", parameters)


def with_envelope(schema: Schema, payload: str) -> str:
    """A converted value with its schema, as with `schemas.enable`."""
    return f'{{"schema":{schema.json()},"payload":{payload}}}'


DATE: Final = semantic(INT32, "io.debezium.time.Date")
TIME: Final = semantic(INT32, "io.debezium.time.Time")
MICRO_TIME: Final = semantic(INT64, "io.debezium.time.MicroTime")
NANO_TIME: Final = semantic(INT64, "io.debezium.time.NanoTime")
TIMESTAMP: Final = semantic(INT64, "io.debezium.time.Timestamp")
MICRO_TIMESTAMP: Final = semantic(INT64, "io.debezium.time.MicroTimestamp")
NANO_TIMESTAMP: Final = semantic(INT64, "io.debezium.time.NanoTimestamp")
ISO_DATE: Final = semantic(STRING, "io.debezium.time.IsoDate")
ISO_TIME: Final = semantic(STRING, "io.debezium.time.IsoTime")
ISO_TIMESTAMP: Final = semantic(STRING, "io.debezium.time.IsoTimestamp")
CONNECT_DATE: Final = semantic(INT32, "org.apache.kafka.connect.data.Date")
CONNECT_TIME: Final = semantic(INT32, "org.apache.kafka.connect.data.Time")
CONNECT_TIMESTAMP: Final = semantic(INT64, "org.apache.kafka.connect.data.Timestamp")
ZONED_TIMESTAMP: Final = semantic(STRING, "io.debezium.time.ZonedTimestamp")
ZONED_TIME: Final = semantic(STRING, "io.debezium.time.ZonedTime")
YEAR: Final = semantic(INT32, "io.debezium.time.Year")
MICRO_DURATION: Final = semantic(INT64, "io.debezium.time.MicroDuration")
INTERVAL: Final = semantic(STRING, "io.debezium.time.Interval")
JSON: Final = semantic(STRING, "io.debezium.data.Json")
XML: Final = semantic(STRING, "io.debezium.data.Xml")
UUID: Final = semantic(STRING, "io.debezium.data.Uuid")
POINT: Final = replace(
    struct(
        {"x": DOUBLE, "y": DOUBLE, "wkb": optional(BYTES), "srid": optional(INT32)},
        "io.debezium.data.geometry.Point",
        1,
    ),
    doc="Geometry (POINT)",
)
# Optional whatever the column (`Geometry.builder`).
GEOMETRY: Final = replace(
    struct({"wkb": BYTES, "srid": optional(INT32)}, "io.debezium.data.geometry.Geometry", 1),
    doc="Geometry",
    optional=True,
)
VARIABLE_SCALE: Final = replace(
    struct({"scale": INT32, "value": BYTES}, "io.debezium.data.VariableScaleDecimal", 1), doc="Variable scaled decimal"
)


def bits(length: int) -> Schema:
    return semantic(BYTES, "io.debezium.data.Bits", {"length": str(length)})


def labels(name: str, allowed: Iterable[str]) -> Schema:
    """Enum or EnumSet."""
    return semantic(STRING, f"io.debezium.data.{name}", {"allowed": ",".join(allowed)})
