"""`person`: name, e-mail, login and city of one person, which belong together."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator, Field

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import Index
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Strict, Weight
from simulator.values.draw import GOLDEN, Bits, Ints, below, key, mix, unit
from simulator.values.people import LANGUAGES, People, people

Part = Literal["name", "first_name", "last_name", "email", "login", "city"]
Language = Literal["de", "en", "es", "zh"]
# Columns whose updates give a person another last name.
NAMES: Final = ("name", "last_name")
# Between first and last name of an address; the first name may be its first letter alone.
SEPARATORS: Final = (".", "_", "")
DIGITS: Final = 19


class Person(Strict):
    """A part of a person: the columns of a table that have parts belong to one person."""

    part: Annotated[Part, Field(description="Which part of the person the column holds.")]
    languages: Annotated[
        dict[Language, Weight] | None,
        Field(description="Languages of the names, with weights; said by one of the table's columns. Default: en."),
    ] = None


class Persons(Draws):
    """First name and language belong to the row; the last name changes when the column that has it is set once more.

    Address and login are made of the name and the row's key as they were when they were set; an address that is set
    again goes to another domain, a city to another one of the language.
    """

    def __init__(self, part: str, languages: dict[str, float], target: Target) -> None:
        self.part, self.table, self.history = part, target.field.table, target.history
        columns, fields = target.columns, target.columns.fields[self.table]
        self.people = [people(language) for language in languages]
        self.ends = np.cumsum(list(languages.values())) / sum(languages.values())
        self.salt = key(target.scenario.seed, self.table, "person")
        named = next((name for name, field in fields.items() if _part(field.spec.values) in NAMES), None)
        self.named = None if named is None else columns.ticks.history(self.table, named)
        own = named == target.field.name
        self.always = part in ("email", "city") or (own and part in NAMES)
        self.numbered = part in ("email", "login")
        keys = target.scenario.spec.tables[self.table].key
        self.key = columns.column(self.table, keys[0]) if self.numbered and len(keys) == 1 else None
        self.most_bytes = 4 * most_characters(self.people, part)

    def array(self, state: State) -> pa.Array:
        now = state.at(self.table, state.written(self.history), state.row)
        base = mix(state.identity + self.salt)
        language = np.minimum(np.searchsorted(self.ends, unit(base), side="right"), len(self.ends) - 1)
        parts = []
        for number, names in enumerate(self.people):
            rows = np.flatnonzero(language == number)
            if len(rows) == len(state):
                return self._texts(names, state, now, base)
            if len(rows):
                parts.append((rows, self._texts(names, state.take(rows), now.take(rows), base[rows])))
        if not parts:
            return pa.array([], pa.string())
        order = np.argsort(np.concatenate([rows for rows, _ in parts]), kind="stable")
        return pa.concat_arrays([texts for _, texts in parts]).take(pa.array(order))

    def _texts(self, names: People, state: State, now: State, base: Bits) -> pa.Array:
        """`now` are the states in which the column was set."""
        if self.part == "city":
            return _taken(names.cities, Index(len(names.cities), self.history, self.salt)(state))
        first = below(mix(base + GOLDEN), len(names.first))
        last = self._last(names, now)
        if self.part == "first_name":
            return _taken(names.first, first)
        if self.numbered:
            return self._address(names, state, now, base, first, last)
        family = _taken(names.last, last)
        if names.two_last:
            second = _taken(names.last, below(mix(base ^ GOLDEN), len(names.last)))
            family = pc.binary_join_element_wise(family, second, " ")
        if self.part == "last_name":
            return family
        both = (family, _taken(names.first, first)) if names.family_first else (_taken(names.first, first), family)
        return pc.binary_join_element_wise(*both, "" if names.family_first else " ")

    def _last(self, names: People, now: State) -> Ints:
        if self.named is None:
            return below(mix(now.identity + self.salt), len(names.last))
        return Index(len(names.last), self.named, self.salt)(now)

    def _address(self, names: People, state: State, now: State, base: Bits, first: Ints, last: Ints) -> pa.Array:
        """`anna.schmidt17`, of the first name or its first letter, and the domain behind it."""
        given = names.first_plain if self.part == "email" else tuple(name[:1] for name in names.first_plain)
        shape = below(mix(base + GOLDEN + GOLDEN), len(SEPARATORS))
        separators = SEPARATORS if self.part == "email" else ("",)
        between = pa.array(separators).take(pa.array(shape % len(separators)))
        number = _digits(self._numbers(now))
        local = pc.binary_join_element_wise(_taken(given, first), between, _taken(names.last_plain, last), number, "")
        if self.part == "login":
            return local
        domain = (below(mix(base - GOLDEN), len(names.domains)) + state.changes(self.history)) % len(names.domains)
        return pc.binary_join_element_wise(local, _taken(names.domains, domain), "@")

    def _numbers(self, now: State) -> pa.Array:
        """The row's key; five digits of chance where it has none of one column."""
        if self.key is not None:
            return self.key.array(now)
        return pa.array(below(mix(now.identity ^ self.salt), 90_000) + 10_000)


def _taken(texts: tuple[str, ...], index: Ints) -> pa.Array:
    return pa.array(texts).take(pa.array(index))


def _digits(keys: pa.Array) -> pa.Array:
    """Numbers as text; of texts their digits, lest an address has what addresses do not have."""
    texts = keys.cast(pa.string())
    return texts if not pa.types.is_string(keys.type) else pc.replace_substring_regex(texts, "[^0-9A-Za-z]", "")


def _part(values: Any) -> str | None:
    return values.arguments.part if values.kind == "person" else None


def languages_of(fields: Any) -> dict[str, float]:
    """The languages of a table's people, which one of its columns says."""
    said = (field.spec.values.arguments.languages for field in fields.values() if _part(field.spec.values))
    return next((languages for languages in said if languages), {"en": 1.0})


def most_characters(groups: list[People], part: str) -> int:
    """The longest that a part can be."""
    longest = 0
    for names in groups:
        first, last = (max(map(len, pool)) for pool in (names.first, names.last))
        plain = max(map(len, names.first_plain)) + max(map(len, names.last_plain)) + 1 + DIGITS
        family = 2 * last + 1 if names.two_last else last
        sizes = {
            "name": first + 1 + family,
            "first_name": first,
            "last_name": family,
            "login": plain,
            "email": plain + 1 + max(map(len, names.domains)),
            "city": max(map(len, names.cities)),
        }
        longest = max(longest, sizes[part])
    return longest


def check(check: ColumnCheck, person: Person) -> None:
    fields = check.fields[check.field.table]
    said = [field for field in fields.values() if _part(field.spec.values) and field.spec.values.arguments.languages]
    languages = languages_of(fields)
    if person.languages and person.languages != languages:
        check.fail(f"{said[0].column.name} has other languages, and these are columns of one person", "languages")
    groups = [people(language) for language in languages]
    check.room(most_characters(groups, person.part))
    pools = {"first_name": "first", "city": "cities"}
    for names in groups:
        if person.part not in ("email", "login"):
            check.literals(getattr(names, pools.get(person.part, "last")))
    keys = check.spec.tables[check.field.table].key
    if person.part in ("email", "login") and len(keys) == 1:
        if keys[0] == check.field.name:
            check.fail("a key is not made of itself")
        check.reads(check.field.table, keys[0])


def draw(target: Target, person: Person) -> Draws:
    return Persons(person.part, languages_of(target.columns.fields[target.field.table]), target)


def _word(data: Any) -> Any:
    return {"part": data} if isinstance(data, str) else data


GENERATOR = Generator(
    name="person",
    doc="a part of the row's person: name, first_name, last_name, email, login, city; `languages` of the names with "
    f"weights (en; {', '.join(LANGUAGES)}). An address follows name and key. An update gives another last name, "
    "city or domain",
    example="{type: string(120), values: {person: {part: name, languages: {en: 60, de: 20, es: 15, zh: 5}}}}",
    arguments=Annotated[Person, BeforeValidator(_word), WORD],
    fits=("text",),
    prose=lambda person: person.part not in ("email", "login"),
    check=check,
    draw=draw,
)
