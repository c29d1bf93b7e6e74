"""Tables for each type of the source (`each: type`), created before tables are read.

    tables:
      "type_{type}":
        each: type
        columns: {id: int64, value: "{type}"}

is a table `type_number_10_2` with a column of type NUMBER(10,2), and so on through the types of the source's corpus.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from simulator.sources.source import Source
from simulator.stream.scenario.language.tables import TYPE_PLACEHOLDER, Native, TableSpec
from simulator.stream.scenario.loader import Loaded

# The longest name of a type inside a table's name.
MOST_LETTERS: Final = 40


def has_some(loaded: Loaded) -> bool:
    """Whether the scenario has tables for each type."""
    return any(table.each for table in loaded.spec.tables.values())


def expand(loaded: Loaded, source: Source) -> tuple[Loaded, dict[str, str]]:
    """The scenario with a table per type of the source, and the type by name of these tables."""
    if not has_some(loaded):
        return loaded, {}
    by_name: dict[str, TableSpec] = {}
    types: dict[str, str] = {}
    for name, spec in loaded.spec.tables.items():
        if not spec.each:
            by_name[name] = spec
            continue
        for text in source.corpus_types:
            copied = _name(name, text, by_name)
            by_name[copied], types[copied] = _of_type(spec, text), text
    return replace(loaded, spec=loaded.spec.model_copy(update={"tables": by_name})), types


def _of_type(spec: TableSpec, text: str) -> TableSpec:
    columns = {
        name: column.model_copy(update={"type": Native(text)}) if column.type == TYPE_PLACEHOLDER else column
        for name, column in spec.columns.items()
    }
    return spec.model_copy(update={"columns": columns, "each": None})


def _name(pattern: str, text: str, tables: dict[str, TableSpec]) -> str:
    """`type_{type}` for VARCHAR2(40 CHAR): `type_varchar2_40_char`, with a number appended if that name is taken."""
    word = re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")[:MOST_LETTERS].strip("_")
    name, number = pattern.replace(TYPE_PLACEHOLDER, word), 1
    while name in tables:
        number += 1
        name = pattern.replace(TYPE_PLACEHOLDER, f"{word}_{number}")
    return name
