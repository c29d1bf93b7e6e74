"""Messages for malformed scenarios: pydantic's error details as one sentence."""

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
from simulator.stream.scenario.language.words import quoted
from simulator.stream.scenario.lines import Items, Key, Mapping, has, line_of

# Python's error for a number with too many digits.
_TOO_LONG: Final = re.compile(
    r"Exceeds the limit \(\d+ digits\) for integer string conversion: value has (\d+) digits.*"
)
_DIGITS: Final = re.compile(r"\d{41,}")


def sentence(problem: str) -> str:
    """The problem with a full stop, and without thousands of digits."""
    problem = _TOO_LONG.sub(r"a number of \1 digits is too long", problem)
    problem = _DIGITS.sub(lambda match: f"{match[0][:12]}… ({len(match[0])} digits)", problem)
    return problem if problem.endswith((".", "?", "!")) else problem + "."


def problems(details: Sequence[Any], data: Any, root: Any = ScenarioSpec) -> list[tuple[Key, str]]:
    """The problems in pydantic's error details, sorted by line: key and sentence."""
    by_path: dict[Key, tuple[int, int, str]] = {}
    # if a mapping has an unknown key, ignore its missing keys: one is probably misspelt
    misspelt = {detail["loc"][:-1] for detail in details if detail["type"] == "extra_forbidden"}
    for detail in details:
        if detail["type"] == "missing" and detail["loc"][:-1] in misspelt:
            continue
        path, fits = _path_of(detail["loc"], data)
        if not fits:
            continue
        if path not in by_path:  # keep the problem of a union's first branch
            by_path[path] = (line_of(data, path) or 0, -len(path), _problem(detail, root))
    # ignore problems of keys that contain another problem
    outer = {path[:length] for path in by_path for length in range(len(path))}
    ranked = sorted((rank, path) for path, rank in by_path.items() if path not in outer)
    return [(path, sentence) for (_, _, sentence), path in ranked] or [((), "this is no scenario")]


def _path_of(loc: tuple[Any, ...], data: Any) -> tuple[Key, bool]:
    """The path in the file of an error's location, and whether the error is about the kind of data there. Locations
    also contain branches of unions (`list[…]`, `dict[…]`), which are no keys.
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
        return "this list needs one more item" if isinstance(loc[-1], int) else f"{loc[-1]} is missing"
    if kind == "extra_forbidden":
        allowed = sorted(keys_at(loc[:-1], root))
        if len(loc) == 1 and loc[0] in keys_at(("tables", "x"), root):
            return f"{loc[0]!r} is a key of tables: tables.NAME.{loc[0]}, of all of them tables.*.{loc[0]} with --set"
        guess = closest(str(loc[-1]), allowed)
        return f"unknown key {loc[-1]!r}. " + (
            f"Did you mean {guess!r}?" if guess else f"Use one of {', '.join(allowed)}."
        )
    if kind in _WANTED and value is None:
        return f"it is empty; write {_WANTED[kind]}"
    if kind in _WANTED:
        return f"{quoted(value)} is not {_WANTED[kind]}"
    if kind in _RANGES:
        name, word = _RANGES[kind]
        limit = context[name]
        return f"{quoted(value)} is {word} {int(limit) if limit == int(limit) else limit}"
    if kind == "literal_error":
        return f"{quoted(value)} is not {context['expected']}"
    if kind in ("string_too_short", "string_too_long", "string_pattern_mismatch"):
        return _name_problem(loc, value, context, kind)
    if kind in ("too_short", "too_long"):
        limit = context.get("min_length", context.get("max_length"))
        count = context["actual_length"] or "none"
        return f"there must be at {'least' if kind == 'too_short' else 'most'} {limit}, and there is {count}"
    return str(detail["msg"])


def _name_problem(loc: tuple[Any, ...], value: Any, context: dict[str, Any], kind: str) -> str:
    if loc[-1] == "of":
        return f"{quoted(value)} is not of the form table.column"
    if kind == "string_too_long":
        return f"{quoted(value)} is longer than {context['max_length']} characters"
    return f"{quoted(value)} is not a valid name: use 1 to 64 characters, no dot, no back-quote, no space at the ends"


def keys_at(loc: tuple[Any, ...], root: Any = ScenarioSpec) -> set[str]:
    """The keys that the language allows at a location."""
    inner = root
    for part in loc:
        inner = _inside(inner, part)
    inner = _without_optional(inner)
    if inner is Values:
        return set(names("generator", GENERATORS))
    return {field.alias or name for name, field in inner.model_fields.items()} if _is_model(inner) else set()


def _inside(inner: Any, part: Any) -> Any:
    """The annotation of a key or index; the annotation itself where the part is a union's branch."""
    inner = _without_optional(inner)
    if inner is Values:
        return find(part).arguments
    if _is_model(inner):
        return inner.model_fields[part].annotation if part in inner.model_fields else inner
    origin, arguments = typing.get_origin(inner), typing.get_args(inner)
    if origin in (types.UnionType, typing.Union):
        branch = str(part).partition("[")[0] if isinstance(part, str) and "[" in part else None
        branches = [_without_optional(branch) for branch in arguments if branch is not type(None)]
        return next((b for b in branches if getattr(typing.get_origin(b), "__name__", "") == branch), branches[0])
    if origin in (dict, list):
        return arguments[-1]
    return inner


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _without_optional(annotation: Any) -> Any:
    """The annotation without `Annotated` and `| None`."""
    while True:
        if typing.get_origin(annotation) is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif typing.get_origin(annotation) in (types.UnionType, typing.Union):
            alternatives = [a for a in typing.get_args(annotation) if a is not type(None)]
            if len(alternatives) != 1:
                return annotation
            annotation = alternatives[0]
        else:
            return annotation
