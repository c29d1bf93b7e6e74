"""What is wrong with a scenario's shape, in our words: pydantic's error details made into one sentence."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel

from simulator.errors import closest
from simulator.registry import names
from simulator.stream.generators import GENERATORS, find
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.language.words import shown
from simulator.stream.scenario.lines import Items, Key, Mapping, has, line_of

# How Python refuses to read an endless number.
_TOO_LONG: Final = re.compile(
    r"Exceeds the limit \(\d+ digits\) for integer string conversion: value has (\d+) digits.*"
)
_DIGITS: Final = re.compile(r"\d{41,}")


def sentence(problem: str) -> str:
    """The problem with a full stop, and without thousands of digits."""
    problem = _TOO_LONG.sub(r"a number of \1 digits is too long", problem)
    problem = _DIGITS.sub(lambda match: f"{match[0][:12]}… ({len(match[0])} digits)", problem)
    return problem if problem.endswith((".", "?", "!")) else problem + "."


def first_problem(details: Sequence[Any], data: Any, root: Any = ScenarioSpec) -> tuple[Key, str]:
    """The first problem by line of pydantic's error details, told in our words, with its key."""
    best: tuple[int, int] | None = None
    found: tuple[Key, str] = ((), "this is no scenario")
    # a key that is not known explains one that is missing beside it
    misspelt = {detail["loc"][:-1] for detail in details if detail["type"] == "extra_forbidden"}
    for detail in details:
        if detail["type"] == "missing" and detail["loc"][:-1] in misspelt:
            continue
        path, fits = _place(detail["loc"], data)
        if not fits:
            continue
        # among problems of one line the most precise counts, then the first
        rank = (line_of(data, path) or 0, -len(path))
        if best is None or rank < best:
            best, found = rank, (path, _problem(detail, root))
    return found


def _place(loc: tuple[Any, ...], data: Any) -> tuple[Key, bool]:
    """The path in the file of an error's place, and whether the error belongs to the kind of thing that stands there.

    Places also name branches of unions (`list[…]`, `dict[…]`), which are no keys.
    """
    path: list[str | int] = []
    for i, part in enumerate(loc):
        if has(data, part):
            path.append(part)
            data = data[part]
        elif isinstance(part, str) and part.startswith(("list[", "dict[")):
            other = Mapping if part.startswith("list[") else Items
            if isinstance(data, other):
                return tuple(path), False
        elif i == len(loc) - 1 and isinstance(data, Mapping) and isinstance(part, str) and part != "[key]":
            path.append(part)
    return tuple(path), True


_RANGES: Final = {
    "greater_than": ("gt", "not above"),
    "greater_than_equal": ("ge", "below"),
    "less_than": ("lt", "not below"),
    "less_than_equal": ("le", "above"),
}
_WANTED: Final = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of ordinary size",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "yes or no",
    "bool_type": "yes or no",
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def _problem(detail: Any, root: Any) -> str:
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    loc = detail["loc"]
    if kind == "value_error":
        return str(context["error"])
    if kind == "missing":
        return "this list wants one more item" if isinstance(loc[-1], int) else f"{loc[-1]} is missing"
    if kind == "extra_forbidden":
        allowed = sorted(_keys(loc[:-1], root))
        guess = closest(str(loc[-1]), allowed)
        return f"no key {loc[-1]!r} here. " + (
            f"Did you mean {guess!r}?" if guess else f"The keys here are {', '.join(allowed)}."
        )
    if kind in _WANTED:
        return f"{shown(value)} is not {_WANTED[kind]}"
    if kind in _RANGES:
        name, word = _RANGES[kind]
        limit = context[name]
        return f"{shown(value)} is {word} {int(limit) if limit == int(limit) else limit}"
    if kind == "literal_error":
        return f"{shown(value)} is not {context['expected']}"
    if kind in ("string_too_short", "string_too_long", "string_pattern_mismatch"):
        return _name_problem(loc, value, context, kind)
    if kind in ("too_short", "too_long"):
        limit = context.get("min_length", context.get("max_length"))
        return f"{'at least' if kind == 'too_short' else 'at most'} {limit} of these, not {context['actual_length']}"
    return str(detail["msg"])


def _name_problem(loc: tuple[Any, ...], value: Any, context: dict[str, Any], kind: str) -> str:
    if loc[-1] == "of":
        return f"{shown(value)} is not of the form table.column"
    if kind == "string_too_long":
        return f"{shown(value)} is longer than {context['max_length']} characters"
    return f"{shown(value)} is no name: one has 1 to 64 characters, no dot, no back-quote, no space at its ends"


def _keys(loc: tuple[Any, ...], root: Any) -> set[str]:
    """The keys that the language allows at a place."""
    here = root
    for part in loc:
        here = _inside(here, part)
    here = _bare(here)
    if here is Values:
        return set(names("generator", GENERATORS))
    return set(here.model_fields) if _is_model(here) else set()


def _inside(here: Any, part: Any) -> Any:
    """The annotation behind a key or place; the annotation itself for a part that names a union's branch."""
    here = _bare(here)
    if here is Values:
        return find(part).arguments
    if _is_model(here):
        return here.model_fields[part].annotation if part in here.model_fields else here
    origin, arguments = typing.get_origin(here), typing.get_args(here)
    if origin in (types.UnionType, typing.Union):
        wanted = str(part).partition("[")[0] if isinstance(part, str) and "[" in part else None
        branches = [_bare(branch) for branch in arguments if branch is not type(None)]
        return next((b for b in branches if getattr(typing.get_origin(b), "__name__", "") == wanted), branches[0])
    if origin in (dict, list):
        return arguments[-1]
    return here


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _bare(annotation: Any) -> Any:
    """Without `Annotated` and `| None`."""
    while True:
        if typing.get_origin(annotation) is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif typing.get_origin(annotation) in (types.UnionType, typing.Union):
            some = [a for a in typing.get_args(annotation) if a is not type(None)]
            if len(some) != 1:
                return annotation
            annotation = some[0]
        else:
            return annotation
