"""Generators of values: one file per kind of values, in `drawn` (from hashes and literals), `checked` (numbers with
check digits) and `computed` (from the row's place and past, and from other values).

Read `generator.py` first, the contract; `columns.py` makes the columns of a scenario ready. README.md tells how to add
a generator: one file, and one line here.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from simulator import registry
from simulator.stream.generators.generator import Generator

_DRAWN: Final = "simulator.stream.generators.drawn"
_CHECKED: Final = "simulator.stream.generators.checked"
_COMPUTED: Final = "simulator.stream.generators.computed"

GENERATORS: Final = {
    "boundary": f"{_DRAWN}.boundary:GENERATOR",
    "bytes": f"{_DRAWN}.bytes:GENERATOR",
    "choices": f"{_DRAWN}.choices:GENERATOR",
    "commit_time": f"{_COMPUTED}.commit_time:GENERATOR",
    "constant": f"{_DRAWN}.constant:GENERATOR",
    "default": f"{_DRAWN}.default:GENERATOR",
    "derived": f"{_COMPUTED}.derived:GENERATOR",
    "document": f"{_DRAWN}.document:GENERATOR",
    "ean": f"{_CHECKED}.ean:GENERATOR",
    "faker": f"{_DRAWN}.faker:GENERATOR",
    "iban": f"{_CHECKED}.iban:GENERATOR",
    "lognormal": f"{_DRAWN}.lognormal:GENERATOR",
    "luhn": f"{_CHECKED}.luhn:GENERATOR",
    "of": f"{_COMPUTED}.of:GENERATOR",
    "pattern": f"{_DRAWN}.pattern:GENERATOR",
    "person": f"{_COMPUTED}.person:GENERATOR",
    "phone_number": f"{_CHECKED}.phone_number:GENERATOR",
    "range": f"{_DRAWN}.range:GENERATOR",
    "references": f"{_COMPUTED}.references:GENERATOR",
    "row": f"{_COMPUTED}.row:GENERATOR",
    "sentence": f"{_DRAWN}.sentence:GENERATOR",
    "sequence": f"{_COMPUTED}.sequence:GENERATOR",
    "statement_time": f"{_COMPUTED}.statement_time:GENERATOR",
    "states": f"{_COMPUTED}.states:GENERATOR",
    "text": f"{_DRAWN}.text:GENERATOR",
    "uuid": f"{_DRAWN}.uuid:GENERATOR",
    "version": f"{_COMPUTED}.version:GENERATOR",
    "walk": f"{_DRAWN}.walk:GENERATOR",
}


@cache
def find(name: str) -> Generator:
    """A generator by its name, imported when first asked for. Raises UnknownName."""
    generator: Generator = registry.load("generator", GENERATORS, name, "scenarios/README.md lists them all.")
    return generator


def is_known(name: str) -> bool:
    """Whether there is a generator of this name, plug-ins included."""
    return name in GENERATORS or name in registry.names("generator", GENERATORS)


def everything() -> list[Generator]:
    """All generators, sorted by name."""
    return [find(name) for name in registry.names("generator", GENERATORS)]
