"""Texts of column types in all systems: arguments in brackets, styles, and messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from simulator.errors import UsageError, did_you_mean
from simulator.tables import rows


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a type: its name, and the smallest and largest value."""

    name: str
    low: int
    high: int


@cache
def arguments(module: str) -> Mapping[str, tuple[Argument, ...]]:
    """The arguments of a system's types, by the word in its table of types: `arguments.csv` beside a module."""
    by_name: dict[str, tuple[Argument, ...]] = {}
    for row in rows(module, "arguments.csv"):
        argument = Argument(row["name"], int(row["low"]), int(row["high"]))
        by_name[row["arguments"]] = (*by_name.get(row["arguments"], ()), argument)
    return by_name


def check(text: str, type_name: str, values: Sequence[int | None], allowed: Sequence[Argument]) -> None:
    """Raises UsageError for too many arguments, and for one out of its bounds; None is the maximum."""
    if len(values) > len(allowed):
        most = ("no argument", "one argument", "two arguments")[len(allowed)]
        raise UsageError(f"{text!r}: {type_name} takes {most} in brackets.")
    for value, argument in zip(values, allowed, strict=False):
        if value is not None and not argument.low <= value <= argument.high:
            limits = f"{argument.low} to {argument.high}" if argument.low < argument.high else f"{argument.low}"
            raise UsageError(f"{text!r}: {argument.name} must be {limits}.")


def style_of(style: str | None, styles: Sequence[str]) -> str:
    """A style of type texts; None is the first. Raises UsageError."""
    if style is not None and style not in styles:
        raise UsageError(f"no style of type texts {style!r}; there are {', '.join(styles)}.")
    return style or styles[0]


def unknown(typed: str, of_system: str, names: Iterable[str]) -> UsageError:
    """`'varchr' is not a MySQL type. Did you mean 'varchar'?`"""
    return UsageError(f"{typed!r} is not {of_system} type.{did_you_mean(typed, names)}")
