"""Tables for each type of the source (`each: type`), created before anything else looks at the tables.

    tables:
      "type_{type}":
        each: type
        columns: {id: int64, value: "{type}"}

is a table `type_number_10_2` with a column of type NUMBER(10,2), and so on through the types of the source's corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from simulator.model import Table
from simulator.sources.source import Source
from simulator.stream.scenario import tables
from simulator.stream.scenario.language.tables import TYPE_PLACEHOLDER, Native, TableSpec
from simulator.stream.scenario.loader import Loaded

# The longest name of a type inside a table's name.
MOST_LETTERS: Final = 40


def has_some(loaded: Loaded) -> bool:
    """Whether the scenario has tables for each type."""
    return any(table.each for table in loaded.spec.tables.values())


def expand(
    loaded: Loaded, source: Source, renders: Callable[[Table], bool] | None = None
) -> tuple[Loaded, tuple[str, ...]]:
    """The scenario with its tables for each type of the source, and the types that are left out.

    `renders` says whether a table can be written at all; those that cannot are left out. Raises ScenarioError when none
    is left.
    """
    if not has_some(loaded):
        return loaded, ()
    by_name: dict[str, TableSpec] = {}
    left_out: dict[str, None] = {}
    for name, spec in loaded.spec.tables.items():
        if not spec.each:
            by_name[name] = spec
            continue
        count = 0
        for text in source.corpus_types:
            copy = _of_type(spec, text)
            copied = _name(name, text, by_name)
            expanded = _with_tables(loaded, {copied: copy})
            if renders is None or renders(tables.first_version(expanded, copied, source)):
                by_name[copied] = copy
                count += 1
            else:
                left_out[text] = None
        if not count:
            loaded.fail(("tables", name, "each"), f"the format can write no type of {source.title}")
    return _with_tables(loaded, by_name), tuple(left_out)


def _with_tables(loaded: Loaded, by_name: dict[str, TableSpec]) -> Loaded:
    return replace(loaded, spec=loaded.spec.model_copy(update={"tables": by_name}))


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
