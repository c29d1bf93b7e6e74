"""Typed options of formats: one frozen dataclass per format, the source of `-f NAME,option=value`, help and docs.

    @dataclass(frozen=True, kw_only=True)
    class Options:
        version: Literal["3.3.1", "4"] = option("3.3.1", "The product's version.")
        gtid: bool = option(False, "on: the source has GTIDs.")

A Literal lists the allowed values, a bool is `on` or `off`, an int an integer; other types have a `parse`. An option
declares where it has an effect: `sources=ORACLE_FAMILY`, `where={"gtid": (True,)}`. Elsewhere it is refused.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simulator.errors import OptionError, UsageError, did_you_mean
from simulator.model import DDL, HEARTBEAT, READ, Kind
from simulator.sources import SOURCES

T = TypeVar("T")

# Cached: reading type hints takes a millisecond, and every codec reads the options of its format.
_DESCRIBED: Final[dict[type[Any], tuple[Option, ...]]] = {}


# Sources that options belong to.
KNOWN: Final = frozenset(SOURCES)
MYSQL_FAMILY: Final = ("mariadb", "mysql", "oceanbase-mysql")
ORACLE_FAMILY: Final = ("oceanbase-oracle", "oracle")
POSTGRESQL_FAMILY: Final = ("gaussdb", "postgresql")
NOT_ORACLE: Final = ("gaussdb", *MYSQL_FAMILY, "mongodb", "postgresql", "sqlserver")
# Sources with timestamps whose text depends on a time zone.
WITH_ZONES: Final = ("gaussdb", *MYSQL_FAMILY, "mongodb", *ORACLE_FAMILY, "postgresql")
NOT_MONGODB: Final = ("gaussdb", *MYSQL_FAMILY, *ORACLE_FAMILY, "postgresql", "sqlserver")
OCEANBASE: Final = ("oceanbase-mysql", "oceanbase-oracle")
NOT_OCEANBASE: Final = tuple(sorted(KNOWN - {*OCEANBASE}))

_KINDS: Final = {DDL: "DDL statements", READ: "rows of a full load", HEARTBEAT: "heartbeats"}
# Values of another option, or a test of its value.
Values: TypeAlias = tuple[Any, ...] | Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Effect:
    """Conditions under which an option has an effect: sources (others with one of `elsewhere`), kinds of broker and
    policies of `--route` (empty: all of them); one of these kinds of event is sent; other options have these values;
    and not all of `unless` hold. Names that a format's options lack do not count. `offered`: the values allowed for
    some sources.
    """

    sources: tuple[str, ...] = ()
    elsewhere: Mapping[str, Values] = field(default_factory=dict)
    brokers: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    where: Mapping[str, Values] = field(default_factory=dict)
    unless: Mapping[str, Values] = field(default_factory=dict)
    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def missing(self, options: object, source: str, broker: str, sends: Callable[[Kind], bool]) -> str:
        """The reason why the option has no effect; "" if it has one."""
        applies = not self.sources or source in self.sources or source not in KNOWN  # others may be of any family
        if not applies and not any(_holds(options, name, values) for name, values in self.elsewhere.items()):
            return f"on {source}; it is for {', '.join(self.sources)}"
        if self.brokers and broker not in self.brokers:
            return f"on {broker}; it is for {', '.join(self.brokers)}"
        for name, values in self.where.items():
            if name in vars(options) and not _holds(options, name, values):
                return f"with {_as_typed(options, name)}"
        if self.kinds and not any(map(sends, self.kinds)):
            return f"where {' and '.join(_KINDS[kind] for kind in self.kinds)} are not sent"
        present = [name for name in self.unless if name in vars(options)]
        if present and all(_holds(options, name, self.unless[name]) for name in present):
            return "with " + " and ".join(_as_typed(options, name) for name in present)
        return ""


def _holds(options: object, name: str, values: Values) -> bool:
    value = vars(options)[name]
    return values(value) if callable(values) else value in values


def _as_typed(options: object, field: str) -> str:
    """An option with its value, as typed."""
    value = vars(options)[field]
    option = next(known for known in described(type(options)) if known.field == field)
    words = isinstance(value, bool) and option.choices
    return f"{option.name}={option.choices[not value] if words else _typed(value)}"


def option(
    default: T,
    doc: str,
    choices: Sequence[str] = (),
    *,
    parse: Callable[[str], T] | None = None,
    sources: tuple[str, ...] = (),
    elsewhere: Mapping[str, Values] | None = None,
    brokers: tuple[str, ...] = (),
    routes: tuple[str, ...] = (),
    kinds: tuple[Kind, ...] = (),
    where: Mapping[str, Values] | None = None,
    unless: Mapping[str, Values] | None = None,
    offered: Mapping[str, tuple[str, ...]] | None = None,
    decided: bool = False,
    name: str = "",
) -> T:
    """A field of an options class. A default of None depends on the source. `sources` to `offered`: conditions of its
    effect (see `Effect`); elsewhere it is refused. `decided`: its meaning, or one of its values, is in no page, message
    or code of the vendor or its users; it is decided here. `name`: its typed name, if that is no Python name. A bool
    has two `choices`, true first, if the vendor's words are not on and off."""
    effect = Effect(sources, elsewhere or {}, brokers, routes, kinds, where or {}, unless or {}, offered or {})
    if isinstance(default, bool) and choices and parse is None:
        parse = partial(_chosen, tuple(choices))  # type: ignore[assignment]
    metadata = {"doc": doc, "choices": choices, "parse": parse, "effect": effect, "decided": decided, "name": name}
    field: Any = dataclasses.field(default=default, metadata=metadata)
    return field  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Option:
    """An option: it takes one of `choices`, or a text that `parse` reads. `default`: as typed, or None. `field`: its
    name in the options class."""

    name: str
    field: str
    default: str | None
    doc: str
    choices: tuple[str, ...]
    parse: Callable[[str], Any]
    effect: Effect = Effect()
    decided: bool = False

    def value(self, format: str, text: str) -> Any:
        """Parses a text to the option's value. Raises OptionError."""
        if self.choices and text not in self.choices:
            hint = did_you_mean(text, self.choices)
            raise OptionError(f"-f {format},{self.name}={text}: it is one of {', '.join(self.choices)}.{hint}")
        try:
            return self.parse(text)
        except ValueError as error:
            raise OptionError(f"-f {format},{self.name}={text}: {error}.") from None


def described(options: type[Any]) -> tuple[Option, ...]:
    """The options of a class in order of declaration, its own before the inherited ones."""
    if options not in _DESCRIBED:
        hints = get_type_hints(options)
        fields = {declared.name: declared for declared in dataclasses.fields(options)}
        names = dict.fromkeys(name for parent in options.__mro__ for name in vars(parent).get("__annotations__", ()))
        _DESCRIBED[options] = tuple(_declared(fields[name], hints[name]) for name in names if name in fields)
    return _DESCRIBED[options]


def _declared(declared: dataclasses.Field[Any], hint: Any) -> Option:
    kinds = [kind for kind in get_args(hint) if kind is not type(None)] if type(None) in get_args(hint) else [hint]
    literals = tuple(value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind))
    parse = declared.metadata["parse"] or {bool: switch, int: count}.get(kinds[0], str)
    choices = declared.metadata["choices"]
    default = choices[not declared.default] if choices and isinstance(declared.default, bool) else declared.default
    return Option(
        declared.metadata["name"] or declared.name,
        declared.name,
        _typed(default),
        declared.metadata["doc"],
        tuple(declared.metadata["choices"]) or literals,
        parse,
        declared.metadata["effect"],
        declared.metadata["decided"],
    )


def _chosen(words: tuple[str, ...], text: str) -> bool:
    return text == words[0]


def _typed(default: Any) -> str | None:
    """A default as typed: `off`, `8192`; None for None; "" for a value that was parsed from another text."""
    if default is None:
        return None
    if isinstance(default, bool):
        return "on" if default else "off"
    return str(default) if isinstance(default, int | str) else ""


def parsed(format: str, options: type[T], texts: Mapping[str, str]) -> T:
    """Parses the given texts to a format's options. Raises OptionError for an unknown name or value."""
    by_name = {option.name: option for option in described(options)}
    for name in texts:
        if name not in by_name:
            hint = did_you_mean(name, by_name, f" It has {', '.join(by_name) or 'none'}.")
            raise OptionError(f"-f {format}: there is no option {name!r}.{hint}")
    return options(**{by_name[name].field: by_name[name].value(format, text) for name, text in texts.items()})


def refuse_without_effect(
    format: str, options: object, texts: Mapping[str, str], source: str, broker: str, sends: Callable[[Kind], bool]
) -> None:
    """Raises OptionError for a given option that has no effect."""
    for option in described(type(options)):
        if option.name in texts and texts[option.name] not in option.effect.offered.get(source, (texts[option.name],)):
            values = " or ".join(option.effect.offered[source])
            raise OptionError(f"-f {format},{option.name}={texts[option.name]}: on {source} it is {values}.")
        if option.name in texts and (why := option.effect.missing(options, source, broker, sends)):
            raise OptionError(f"-f {format},{option.name}={texts[option.name]}: it has no effect {why}. Leave it out.")


def refuse_without_route(format: str, options: object, texts: Mapping[str, str], route: str) -> None:
    """Raises OptionError for a given option that has no effect with the policy of `--route`."""
    for option in described(type(options)):
        if option.name in texts and option.effect.routes and route not in option.effect.routes:
            routes = " or ".join(option.effect.routes)
            problem = f"it has no effect with --route {route}; it is for {routes}. Leave it out."
            raise OptionError(f"-f {format},{option.name}={texts[option.name]}: {problem}")


def shared(options: object, into: type[T], **changes: Any) -> T:
    """Options of another class: the values of the options that both classes have, and `changes`."""
    names = {option.field for option in described(into)}
    return into(**{name: value for name, value in vars(options).items() if name in names}, **changes)


def parse_format(text: str) -> tuple[str, dict[str, str]]:
    """Splits `canal-json,version=1.1.5` into ("canal-json", {"version": "1.1.5"})."""
    name, *parts = text.split(",")
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise UsageError(f"-f {text}: {part!r} is no option: write OPTION=VALUE, such as 'version=1.1.8'.")
        if key.strip() in options:
            raise UsageError(f"-f {text}: the option {key.strip()!r} is there twice: leave one out.")
        options[key.strip()] = value.strip()
    return name.strip(), options


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
