"""Options of formats, typed: a frozen dataclass a format, from which `-f NAME,option=value`, help and docs are made.

    @dataclass(frozen=True, kw_only=True)
    class Options:
        version: Literal["3.3.1", "4"] = option("3.3.1", "The product's version.")
        gtid: bool = option(False, "on: the source has GTIDs.")

A Literal lists the values that there are, a bool is `on` or `off`, an int a whole number; other types have a `parse`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simulator.errors import OptionError, UsageError, did_you_mean

T = TypeVar("T")


def option(default: T, doc: str, choices: Sequence[str] = (), *, parse: Callable[[str], T] | None = None) -> T:
    """A field of an options class. A default of None is decided by the source."""
    field: Any = dataclasses.field(default=default, metadata={"doc": doc, "choices": choices, "parse": parse})
    return field  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Option:
    """What an option takes: one of `choices`, or a text that `parse` reads. `default` as one types it, or None."""

    name: str
    default: str | None
    doc: str
    choices: tuple[str, ...]
    parse: Callable[[str], Any]

    def value(self, format: str, text: str) -> Any:
        """The option's value of a text. Raises OptionError."""
        if self.choices and text not in self.choices:
            hint = did_you_mean(text, self.choices)
            raise OptionError(f"-f {format},{self.name}={text}: it is one of {', '.join(self.choices)}.{hint}")
        try:
            return self.parse(text)
        except ValueError as error:
            raise OptionError(f"-f {format},{self.name}={text}: {error}.") from None


def described(options: type[Any]) -> tuple[Option, ...]:
    """The options of a class, its own before those that it shares, in the order in which they are declared."""
    hints = get_type_hints(options)
    fields = {field.name: field for field in dataclasses.fields(options)}
    names = dict.fromkeys(name for each in options.__mro__ for name in vars(each).get("__annotations__", ()))
    return tuple(_described(fields[name], hints[name]) for name in names if name in fields)


def _described(field: dataclasses.Field[Any], hint: Any) -> Option:
    kinds = [kind for kind in get_args(hint) if kind is not type(None)] if type(None) in get_args(hint) else [hint]
    literals = tuple(value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind))
    parse = field.metadata["parse"] or {bool: switch, int: count}.get(kinds[0], str)
    return Option(
        field.name,
        _typed(field.default),
        field.metadata["doc"],
        tuple(field.metadata["choices"]) or literals,
        parse,
    )


def _typed(default: Any) -> str | None:
    """A default as one types it: `off`, `8192`; empty for what is parsed into something else."""
    if default is None:
        return None
    if isinstance(default, bool):
        return "on" if default else "off"
    return str(default) if isinstance(default, int | str) else ""


def parsed(format: str, options: type[T], given: Mapping[str, str]) -> T:
    """The options of a format from the texts that were given. Raises OptionError for an unknown name or value."""
    known = {each.name: each for each in described(options)}
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, f" It has {', '.join(known) or 'none'}.")
            raise OptionError(f"-f {format}: there is no option {name!r}.{hint}")
    return options(**{name: known[name].value(format, text) for name, text in given.items()})


def shared(options: object, into: type[T], **others: Any) -> T:
    """Options of another class: the values of those that both have, and `others`."""
    names = {each.name for each in described(into)}
    return into(**{name: value for name, value in vars(options).items() if name in names}, **others)


def parse_format(text: str) -> tuple[str, dict[str, str]]:
    """`canal-json,version=1.1.5` is ("canal-json", {"version": "1.1.5"})."""
    name, *parts = text.split(",")
    given: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise UsageError(f"-f {text}: {part!r} is no option: write OPTION=VALUE, such as 'version=1.1.8'.")
        if key.strip() in given:
            raise UsageError(f"-f {text}: the option {key.strip()!r} is there twice: leave one out.")
        given[key.strip()] = value.strip()
    return name.strip(), given


# ------------------------------------------------------------------------------------------------- values of options


def switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("it is on or off")
    return text == "on"


def count(text: str) -> int:
    if not text.isdigit():
        raise ValueError("it is a whole number, 0 for no limit")
    return int(text)


def positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise ValueError("it is a whole number, 1 or more")
    return int(text)


def word(text: str) -> str:
    if not text or any(character in text for character in " \n"):
        raise ValueError("it is a word without blanks")
    return text


def zone(text: str) -> str:
    if re.fullmatch(r"[+-](0\d|1[0-4]):[0-5]\d", text):
        return text
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("it is a time zone such as 'UTC', 'Asia/Shanghai' or '+08:00'") from None
    return text
