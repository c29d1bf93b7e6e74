"""A scenario's compiled columns: values for states of rows, with nulls and the defaults of added columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from simulator.batch import Delta, decoded, scatter
from simulator.errors import UsageError
from simulator.model import Column
from simulator.sources.source import Source
from simulator.stream.engine.history import History, State, Ticks
from simulator.stream.engine.timeline import Timeline
from simulator.stream.engine.traffic.traffic import Traffic
from simulator.stream.generators.arrays import overlaid, with_nulls, without_pool
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.index import Index
from simulator.stream.generators.keys import KeyColumn
from simulator.stream.generators.nulls import Nulls
from simulator.stream.generators.pairs import Pairs
from simulator.stream.generators.permanent import PermanentRows
from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.scenario import Field, Scenario
from simulator.values.draw import chance, key, mix
from simulator.values.hostile import hostile


@dataclass(frozen=True)
class Target:
    """The column that a generator draws for."""

    columns: Columns
    field: Field
    history: History

    @property
    def scenario(self) -> Scenario:
        return self.columns.scenario

    @property
    def source(self) -> Source:
        return self.columns.scenario.source

    @property
    def carrier(self) -> pa.DataType:
        """The carrier of the column's values."""
        return self.source.arrow_type(self.field.type)

    @property
    def type(self) -> pa.DataType:
        """The type in which values are drawn: the carrier, or microseconds for times that travel as text."""
        return self.source.generated(self.field.type)

    @property
    def salt(self) -> np.uint64:
        """Hash key of the column's draws: adding a column does not change the values of others."""
        return key(self.scenario.seed, self.field.table, self.field.name, "")

    def literals(self, texts: Iterable[str | None]) -> pa.Array:
        """Literals of the scenario as an array of the column's carrier."""
        try:
            return self.source.parse_values(list(texts), self.field.type)
        except (ValueError, UsageError) as error:
            self.scenario.fail(self.field.path, str(error))


class Hostile:
    """Hostile texts for a share of a table's rows, in a column of texts that people type. An affected row stays
    affected, and each update gives it another hostile text, so updates still change the column.
    """

    def __init__(self, share: float, texts: pa.Array, target: Target) -> None:
        self.share, self.texts, self.history = share, texts, target.history
        self.most_bytes = max(len(text.encode()) for text in texts.to_pylist())
        self.salt = key(target.scenario.seed, target.field.table, target.field.name, "hostile")
        self.index = Index(len(texts), target.history, self.salt)

    @classmethod
    def of(cls, columns: Columns, field: Field, history: History) -> Hostile | None:
        """The hostile texts of a column, without those that its type rejects; None if it has none."""
        spec, values = columns.scenario.spec, field.spec.values
        table = spec.tables[field.table]
        if not spec.text.hostile or not values.generator.prose(values.arguments):
            return None
        if any(field.name in names for names in (table.key, *table.unique.values())):
            return None
        source, accepted = columns.scenario.source, list[pa.Array]()
        for text in hostile(field.type.length):
            with suppress(ValueError, UsageError):
                parsed = source.parse_values([text], field.type)
                if not parsed.null_count:
                    accepted.append(decoded(parsed))
        texts = pa.concat_arrays(accepted) if accepted else pa.array([], pa.string())
        if not pa.types.is_string(texts.type) or len(texts) < 2:
            return None
        return cls(spec.text.hostile, texts.unique(), Target(columns, field, history))

    def among(self, values: pa.Array, state: State) -> pa.Array:
        rows = np.flatnonzero(chance(mix(state.identity + self.salt), self.share))
        if not len(rows):
            return values
        texts = self.texts.take(pa.array(self.index(state.take(rows))))
        return scatter(decoded(values), Delta(rows, texts))


class CompiledColumn:
    """A compiled column. Its values need no other column of the image: any subset of a table's columns can be drawn."""

    def __init__(self, columns: Columns, field: Field) -> None:
        source = columns.scenario.source
        self.field, self.arrow = field, source.arrow_type(field.type)
        self.history = columns.ticks.history(field.table, field.name)
        self.generator = columns.draws(field, field.spec.values, self.history)
        self.nulls = Nulls(field.spec.nulls, self.history, key(columns.scenario.seed, field.table, field.name, "nulls"))
        # setting the column again always changes it
        self.always = self.generator.always and self.nulls.always
        self._hostile = Hostile.of(columns, field, self.history)
        self._stored: Callable[[pa.Array], pa.Array] | None = None
        if source.stores or source.generated(field.type) != self.arrow:
            self._stored = partial(source.stored, type=field.type)
        self._default: pa.Array | None = None
        if field.since is not None:
            self._default = Target(columns, field, self.history).literals([field.added_default])

    @property
    def most_bytes(self) -> int:
        """Approximate maximum size of a value in bytes."""
        return max(self.generator.most_bytes, self._hostile.most_bytes if self._hostile else 0)

    def array(self, state: State) -> pa.Array:
        """The column's values, for other columns; numbers and times are not in dictionaries."""
        return without_pool(self.pooled(state))

    def pooled(self, state: State) -> pa.Array:
        """The column's values; those of a pool as a dictionary array, so that work on them is done once per distinct
        value.
        """
        values = self.generator.array(state)
        if self._hostile is not None:
            values = self._hostile.among(values, state)
        if self._stored is not None:
            values = self._stored(without_pool(values))
        if self.field.spec.nulls:
            values = with_nulls(values, self.nulls(state))
        if self.field.since is not None:
            older = np.flatnonzero(state.turns(self.history) < self.field.since)
            if len(older):
                values = overlaid(values, older, self._default)
        return values


class Columns:
    """All columns, compiled on first use, since a column may need others; there are no cycles."""

    def __init__(
        self,
        scenario: Scenario,
        fields: Mapping[str, Mapping[str, Field]],
        ticks: Ticks,
        traffic: Traffic,
        timeline: Timeline,
    ) -> None:
        """`fields` are the scenario's, with transaction borders for the turns at which they are added and dropped."""
        self.scenario, self.fields = scenario, fields
        self.ticks, self.traffic, self.timeline = ticks, traffic, timeline
        self._columns: dict[tuple[str, str], CompiledColumn] = {}
        self._permanent: dict[str, PermanentRows] = {}
        self._pairs: dict[tuple[str, ...], Pairs] = {}
        self._keys: dict[str, KeyColumn] = {}

    def draws(self, field: Field, values: Values, history: History) -> Draws:
        """A column's generator, compiled."""
        draws: Draws = values.generator.draw(Target(self, field, history), values.arguments)
        return draws

    def column(self, table: str, name: str) -> CompiledColumn:
        """The column of a field."""
        if (table, name) not in self._columns:
            self._columns[table, name] = CompiledColumn(self, self.fields[table][name])
        return self._columns[table, name]

    def column_or_key(self, table: str, column: Column) -> CompiledColumn | KeyColumn:
        """A column of a table version; a column that the scenario does not have is the key that the source composes."""
        if column.field in self.fields[table]:
            return self.column(table, column.field)
        if table not in self._keys:
            columns = [(name, self.column(table, name)) for name in self.scenario.spec.tables[table].key]
            parts = [(Column(name, part.field.type), part) for name, part in columns]
            salt = key(self.scenario.seed, table, column.name, "")
            self._keys[table] = KeyColumn(self.scenario.source, column, parts, self.ticks.span(table), salt)
        return self._keys[table]

    def pairs(self, field: Field) -> Pairs | None:
        """The pairs that a column of references is part of, if it is in a key of references alone."""
        link = self.scenario.spec.tables[field.table].link(field.name)
        if link is None:
            return None
        if (field.table, *link) not in self._pairs:
            self._pairs[field.table, *link] = Pairs(self.scenario, self.ticks.plan, self.permanent, field.table, link)
        return self._pairs[field.table, *link]

    def permanent(self, table: str) -> PermanentRows:
        """The rows of a table that were born before the stream and never die."""
        if table not in self._permanent:
            parts = []
            for c, cohort in enumerate(self.ticks.plan.cohorts):
                member = self.ticks.plan.programs[cohort.program].members.get(table)
                if member is not None and member.permanent:
                    parts.append((c, cohort.base, cohort.count, member.high))
            self._permanent[table] = PermanentRows(parts, key(self.scenario.seed, table, "permanent"))
        return self._permanent[table]
