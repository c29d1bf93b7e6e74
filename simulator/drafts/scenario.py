"""A scenario's text, with comments, from a file of CREATE TABLE statements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from simulator.drafts.schema import Schema, read_schema
from simulator.drafts.tables import Draft, drafts
from simulator.sources import find
from simulator.sources.source import Source

# A scalar that means itself without quotes, in braces, too. The language reads all scalars but null as texts.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_/][\w/.@+-]*(?:[ ()][\w()/.@+-]+)*\)?")
_NULL: Final = ("null", "Null", "NULL")


def scalar(text: str) -> str:
    """
    >>> scalar("varchar(40)"), scalar("decimal(8,2)"), scalar("null")
    ('varchar(40)', '"decimal(8,2)"', '"null"')
    """
    if _PLAIN.fullmatch(text) and text not in _NULL:
        return text
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def flow(data: Any) -> str:
    """
    >>> flow({"type": "json", "values": {"range": ["1", "9"]}})
    '{type: json, values: {range: [1, 9]}}'
    """
    if isinstance(data, dict):
        return "{" + ", ".join(f"{scalar(str(key))}: {flow(value)}" for key, value in data.items()) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(map(flow, data)) + "]"
    return scalar(str(data))


def comment(text: str, indent: str) -> str:
    """A comment of one line; names in it may have hold line breaks."""
    return f"{indent}# {' '.join(text.split())}"


def draft(path: str, source: str | None = None) -> str:
    """The scenario of a dump's tables in YAML. `source` is what `--source` says. Raises UsageError, ScenarioError."""
    schema = read_schema(path, source)
    return "\n".join(_lines(schema)) + "\n"


def _lines(schema: Schema) -> Iterator[str]:
    tables, left_out = drafts(schema)
    yield comment(f"The tables of {Path(schema.file).name}, with values guessed from names and types of columns.", "")
    yield "# `cdcsim check` tells what will happen; scenarios/README.md has all that can be said."
    for note in (*schema.said, *left_out):
        yield comment(note, "")
    yield ""
    yield "# An editor that has the YAML language server completes and checks this after `cdcsim schema > schema.json`."
    yield "# yaml-language-server: $schema=schema.json"
    yield ""
    system = schema.source
    if not schema.portable:
        yield f"source: {system.id if str(find(system.id)) == str(system) else system}"
    yield f"database: {scalar(schema.database)}"
    if schema.schema not in ("", default_schema(system)):
        yield f"schema: {scalar(schema.schema)}"
    yield "transactions: {1: 70, 2..5: 30} # turns: seven in ten transactions have one"
    yield ""
    yield "tables:"
    for number, table in enumerate(tables):
        if number:
            yield ""
        yield from _table(table, schema)


def default_schema(system: Source) -> str:
    return system.table_id("x", "x").schema


def _table(table: Draft, schema: Schema) -> Iterator[str]:
    yield f"  {scalar(table.name)}:"
    for note in table.notes:
        yield comment(note, "    ")
    if table.definition.id.database != schema.database:
        yield f"    database: {scalar(table.definition.id.database)}"
    if table.definition.id.schema != schema.schema:
        yield f"    schema: {scalar(table.definition.id.schema)}"
    if table.key:
        yield f"    key: {flow(table.key[0] if len(table.key) == 1 else table.key)}"
    if table.unique:
        yield f"    unique: {flow(table.unique)}"
    yield "    columns:"
    for name, column in table.columns.items():
        if name in table.said:
            yield comment(table.said[name], "      ")
        ordered = {key: column[key] for key in ("type", "nullable", "nulls", "changes", "values") if key in column}
        if name in table.key:
            ordered.pop("nullable", None)
        yield f"      {scalar(name)}: {flow(ordered)}"
    counted = "" if table.definition.id in schema.rows else " # a guess"
    yield f"    rows: {table.rows}{counted}"
    yield f"    mix: {flow(table.mix)}"
