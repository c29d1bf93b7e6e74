"""Names to objects, imported late: `load("format", FORMATS, "canal-json")`. Knows no names itself.

A table maps a name to "module:attribute". Third parties add entries through the entry-point group
`simulator.<kind>s`; looking at names imports nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from simulator.errors import UnknownName


def names(kind: str, table: Mapping[str, str]) -> dict[str, str]:
    """All names of a kind with their modules, plug-ins included, sorted."""
    plugged = {entry.name: entry.value for entry in entry_points(group=f"simulator.{kind}s")}
    return dict(sorted((plugged | dict(table)).items()))


def load(kind: str, table: Mapping[str, str], name: str, hint: str = "") -> Any:
    """The object behind a name. Raises UnknownName with a close match and the hint."""
    known = table if name in table else names(kind, table)  # reading what is installed takes milliseconds
    if name not in known:
        raise UnknownName(kind, name, known, hint or f"`cdcsim {kind}s` lists them all.")
    module, _, attribute = known[name].partition(":")
    return getattr(import_module(module), attribute)
