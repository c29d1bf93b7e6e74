"""`person`: name, e-mail, login and city of one person, which belong together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator, Field

from simulator.batch import decoded
from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Strict, Weight
from simulator.values.draw import Bits, Ints, below, key, mix, unit
from simulator.values.people import LANGUAGES, People, people

Part = Literal["name", "first_name", "last_name", "email", "login", "city"]
Language = Literal["de", "en", "es", "zh"]
# Columns whose updates give a person another last name.
NAMES: Final = ("name", "last_name")
# Separators of first and last name in an e-mail address.
SEPARATORS: Final = pa.array([".", "_", ""])
AT: Final = pa.scalar("@")
# Maximum digits of a key.
DIGITS: Final = 19
HALF: Final = np.uint64(32)


class Person(Strict):
    """A part of a person: the columns of a table that have parts belong to one person."""

    part: Annotated[Part, Field(description="Which part of the person the column holds.")]
    languages: Annotated[
        dict[Language, Weight] | None,
        Field(description="Languages of the names, with weights; said by one of the table's columns. Default: en."),
    ] = None


class Pool:
    """The texts of all languages in one array, and the first index of each language."""

    def __init__(self, groups: Iterable[tuple[str, ...]]) -> None:
        texts = list(groups)
        self.sizes: Ints = np.array([len(group) for group in texts], dtype=np.int64)
        self.firsts: Ints = np.cumsum(self.sizes) - self.sizes
        self.texts = pa.array([text for group in texts for text in group], pa.string())

    def drawn(self, language: Ints, draws: Bits, more: Ints | int = 0) -> Ints:
        """An index for each row: a random one plus `more`, wrapped within the language."""
        sizes = self.sizes[language]
        index: Ints = ((draws >> HALF).view(np.int64) * sizes >> 32) + more
        index %= sizes
        return index + self.firsts[language]

    def stride(self, language: Ints, draws: Bits) -> Ints:
        """Distance from a row's text to its next one, in [1, size of the language): the next one differs."""
        return 1 + ((draws >> HALF).view(np.int64) * (self.sizes[language] - 1) >> 32)

    def taken(self, index: Ints) -> pa.Array:
        return self.texts.take(pa.array(index))


class Persons(Draws):
    """Values of a person. First name and language belong to the row; the last name changes when the column that has it
    is set once more.

    Address and login are made of the name and the row's key at the time when they are set. Setting an address again
    changes its domain; setting a city again picks another one of the language.
    """

    def __init__(self, part: str, languages: dict[str, float], target: Target) -> None:
        self.part, self.table, self.history = part, target.field.table, target.history
        columns, fields = target.columns, target.columns.fields[self.table]
        groups = [people(language) for language in languages]
        self.ends = np.cumsum(list(languages.values())) / sum(languages.values())
        self.salt = key(target.scenario.seed, self.table, "person")
        name_column = next((name for name, field in fields.items() if _part(field.spec.values) in NAMES), None)
        self.named = None if name_column is None else columns.ticks.history(self.table, name_column)
        self.always = part in ("email", "city") or (name_column == target.field.name and part in NAMES)
        keys = target.scenario.spec.tables[self.table].key
        numbered = part in ("email", "login") and len(keys) == 1
        self.key = columns.column(self.table, keys[0]) if numbered else None
        self.most_bytes = 4 * most_characters(groups, part)
        self.cities, self.domains = Pool(g.cities for g in groups), Pool(g.domains for g in groups)
        self.first, self.last = Pool(g.first for g in groups), Pool(g.last for g in groups)
        self.first_plain = pa.array([name for g in groups for name in g.first_plain], pa.string())
        self.last_plain = pa.array([name for g in groups for name in g.last_plain], pa.string())
        self.initials = pa.array([name[:1] for name in self.first_plain.to_pylist()], pa.string())
        # by language: the separator between the names, and whether the family name comes first
        self.between = pa.array(["" if g.family_first else " " for g in groups], pa.string())
        self.family_first, self.two_last = ([getattr(g, fact) for g in groups] for fact in ("family_first", "two_last"))

    def array(self, state: State) -> pa.Array:
        base = mix(state.identity + self.salt)
        language = np.searchsorted(self.ends, unit(base), side="right").astype(np.int64)
        np.minimum(language, len(self.ends) - 1, out=language)
        changes = state.changes(self.history)
        if self.part == "city":
            return self._next(self.cities, language, mix(base + np.uint64(1)), changes)
        current = state.at(self.table, state.written(self.history), state.row)
        first = self.first.drawn(language, mix(base + np.uint64(2)))
        if self.part == "first_name":
            return self.first.taken(first)
        bits = mix(base + np.uint64(3))
        renamed = 0 if self.named is None else current.changes(self.named) * self.last.stride(language, mix(bits))
        last = self.last.drawn(language, bits, renamed)
        if self.part == "login":
            names = self.initials.take(pa.array(first)), self.last_plain.take(pa.array(last))
            return pc.binary_join_element_wise(*names, self._numbers(current, base), "")
        if self.part == "email":
            names = self.first_plain.take(pa.array(first)), self.last_plain.take(pa.array(last))
            between = SEPARATORS.take(pa.array(below(mix(base + np.uint64(4)), len(SEPARATORS))))
            domain = self._next(self.domains, language, mix(base + np.uint64(5)), changes)
            return pc.binary_join_element_wise(
                names[0], between, names[1], self._numbers(current, base), AT, domain, ""
            )
        return self._name(language, first, last, base)

    def _next(self, pool: Pool, language: Ints, draws: Bits, changes: Ints) -> pa.Array:
        """Another text of the language each time."""
        return pool.taken(pool.drawn(language, draws, changes * pool.stride(language, mix(draws))))

    def _name(self, language: Ints, first: Ints, last: Ints, base: Bits) -> pa.Array:
        family = self.last.taken(last)
        if any(self.two_last):
            both = np.array(self.two_last)[language]
            second = self.last.taken(self.last.drawn(language, mix(base + np.uint64(6))))
            joined = pc.binary_join_element_wise(family, second, " ")
            family = pc.if_else(pa.array(both), joined, family)
        if self.part == "last_name":
            return family
        first_names, between = self.first.taken(first), self.between.take(pa.array(language))
        if any(self.family_first):
            turned = pa.array(np.array(self.family_first)[language])
            family, first_names = pc.if_else(turned, first_names, family), pc.if_else(turned, family, first_names)
        return pc.binary_join_element_wise(first_names, between, family, "")

    def _numbers(self, current: State, base: Bits) -> pa.Array:
        """The digits of the row's key; five random digits if the key is not a single column."""
        if self.key is None:
            return pa.array(below(mix(base + np.uint64(7)), 90_000) + 10_000).cast(pa.string())
        keys = decoded(self.key.array(current))
        if pa.types.is_string(keys.type):  # an address allows letters and digits only
            return pc.replace_substring_regex(keys, "[^0-9A-Za-z]", "")
        return keys.cast(pa.string())


def _part(values: Any) -> str | None:
    return values.arguments.part if values.kind == "person" else None


def languages_of(fields: Any) -> dict[str, float]:
    """The languages of a table's people, with weights, as one of its columns sets them."""
    languages_by_column = (
        field.spec.values.arguments.languages for field in fields.values() if _part(field.spec.values)
    )
    return next((languages for languages in languages_by_column if languages), {"en": 1.0})


def most_characters(groups: list[People], part: str) -> int:
    """Maximum length of a part, in characters."""
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
    with_languages = [
        field for field in fields.values() if _part(field.spec.values) and field.spec.values.arguments.languages
    ]
    languages = languages_of(fields)
    if person.languages and person.languages != languages:
        check.fail(
            f"{with_languages[0].column.name} has other languages, and these are columns of one person", "languages"
        )
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
    keyed=lambda person: person.part in ("email", "login"),
    prose=lambda person: person.part not in ("email", "login"),
    check=check,
    draw=draw,
)
