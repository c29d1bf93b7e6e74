"""The schema part of CloudCanal's Debezium envelope: the vendor's own shape, and Kafka Connect's.

An article of the vendor's blog (020) prints this of its own shape:

    {"fields":[{"field":"after","fields":[{"field":"column_1","isPK":true,"jdbType":4,"type":"int(11)"},…],
    "type":"struct"},…],"type":"struct"}

It does not print `source` and the scalars; decided here: they are `{"field":"op","type":"string"}` and so on. Fields
have the order of the payload's members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from simulator.formats.cloudcanal.options import DebeziumOptions
from simulator.formats.cloudcanal.routing import instance
from simulator.formats.cloudcanal.statements import subject
from simulator.formats.cloudcanal.systems import library_of
from simulator.formats.cloudcanal.types import code, expression
from simulator.formats.format import Settings
from simulator.model import ABSENT, DDL, INSERT, Kind, SchemaChange, Table
from simulator.text.json_style import Style
from simulator.wire.fields import Field, Members, json_text

# Types of the scalar members, and the exceptions of a type library; all others are strings.
TYPES: Final[Mapping[str, str]] = {
    "event_serial_no": "int64", "lsn": "int64", "ord": "int32", "pos": "int64", "redo_thread": "int32", "row": "int32",
    "server_id": "int64", "ssn": "int64", "thread": "int64", "ts_ms": "int64", "xmin": "int64",
}  # fmt: skip
LIBRARY_TYPES: Final[Mapping[str, Mapping[str, str]]] = {"postgresql": {"txId": "int64"}}


def scalar_type(name: str, settings: Settings[DebeziumOptions]) -> str:
    own = LIBRARY_TYPES.get(library_of(settings).types, {})
    return own.get(name) or TYPES.get(name, "string")


def table_schema(table: Table, payload: Sequence[Field], settings: Settings[DebeziumOptions], style: Style) -> str:
    """The schema of row messages of a table, as JSON text."""
    if settings.options.connect_schema:
        return json_text(connect(table, payload, settings), style)
    return json_text({"fields": members(payload, INSERT, table, settings), "type": "struct"}, style)


def statement_schema(
    event: SchemaChange, payload: Sequence[Field], settings: Settings[DebeziumOptions]
) -> dict[str, Any]:
    """The schema of a DDL message."""
    table = subject(event, settings)
    if settings.options.connect_schema:
        return connect(table, payload, settings, DDL)
    return {"fields": members(payload, DDL, table, settings), "type": "struct"}


def members(
    payload: Sequence[Field], kind: Kind, table: Table | None, settings: Settings[DebeziumOptions]
) -> list[dict[str, Any]]:
    """The vendor's descriptions of the members of a kind of message."""
    described: list[dict[str, Any]] = []
    for field in payload:
        value = field.on(kind)
        if value is ABSENT:
            continue
        if field.name in ("after", "before"):
            assert table is not None
            described.append({"field": field.name, "fields": columns(table, settings), "type": "struct"})
        elif isinstance(value, Members):
            inner = members(value.fields, kind, table, settings)
            described.append({"field": field.name, "fields": inner, "type": "struct"})
        else:
            struct = field.name == "tableChanges"
            described.append({"field": field.name, "type": "struct" if struct else scalar_type(field.name, settings)})
    return described


def columns(table: Table, settings: Settings[DebeziumOptions]) -> list[dict[str, Any]]:
    """The columns with the vendor's misspelt `jdbType`."""
    return [
        {
            "field": column.name,
            "isPK": column.name in table.primary_key,
            "jdbType": code(column, settings),
            "type": expression(column, settings),
        }
        for column in table.columns
    ]


def connect(
    table: Table | None, payload: Sequence[Field], settings: Settings[DebeziumOptions], kind: Kind = INSERT
) -> dict[str, Any]:
    """The members as Kafka Connect's JSON converter describes them; columns are optional strings, like their
    values."""
    name = ".".join(part for part in (instance(settings), *_names(table)) if part)
    fields: list[dict[str, Any]] = []
    for field in payload:
        value = field.on(kind)
        if value is ABSENT:
            continue
        if field.name in ("after", "before"):
            assert table is not None
            described = [{"type": "string", "optional": True, "field": column.name} for column in table.columns]
            fields.append(_struct(described, f"{name}.Value", optional=True) | {"field": field.name})
        elif isinstance(value, Members):
            fields.append(_struct(_scalars(value.fields, kind, settings), f"{name}.Source") | {"field": field.name})
        elif field.name == "tableChanges":
            fields.append(_struct(_TABLE_CHANGES, f"{name}.TableChanges", optional=True) | {"field": field.name})
        else:
            fields += _scalars([field], kind, settings)
    return _struct(fields, f"{name}.Envelope")


def _names(table: Table | None) -> tuple[str, ...]:
    return () if table is None else (table.id.database, table.id.schema, table.id.name)


def _struct(fields: Sequence[Mapping[str, Any]], name: str, *, optional: bool = False) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields), "optional": optional, "name": name}


def _scalars(fields: Sequence[Field], kind: Kind, settings: Settings[DebeziumOptions]) -> list[dict[str, Any]]:
    present = [field.name for field in fields if field.on(kind) is not ABSENT]
    return [{"type": scalar_type(name, settings), "optional": True, "field": name} for name in present]


def _optional(type: str, field: str) -> dict[str, Any]:
    return {"type": type, "optional": True, "field": field}


_COLUMN: Final = {
    "type": "struct",
    "fields": [
        _optional("int32", "jdbcType"),
        _optional("string", "name"),
        _optional("int32", "position"),
        _optional("string", "typeExpression"),
        _optional("string", "typeName"),
    ],
    "optional": True,
}
_KEYS: Final = {"type": "string", "optional": True}
_TABLE: Final = [
    {"type": "array", "items": _COLUMN, "optional": True, "field": "columns"},
    {"type": "array", "items": _KEYS, "optional": True, "field": "primaryKeyColumnNames"},
]
_TABLE_CHANGES: Final = [
    {"type": "struct", "fields": _TABLE, "optional": True, "field": "table"},
    _optional("string", "type"),
]
