"""A column under check: the part of the scenario that its generator's check sees, and the reporting of problems."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import pyarrow as pa
from pydantic import ValidationError

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources.source import Source
from simulator.stream.scenario import tables
from simulator.stream.scenario.checks.lifecycles import Home
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.problems import problems
from simulator.stream.scenario.scenario import Field

Fields = Mapping[str, Mapping[str, Field]]
Node = tuple[str, str]  # table and column


def holds(type: ColumnType, source: Source) -> str:
    """Word for the contents of a column, for messages: `texts`, `decimals` …"""
    if type.labels:
        return "labels"
    family = source.family(type)
    if family in ("json", "document"):
        return "JSON"
    if family in ("objectid", "other", "boolean"):
        return {"objectid": "ids", "boolean": "booleans"}.get(family, f"{type.name} values")
    arrow = source.generated(type)
    if pa.types.is_string(arrow) and family != "text":
        return {"uuid": "UUIDs"}.get(family, family)
    for word, test in (
        ("whole numbers", pa.types.is_integer),
        ("decimals", pa.types.is_decimal),
        ("floats", pa.types.is_floating),
        ("text", pa.types.is_string),
        ("dates", pa.types.is_date),
        ("times", pa.types.is_timestamp),
        ("times of day", pa.types.is_duration),
    ):
        if test(arrow):
            return word
    return "bytes"


def literals(
    loaded: Loaded, path: Key, texts: Sequence[str | None], type: ColumnType, source: Source, *, by_index: bool = False
) -> pa.Array:
    """Literals of a type; a wrong one is reported at `path`, or at its index under it if `by_index`."""
    try:
        return source.parse_values(list(texts), type)
    except (ValueError, UsageError) as error:
        problem = str(error)
    for i, text in enumerate(texts):
        try:
            source.parse_values([text], type)
        except (ValueError, UsageError) as error:
            loaded.fail((*path, i) if by_index else path, str(error))
    loaded.fail(path, problem)


@dataclass(frozen=True)
class ColumnCheck:
    """The column `field` and its generator's key (`path`); `fields` and `homes` of all tables; `needs` gathers the
    columns that it reads."""

    loaded: Loaded
    source: Source
    field: Field
    path: Key
    fields: Fields
    homes: Mapping[str, Home]
    needs: list[Node] = dataclasses.field(default_factory=list)

    @property
    def spec(self) -> ScenarioSpec:
        return self.loaded.spec

    @property
    def home(self) -> Home:
        return self.homes[self.field.table]

    @cached_property
    def holds(self) -> str:
        return holds(self.field.type, self.source)

    def fail(self, problem: str, *under: str | int) -> NoReturn:
        """Reports a problem of the generator's key, or of a key under it."""
        self.loaded.fail((*self.path, *under), problem)

    def unknown(self, noun: str, name: str, names: Iterable[str], *under: str | int) -> NoReturn:
        """`no column 'qyt'. Did you mean 'qty'?`"""
        tables.unknown(self.loaded, (*self.path, *under), noun, name, names)

    # ----------------------------------------------------------------------------------------------------------- values

    def values(self, values: Values) -> None:
        """Checks a generator's arguments on this column."""
        generator = values.generator
        if generator.fits and self.holds not in generator.fits:
            self.fail(f"{generator.name} has no values for {self.field.type.name}, which holds {self.holds}")
        generator.check(self, values.arguments)

    def read(self, node: dict[str, Any], *under: str | int) -> Values:
        """Parses the values at a key under this column's."""
        try:
            return Values.read(node)
        except ValidationError as error:
            path, problem = problems(error.errors(include_url=False), node, Values)[0]
        except ValueError as error:
            path, problem = (), str(error)
        self.fail(problem, *under, *path)

    def inner(self, field: Field, values: Values, *under: str | int) -> None:
        """Checks the values at a key under this column's, as those of another column."""
        dataclasses.replace(self, field=field, path=(*self.path, *under, values.kind)).values(values)

    def literals(self, texts: Sequence[str | None], *under: str | int, by_index: bool = False) -> pa.Array:
        """Literals of the column's type."""
        return literals(self.loaded, (*self.path, *under), texts, self.field.type, self.source, by_index=by_index)

    def nullable_literals(self, texts: Sequence[str | None], *under: str | int) -> None:
        """Literals of the column's type, and null only where it may be null."""
        name, nullable = self.field.column.name, self.field.column.nullable
        if None in texts and not nullable:
            self.fail(f"{name} cannot be null", *under)
        if self.literals(texts, *under).null_count and not nullable:
            self.fail(f"{name} cannot be null, as an empty text is in {self.source.title}", *under)

    def room(self, characters: int, *under: str | int) -> None:
        """Fails unless the type has room for this number of characters or bytes."""
        room = self.field.type.length
        if room is not None and characters > room:
            self.fail(f"{characters} characters do not fit into {self.field.type.name}({room})", *under)

    # ---------------------------------------------------------------------------------------------------- other columns

    def reads(self, table: str, name: str) -> None:
        """Records that the column's values depend on another column."""
        self.needs.append((table, name))

    def same_entity(self, table: str) -> None:
        """Fails unless the other table belongs to the same entity."""
        if table not in self.fields:
            self.unknown("table", table, self.fields)
        lifecycle = self.home.lifecycle
        if table != self.field.table and (lifecycle is None or lifecycle != self.homes[table].lifecycle):
            self.fail(f"{table} is not in the lifecycle of {self.field.table}; for other entities use references")

    def fits(self, other: Field) -> None:
        """Fails unless the other column's values are valid in this one."""
        old, new, ddl = other.type, self.field.type, self.source.ddl
        if ddl.type_name(old) != ddl.type_name(new) and not ddl.widens(old, new):
            other_type, own_type = ddl.type_name(old), ddl.type_name(new)
            self.fail(f"{other.table}.{other.column.name} is {other_type}, which does not fit into {own_type}")
        if other.column.nullable and not self.field.column.nullable:
            self.fail(f"{other.table}.{other.column.name} can be null and {self.field.column.name} cannot")
