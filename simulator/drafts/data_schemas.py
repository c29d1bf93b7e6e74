"""Tables from an Avro schema or a JSON Schema: a column of a portable type for each field.

Records, lists and maps inside of a record become JSON. Neither language has keys: a field called id is the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from simulator.drafts.definitions import Definitions
from simulator.errors import ScenarioError, UsageError
from simulator.model import ColumnType, TableId
from simulator.sources.source import Source
from simulator.sql.catalog.definitions import Definition, Field, Key

TEXT: Final = "string(255)"
MOST_DIGITS: Final = 38

_AVRO: Final = {
    "boolean": "bool", "int": "int32", "long": "int64", "float": "float32", "double": "float64", "string": TEXT,
    "bytes": "bytes(255)", "record": "json", "array": "json", "map": "json",
}  # fmt: skip
# Apache Avro specification, "Logical Types"; the names of Kafka Connect's and Debezium's types.
_LOGICAL: Final = {
    "uuid": "uuid", "date": "date", "time-millis": "time(3)", "time-micros": "time(6)",
    "timestamp-millis": "timestamptz(3)", "timestamp-micros": "timestamptz(6)", "timestamp-nanos": "timestamptz(6)",
    "local-timestamp-millis": "timestamp(3)", "local-timestamp-micros": "timestamp(6)",
    "local-timestamp-nanos": "timestamp(6)",
    "org.apache.kafka.connect.data.Date": "date", "org.apache.kafka.connect.data.Time": "time(3)",
    "org.apache.kafka.connect.data.Timestamp": "timestamp(3)",
    "io.debezium.time.Date": "date", "io.debezium.time.Time": "time(3)", "io.debezium.time.MicroTime": "time(6)",
    "io.debezium.time.Timestamp": "timestamp(3)", "io.debezium.time.MicroTimestamp": "timestamp(6)",
    "io.debezium.time.ZonedTimestamp": "timestamptz(6)", "io.debezium.data.Json": "json",
    "io.debezium.data.Uuid": "uuid",
}  # fmt: skip
# JSON Schema validation, "Defined Formats", and OpenAPI's.
_FORMATS: Final = {
    "date-time": "timestamptz(3)", "date": "date", "time": "time(0)", "uuid": "uuid", "int32": "int32",
    "int64": "int64", "float": "float32", "double": "float64", "byte": "bytes(255)", "binary": "bytes(255)",
}  # fmt: skip
_JSON: Final = {
    "boolean": "bool", "integer": "int64", "number": "float64", "string": TEXT, "object": "json", "array": "json",
}  # fmt: skip
_LONGEST_STRING: Final = 4000


@dataclass(frozen=True)
class Member:
    """A field of a record: its portable type, None for one that no column holds."""

    name: str
    type: str | None
    nullable: bool


def is_data_schema(text: str) -> bool:
    """Whether a file holds JSON, and so no statements."""
    return text.lstrip()[:1] in ("{", "[") and not text.lstrip().startswith("[dbo]")


def read_data_schema(path: str, text: str, source: Source, database: str, *, portable: bool) -> Definitions:
    """Tables of a file. Types are `spelled` as portable ones, or are the source's. Raises ScenarioError."""
    try:
        data = orjson.loads(text.encode("utf-8", "surrogateescape"))
    except orjson.JSONDecodeError as error:
        raise ScenarioError(path, error.lineno, "", f"this is neither SQL nor JSON ({error.msg}).") from None
    records = list(_avro_records(data) if _is_avro(data) else _json_records(data, database))
    if not records:
        raise ScenarioError(path, None, "", "there is no record of an Avro schema, and no object of a JSON schema.")
    tables, notes, choices = [], {}, {}
    for name, members in records:
        id = source.table_id(database, name)
        id = TableId(database, name, id.schema)
        fields, remarks = [], []
        for member in members:
            type = None if member.type is None else _type(source, member.type, portable=portable)
            if type is None:
                remarks.append(f"The column {member.name} is left out: no column has its type.")
            else:
                fields.append(Field(member.name, type, member.nullable))
                if type.labels:
                    choices[id, member.name] = type.labels
        key = _key(name, members)
        if key is not None:
            fields = [Field(field.name, field.type, field.nullable and field.name != key) for field in fields]
            remarks.append(f"The key is a guess: {key}.")
        keys = () if key is None else (Key("PRIMARY", "primary", ((key, None),)),)
        if fields:
            tables.append(Definition(id, tuple(fields), keys))
            notes[id] = tuple(remarks)
    if not tables:
        raise ScenarioError(path, None, "", "no field of it has a type that a column has.")
    return Definitions(tuple(tables), notes, choices, ())


def _type(source: Source, text: str, *, portable: bool) -> ColumnType | None:
    try:
        return replace(source.from_portable(text), spelled=text if portable else "")
    except UsageError:
        return None


def _key(name: str, members: Sequence[Member]) -> str | None:
    """The first field that is called like an id of the record, and may be a key."""
    ids = ("id", "_id", "uuid", f"{name.lower()}_id", f"{name.lower()}id")
    kinds = ("int32", "int64", "uuid")
    fits = [member for member in members if member.type in kinds or str(member.type).startswith("string")]
    return next((member.name for called in ids for member in fits if member.name.lower() == called), None)


def _enum(labels: Sequence[str]) -> str:
    return "enum(" + ",".join("'" + label.replace("'", "''") + "'" for label in labels) + ")"


# ---------------------------------------------------------------------------------------------------------------- Avro


def _is_avro(data: Any) -> bool:
    return isinstance(data, list) or (isinstance(data, dict) and data.get("type") == "record")


def _avro_records(data: Any) -> Iterator[tuple[str, list[Member]]]:
    named: dict[str, Any] = {}
    _gather(data, named, "")
    for change in data if isinstance(data, list) else [data]:
        if not isinstance(change, dict) or change.get("type") != "record":
            continue
        record = change
        fields = {field["name"]: field for field in _fields(record)}
        if {"before", "after"} <= fields.keys():  # a change: its rows
            record = next((branch for branch in _branches(fields["before"]["type"], named) if branch != "null"), record)
            name = str(change.get("namespace", "")).rpartition(".")[2] or str(record.get("name", ""))
        else:
            name = str(record.get("name", "")).rpartition(".")[2]
        yield name, [_avro_member(field, named) for field in _fields(record)]


def _fields(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = record.get("fields")
    return (
        [field for field in fields if isinstance(field, dict) and "name" in field and "type" in field] if fields else []
    )


def _gather(data: Any, named: dict[str, Any], namespace: str) -> None:
    """All named types, by their names with and without the namespace."""
    if isinstance(data, list):
        for branch in data:
            _gather(branch, named, namespace)
    elif isinstance(data, dict):
        if data.get("type") in ("record", "enum", "fixed", "error") and "name" in data:
            namespace = str(data.get("namespace", namespace))
            named[str(data["name"])] = named[f"{namespace}.{data['name']}"] = data
        for inner in ("type", "items", "values"):
            if isinstance(data.get(inner), (dict, list)):
                _gather(data[inner], named, namespace)
        for field in _fields(data):
            _gather(field, named, namespace)


def _branches(type: Any, named: Mapping[str, Any]) -> list[Any]:
    """The types of a union, or the one type, with the definitions of names."""
    return [
        named.get(branch, branch) if isinstance(branch, str) else branch
        for branch in (type if isinstance(type, list) else [type])
    ]


def _avro_member(field: Mapping[str, Any], named: Mapping[str, Any]) -> Member:
    branches = _branches(field["type"], named)
    value_branches = [branch for branch in branches if branch != "null"]
    text = _avro_type(value_branches[0], named) if len(value_branches) == 1 else "json" if value_branches else None
    return Member(str(field["name"]), text, len(value_branches) < len(branches))


def _avro_type(type: Any, named: Mapping[str, Any]) -> str | None:
    if isinstance(type, str):
        return _AVRO.get(type)
    if not isinstance(type, dict):
        return None
    logical = type.get("logicalType") or type.get("connect.name")
    if logical in ("decimal", "org.apache.kafka.connect.data.Decimal") and isinstance(type.get("precision"), int):
        return f"decimal({min(type['precision'], MOST_DIGITS)},{type.get('scale', 0)})"
    if logical == "io.debezium.data.Enum" and (allowed := type.get("connect.parameters", {}).get("allowed")):
        return _enum(allowed.split(","))
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    kind = type.get("type")
    if kind == "enum":
        return _enum(type.get("symbols", []))
    if kind == "fixed":
        return f"bytes({type.get('size', 1)})"
    if isinstance(kind, dict) or kind in named:
        return _avro_type(named.get(kind, kind) if isinstance(kind, str) else kind, named)
    return _AVRO.get(str(kind))


# --------------------------------------------------------------------------------------------------------- JSON Schema


def _json_records(data: Any, name: str) -> Iterator[tuple[str, list[Member]]]:
    """The schema's own object, or else the objects among its definitions."""
    own = _resolved(data, data)
    if own.get("type") == "array":
        own = _resolved(own.get("items"), data)
    if _properties(own, data):
        yield str(own.get("title") or name), _json_members(own, data)
        return
    schemas = data.get("components", {}).get("schemas", {}) if isinstance(data, dict) else {}  # OpenAPI's
    for schemas_by_title in (own.get("$defs"), own.get("definitions"), schemas):
        for title, inner in schemas_by_title.items() if isinstance(schemas_by_title, dict) else ():
            resolved = _resolved(inner, data)
            if _properties(resolved, data):
                yield title, _json_members(resolved, data)


def _resolved(schema: Any, data: Any) -> dict[str, Any]:
    """A schema, or the definition in the file that it refers to."""
    for _ in range(10):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        schema = data
        for part in filter(None, reference[1:].split("/")):
            part = part.replace("~1", "/").replace("~0", "~")
            schema = schema.get(part) if isinstance(schema, dict) else None
    return {}


def _parts(schema: Mapping[str, Any], data: Any) -> list[dict[str, Any]]:
    """A schema, and what it is made of."""
    return [dict(schema), *(_resolved(part, data) for part in schema.get("allOf", ()))]


def _properties(schema: Mapping[str, Any], data: Any) -> dict[str, Any]:
    return {name: inner for part in _parts(schema, data) for name, inner in part.get("properties", {}).items()}


def _json_members(schema: Mapping[str, Any], data: Any) -> list[Member]:
    required = {name for part in _parts(schema, data) for name in part.get("required", ())}
    members = []
    for name, given in _properties(schema, data).items():
        inner = _resolved(given, data)
        branches = [_resolved(branch, data) for word in ("anyOf", "oneOf") for branch in inner.get(word, ())] or [inner]
        kinds = [kind for branch in branches for kind in _kinds(branch)]
        value_branches = [(branch, kind) for branch in branches for kind in _kinds(branch) if kind != "null"]
        nullable = name not in required or "null" in kinds or any(branch.get("nullable") is True for branch in branches)
        text = (
            _json_type(*value_branches[0])
            if len({kind for _, kind in value_branches}) == 1
            else "json"
            if value_branches
            else None
        )
        members.append(Member(str(name), text, nullable))
    return members


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """Type names of a schema: those of `type`, else those of its values."""
    kinds = schema.get("type")
    if kinds is None:
        values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
        by_type = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
        names = list(dict.fromkeys(by_type.get(type(value), "object") for value in values))
        return names or ["object"]
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else [str(kinds)]


def _json_type(schema: Mapping[str, Any], kind: str) -> str | None:
    labels = [value for value in schema.get("enum", ()) if value is not None]
    if kind == "string" and labels:
        return _enum(labels)
    if kind == "string" and schema.get("contentEncoding"):
        return "bytes(255)"
    if kind == "number" and isinstance(step := schema.get("multipleOf"), float):
        digits = len(f"{step:.10f}".rstrip("0").partition(".")[2])
        return f"decimal(18,{digits})"
    if kind == "integer" and "minimum" in schema and "maximum" in schema and "format" not in schema:
        return "int32" if schema["minimum"] >= -(2**31) and schema["maximum"] < 2**31 else "int64"
    if schema.get("format") in _FORMATS and kind in ("string", "integer", "number"):
        return _FORMATS[schema["format"]]
    if kind == "string" and isinstance(length := schema.get("maxLength"), int):
        return f"string({max(length, 1)})" if length <= _LONGEST_STRING else "text"
    return _JSON.get(kind)
