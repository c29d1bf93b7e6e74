"""Avro schemas of Connect's schemas (`AvroData.fromConnectSchema` of Confluent's converter, 7.0), as the converter
registers them: Avro's own text, without blanks.

| Connect | Avro |
| --- | --- |
| int8, int16, int32 | int, the first two with `connect.type` |
| int64, float, double, boolean, string, bytes | long, float, double, boolean, string, bytes |
| struct | record: name and namespace are the schema's name cut at its last dot |
| array; map with text keys | array; map |
| optional | a union with null first; null last if the schema has a default |
| doc, version, parameters, default, name | attributes `connect.doc` and so on, in this order (`connect.meta.data`) |
| Decimal of Connect | `logicalType` decimal, with scale and precision |
| Date, Time, Timestamp of Connect | `logicalType` date, time-millis, timestamp-millis |

A record that stands a second time in a schema is written by its name.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote_plus

import numpy as np

from simulator.errors import NotOffered
from simulator.formats.debezium.schema import Schema
from simulator.text.java.numbers import double_string
from simulator.text.json_style import JACKSON, quote

_PRIMITIVES: Final = {
    "int8": "int", "int16": "int", "int32": "int", "int64": "long", "float": "float", "double": "double",
    "boolean": "boolean", "string": "string", "bytes": "bytes",
}  # fmt: skip
_CONNECT: Final = "org.apache.kafka.connect.data."
_DECIMAL: Final = f"{_CONNECT}Decimal"
_LOGICAL: Final = {
    f"{_CONNECT}Date": "date",
    f"{_CONNECT}Time": "time-millis",
    f"{_CONNECT}Timestamp": "timestamp-millis",
}
# The converter's precision of a decimal without one.
_PRECISION: Final = 64
_NAMESPACE: Final = "io.confluent.connect.avro"
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def allowed(name: str) -> bool:
    """Whether Avro's library for Java takes a name: letters, digits and _, of any script below U+10000.

    >>> allowed("编号"), allowed("two words"), allowed("1st"), allowed("_1")
    (True, False, False, True)
    """
    letters = all(ord(c) < 0x10000 and (c == "_" or c.isalpha() or c.isdecimal()) for c in name)
    return letters and bool(name) and not name[0].isdecimal()


def scrubbed(name: str) -> str:
    """A name as `scrub.invalid.names` makes it: URL-encoded, and what Avro still does not allow becomes _.

    >>> scrubbed("a b-c"), scrubbed("1st"), scrubbed("größe"), scrubbed("ok")
    ('a_b_c', 'x1st', 'gr_C3_B6_C3_9Fe', 'ok')
    """
    if not name or _PLAIN.fullmatch(name):
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    return re.sub(r"[^A-Za-z0-9_]", "_", f"x{encoded}" if encoded[0].isdigit() else encoded)


@dataclass(frozen=True)
class AvroSchemas:
    """The converter's settings for schemas: `meta_data` writes attributes for Connect, `scrub` makes names valid."""

    meta_data: bool = True
    scrub: bool = False

    def text(self, schema: Schema) -> str:
        """The schema's text. Raises NotOffered for a name that Avro does not allow."""
        return _Text(self).of(schema, "")


@dataclass
class _Text:
    """Text of a schema in progress, with the full names of the records so far."""

    settings: AvroSchemas
    known: set[str] = field(default_factory=set)
    unnamed: int = 0

    def of(self, schema: Schema, namespace: str) -> str:
        """A schema inside a namespace."""
        if not schema.optional:
            return self._required(schema, namespace)
        text = self._required(replace(schema, optional=False), namespace)
        return f'[{text},"null"]' if schema.default else f'["null",{text}]'

    def _required(self, schema: Schema, namespace: str) -> str:
        match schema.type:
            case "struct":
                return self._record(schema, namespace)
            case "array":
                assert schema.items is not None
                return _object(
                    {"type": '"array"', "items": self.of(schema.items, namespace), **self._attributes(schema)}
                )
            case "map":
                assert schema.values is not None
                return _object(
                    {"type": '"map"', "values": self.of(schema.values, namespace), **self._attributes(schema)}
                )
        type, attributes = f'"{_PRIMITIVES[schema.type]}"', self._attributes(schema)
        return _object({"type": type, **attributes}) if attributes else type

    def _record(self, schema: Schema, outer: str) -> str:
        namespace, name = self._name(schema)
        full = f"{namespace}.{name}" if namespace else name
        if full in self.known:
            return _quoted(name if namespace == outer else full)
        self.known.add(full)
        members = {"type": '"record"', "name": _quoted(name)}
        if namespace != outer:
            members["namespace"] = _quoted(namespace)
        members["fields"] = "[" + ",".join(self._field(n, s, namespace) for n, s in schema.fields) + "]"
        return _object(members | self._attributes(schema))

    def _name(self, schema: Schema) -> tuple[str, str]:
        if not schema.name:
            self.unnamed += 1
            return _NAMESPACE, f"ConnectDefault{self.unnamed if self.unnamed > 1 else ''}"
        parts = schema.name.split(".")
        if self.settings.scrub:
            parts = [scrubbed(part) for part in parts]
        # Avro's library does not look at the namespace
        self._check(parts[-1], f"the schema {schema.name}", "schema.name.adjustment.mode=avro")
        return ".".join(parts[:-1]), parts[-1]

    @staticmethod
    def _check(name: str, where: str, instead: str) -> None:
        if not allowed(name):
            raise NotOffered(
                f"-f debezium-avro: {where} has the name {name!r}, which Avro does not allow; set {instead} or"
                " scrub.invalid.names=true."
            )

    def _field(self, name: str, schema: Schema, namespace: str) -> str:
        if self.settings.scrub:
            name = scrubbed(name)
        self._check(name, "a column", "field.name.adjustment.mode=avro")
        members = {"name": _quoted(name), "type": self.of(schema, namespace)}
        if schema.default:
            members["default"] = self.default(schema)
            if schema.type == "float":  # Avro's library keeps it as a double
                members["default"] = double_string(float(np.float32(schema.default)))
        elif schema.optional:
            members["default"] = "null"
        return _object(members)

    def _attributes(self, schema: Schema) -> dict[str, str]:
        parameters, out = dict(schema.parameters), dict[str, str]()
        decimal = schema.name == _DECIMAL
        if decimal:
            out["scale"] = parameters["scale"]
            out["precision"] = parameters.get("connect.decimal.precision", str(_PRECISION))
        if self.settings.meta_data:
            out |= self._meta_data(schema)
        if decimal:
            out["logicalType"] = '"decimal"'
        elif schema.name in _LOGICAL:
            out["logicalType"] = f'"{_LOGICAL[schema.name]}"'
        return out

    def _meta_data(self, schema: Schema) -> Iterator[tuple[str, str]]:
        if schema.doc:
            yield "connect.doc", _quoted(schema.doc)
        if schema.version is not None:
            yield "connect.version", str(schema.version)
        if schema.parameters:
            yield "connect.parameters", _object({key: _quoted(value) for key, value in schema.parameters})
        if schema.default:
            yield "connect.default", self.default(schema)
        if schema.name:
            yield "connect.name", _quoted(schema.name)
        if schema.type in ("int8", "int16"):
            yield "connect.type", _quoted(schema.type)

    @staticmethod
    def default(schema: Schema) -> str:
        """A default as Avro has it: bytes are a text with a character for each."""
        if schema.type == "bytes":
            return _quoted(base64.b64decode(json.loads(schema.default)).decode("latin-1"))
        return _quoted(json.loads(schema.default)) if schema.type == "string" else schema.default


def _quoted(text: str) -> str:
    return quote(text, JACKSON)


def _object(members: dict[str, Any]) -> str:
    return "{" + ",".join(f"{_quoted(name)}:{text}" for name, text in members.items()) + "}"
