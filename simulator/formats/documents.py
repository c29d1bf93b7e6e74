"""Documentation of formats: the content of each member of a message, and the source of that fact.

A product's package has a table of its formats' members, `members.csv`. The docstring of a format's module lists the
differences from the format that it is based on, and the decisions where the vendor's page is silent.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Final

from simulator import registry, tables
from simulator.formats import FORMATS
from simulator.formats.format import Format

# Meanings of members, in the order of a comparison.
MEANINGS: Final = (
    "operation",
    "operation again",
    "record type",
    "entry type",
    "is ddl",
    "statement kind",
    "database",
    "schema",
    "table",
    "key columns",
    "key values",
    "row id",
    "before",
    "after",
    "ddl",
    "structure",
    "types",
    "codes",
    "column count",
    "event time",
    "write time",
    "sequence",
    "event id",
    "log file",
    "position",
    "restart position",
    "commit position",
    "transaction",
    "place in transaction",
    "size of transaction",
    "system",
    "system version",
    "server",
    "cluster",
    "version",
    "tags",
    "other",
)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a format's messages: its path (`meta.op`), its meaning (one of `MEANINGS`), its content, and the
    source of that fact."""

    member: str
    meaning: str
    holds: str
    source: str

    @property
    def decided(self) -> bool:
        """Tests whether it depends, at least in part, on a decision of ours."""
        return "decided here" in self.source


def members_of(format: Format) -> dict[str, Member]:
    """The members of a format by path; empty if its package has no table of them."""
    try:
        rows = list(tables.rows(_module(format).__file__ or "", "members.csv"))
    except FileNotFoundError:
        return {}
    return {
        row["member"]: Member(row["member"], row["meaning"], row["holds"], row["source"])
        for row in rows
        if format.id in row["formats"].split()
    }


def described_as(name: str, known: Collection[str]) -> str:
    """The path of a member in a format's table: its own, or the one below the wrapper that an option takes away
    (`payload.after` is `after` without schemas)."""
    if name in known:
        return name
    return next((path for path in known if path.partition(".")[2] == name), name)


def notes_of(format: Format) -> str:
    """The docstring of a format's module: differences from its base format, and decisions."""
    return inspect.cleandoc(_module(format).__doc__ or "")


def _module(format: Format) -> ModuleType:
    return import_module(registry.names("format", FORMATS)[format.id].partition(":")[0])
