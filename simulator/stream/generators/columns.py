"""A scenario's columns compiled: from the words of the language to generators over states of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from simulator.batch import Delta, decoded, scatter
from simulator.carriers import US_PER_DAY
from simulator.errors import UsageError
from simulator.model import INSERT, UPDATE, Column
from simulator.stream.engine.history import History, State, Ticks
from simulator.stream.engine.slots import Rounds
from simulator.stream.engine.timeline import Timeline
from simulator.stream.generators import documents, expressions, generators
from simulator.stream.generators.derived import Derived
from simulator.stream.generators.generators import Eternal, Generator, with_nulls
from simulator.stream.generators.keys import KeyColumn
from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.scenario import Field, Scenario
from simulator.values.draw import Bits, Ints, chance, mix
from simulator.values.pools import Pool

# A JSON column of which the scenario says nothing.
DEFAULT_DOCUMENT = {
    "id": {"range": ["1", "1000000"]},
    "tags": [{"choices": ["new", "sale", "gift"]}, {"choices": ["red", "green", "blue"]}],
    "active": "true",
}


class CompiledColumn:
    """A column's values for states of rows, nulls and the default of added columns included."""

    def __init__(
        self, field: Field, arrow: pa.DataType, history: History, generator: Generator, nulls: np.uint64
    ) -> None:
        self.field, self.arrow, self.history, self.generator = field, arrow, history, generator
        self._nulls = nulls
        self.stored: Callable[[pa.Array], pa.Array] | None = None
        self.default: pa.Array | None = None

    def array(self, state: State) -> pa.Array:
        values = self.generator.array(state)
        if self.stored is not None:
            values = self.stored(values)
        if self.field.spec.nulls:
            drawn: Bits = mix(state.identity + self._nulls + state.changes(self.history).view(np.uint64))
            values = with_nulls(values, chance(drawn, self.field.spec.nulls))
        if self.field.since is not None and self.default is not None:
            older = np.flatnonzero(state.turns(self.history) < self.field.since)
            if len(older):
                values = overlay(values, older, self.default)
        return values


def overlay(values: pa.Array, rows: Ints, value: pa.Array) -> pa.Array:
    """`values` with one value (an array of one) at some rows."""
    return scatter(decoded(values), Delta(rows, value.take(pa.array(np.zeros(len(rows), dtype=np.int64)))))


class Compiler:
    """Compiles columns on demand, since one may need another; cycles were refused when the scenario was checked."""

    def __init__(
        self,
        scenario: Scenario,
        fields: Mapping[str, Mapping[str, Field]],
        ticks: Ticks,
        rounds: Rounds,
        timeline: Timeline,
    ) -> None:
        self.scenario, self.source, self.seed = scenario, scenario.source, scenario.seed
        self.fields, self.ticks, self.rounds, self.timeline = fields, ticks, rounds, timeline
        self._columns: dict[tuple[str, str], CompiledColumn] = {}
        self._eternal: dict[str, Eternal] = {}
        self._keys: dict[str, KeyColumn] = {}

    def column(self, table: str, name: str) -> CompiledColumn:
        """The compiled column of a field."""
        if (table, name) not in self._columns:
            field = self.fields[table][name]
            history = self.ticks.history(table, name)
            arrow = self.source.types.arrow_type(field.type)
            nulls = generators.salt(self.seed, table, name, "nulls")
            compiled = CompiledColumn(field, arrow, history, self.generator(field, field.spec.values, history), nulls)
            if self.source.stores or self.source.generated(field.type) != arrow:
                compiled.stored = partial(self.source.stored, type=field.type)
            if field.since is not None:
                compiled.default = self.literals(field, [field.added_default])
            self._columns[table, name] = compiled
        return self._columns[table, name]

    def column_or_key(self, table: str, column: Column) -> CompiledColumn | KeyColumn:
        """A column of a table's version; one that no scenario has is the key that the source makes of others."""
        if column.field in self.fields[table]:
            return self.column(table, column.field)
        if table not in self._keys:
            named = [(name, self.column(table, name)) for name in self.scenario.spec.tables[table].key]
            parts = [(Column(name, part.field.type), part) for name, part in named]
            salt = generators.salt(self.seed, table, column.name)
            self._keys[table] = KeyColumn(self.source, column, parts, self.ticks.total, salt)
        return self._keys[table]

    def generator(self, field: Field, values: Values, history: History) -> Generator:
        """The generator for one kind of values of a field."""
        kind = values.kind
        return getattr(self, f"_{kind}")(field, values, history)  # type: ignore[no-any-return]

    def fail(self, field: Field, problem: str) -> NoReturn:
        self.scenario.fail(field.path, problem)

    def literals(self, field: Field, texts: Sequence[str | None]) -> pa.Array:
        """Literal texts as the column's carriers."""
        try:
            return self.source.parse_values(list(texts), field.type)
        except (ValueError, UsageError) as error:
            self.fail(field, str(error))

    def salt(self, field: Field, what: str = "") -> np.uint64:
        return generators.salt(self.seed, field.table, field.name, what)

    def arrow(self, field: Field) -> pa.DataType:
        return self.source.types.arrow_type(field.type)

    # ------------------------------------------------------------------------------------------------ kinds of values

    def _sequence(self, field: Field, values: Values, history: History) -> Generator:
        assert values.sequence is not None
        places, most = self._places(field)
        deepest = max(
            (int(self.ticks.steps[cohort.program]) << cohort.tier for cohort in self.ticks.plan.cohorts), default=0
        )
        return generators.Sequence_(
            values.sequence.start,
            places=places,
            most=most,
            before=deepest * self.rounds.length,
            eternal=self.eternal(field.table),
            type=self.arrow(field),
            history=history,
        )

    def _places(self, field: Field) -> tuple[Ints, int]:
        """For each tick that sets a numbered column, the place of its first row in its turn; and how many at most."""
        places = np.zeros(self.ticks.total, dtype=np.int64)
        most = 1
        for p, program in enumerate(self.ticks.plan.programs):
            member = program.members.get(field.table)
            if member is None:
                continue
            tick = int(self.ticks.first[p])
            for step in program.steps:
                place = 0
                for act in step:
                    if act.table == field.table and (
                        act.kind is INSERT or (act.kind is UPDATE and field.name in act.sets)
                    ):
                        places[tick] = place
                        place += member.high
                    tick += 1
                most = max(most, place)
        return places, most

    def eternal(self, table: str) -> Eternal:
        """The rows of a table that were born before the stream and never die."""
        if table not in self._eternal:
            parts = []
            for c, cohort in enumerate(self.ticks.plan.cohorts):
                member = self.ticks.plan.programs[cohort.program].members.get(table)
                if member is not None and member.eternal:
                    parts.append((c, cohort.base, cohort.count, member.high))
            self._eternal[table] = Eternal(parts)
        return self._eternal[table]

    def _row(self, field: Field, values: Values, history: History) -> Generator:
        return generators.RowNumber(self.arrow(field))

    def _version(self, field: Field, values: Values, history: History) -> Generator:
        return generators.Version(self.arrow(field), history)

    def _uuid(self, field: Field, values: Values, history: History) -> Generator:
        return generators.Uuid(history, self.salt(field))

    def _boundary(self, field: Field, values: Values, history: History) -> Generator:
        texts = self.source.types.boundary_values(field.type)
        if field.spec.nullable is False or field.name in self.scenario.spec.tables[field.table].key:
            texts = [text for text in texts if text is not None]
        values_ = self.literals(field, texts)
        if values_.null_count > 1:  # an empty text may be null too
            values_ = values_.unique()
        return generators.Choices(values_, None, history, self.salt(field), turned=True)

    def _commit_time(self, field: Field, values: Values, history: History) -> Generator:
        made = self.source.generated(field.type)
        unit = 1 if self.source.stores else self.source.unit_us(field.type)
        return generators.CommitTime(self.timeline, made, unit, history)

    def _constant(self, field: Field, values: Values, history: History) -> Generator:
        return generators.Constant(self.literals(field, [values.constant]))

    def _faker(self, field: Field, values: Values, history: History) -> Generator:
        assert values.faker is not None
        texts = self.scenario.texts(Pool(values.faker.provider, values.faker.locale, values.faker.size))
        return generators.Choices(self.literals(field, texts), None, history, self.salt(field), turned=False)

    def _choices(self, field: Field, values: Values, history: History) -> Generator:
        given = values.choices
        assert given is not None
        weights = list(given.values()) if isinstance(given, dict) else None
        return generators.Choices(self.literals(field, list(given)), weights, history, self.salt(field), turned=False)

    def _range(self, field: Field, values: Values, history: History) -> Generator:
        assert values.range is not None
        return self._between(field, *values.range, history)

    def _between(self, field: Field, low: str, high: str, history: History) -> Generator:
        ends = self.literals(field, [low, high])
        salt, type = self.salt(field), self.source.generated(field.type)
        if pa.types.is_floating(type):
            first_float, last_float = ends.to_pylist()
            return generators.FloatRange(first_float, last_float, type, history, salt)
        if pa.types.is_decimal(type):
            first, last = (int(Decimal(value).scaleb(type.scale)) for value in ends.to_pylist())
        elif pa.types.is_string(type) or pa.types.is_binary(type):
            self.fail(field, f"a range wants a column of numbers or times, not {field.type.name}")
        else:
            first, last = self.source.microseconds(ends)
        if not -(2**62) < first <= last < 2**62:
            self.fail(field, f"the range {low}..{high} is empty or wider than 62 bits")
        unit = 1
        if pa.types.is_timestamp(type) or pa.types.is_duration(type):
            unit = self.source.unit_us(field.type)
            if field.type.name == "date" and ":" not in low + high:
                unit = max(unit, US_PER_DAY)  # a date may have a time of day, but here nobody speaks of one
        return generators.Range(first, last, unit, type, history, salt)

    def _pattern(self, field: Field, values: Values, history: History) -> Generator:
        assert values.pattern is not None
        return generators.Pattern(values.pattern, history, self.salt(field))

    def _text(self, field: Field, values: Values, history: History) -> Generator:
        assert values.text is not None
        return generators.Texts(*values.text.length, values.text.alphabet, history, self.salt(field))

    def _bytes(self, field: Field, values: Values, history: History) -> Generator:
        assert values.bytes is not None
        return generators.Blobs(*values.bytes.length, history, self.salt(field))

    def _states(self, field: Field, values: Values, history: History) -> Generator:
        assert values.states is not None
        order = list(values.states)
        place = np.zeros(self.ticks.total, dtype=np.int64)
        for p, program in enumerate(self.ticks.plan.programs):
            if field.table not in program.members:
                continue
            now = 0
            for n, step in enumerate(self.ticks.step[self.ticks.first[p] : self.ticks.birth[p]]):
                name = program.names[step]
                now = order.index(name) if name in values.states else now
                place[self.ticks.first[p] + n] = now
        return generators.States(self.literals(field, list(values.states.values())), place, history)

    def _references(self, field: Field, values: Values, history: History) -> Generator:
        assert values.references is not None
        table = values.references.table
        (key,) = self.scenario.spec.tables[table].key
        return generators.Reference(
            table, self.column(table, key), self.eternal(table), values.references.skew, history, self.salt(field)
        )

    def _of(self, field: Field, values: Values, history: History) -> Generator:
        assert values.of is not None
        table, _, name = values.of.partition(".")
        programs = [p for p in self.ticks.plan.programs if table in p.members]
        single = all(p.members[table].high == 1 for p in programs)
        return generators.Of(table, self.column(table, name), single, history)

    def _derived(self, field: Field, values: Values, history: History) -> Generator:
        assert values.derived is not None
        tree = expressions.parse(values.derived)
        return Derived(self, field, tree, self.arrow(field), history)

    def _document(self, field: Field, values: Values, history: History) -> Generator:
        always = False

        def leaf(node: dict[str, Any]) -> Callable[[State], pa.Array] | None:
            nonlocal always
            if len(node) != 1 or next(iter(node)) not in Values.model_fields:
                return None
            inner = Values.model_validate(node)
            of = self._leaf_field(field, inner, len(leaves))
            made = self.generator(of, inner, history)
            leaves.append(made)
            always = always or made.always
            text = getattr(self.source.types, "leaf_text", None)
            if text is not None:
                return lambda state: text(made.array(state), of.type)
            return lambda state: documents.as_json(made.array(state))

        leaves: list[Generator] = []
        parts = documents.pieces(values.document, leaf, self.source.document_style(field.type))
        return documents.Document(parts, always=always)

    def _leaf_field(self, field: Field, values: Values, number: int) -> Field:
        """A leaf of a document as a field of its own, with the type that its literals suggest."""
        texts = [*values.range] if values.range else [t for t in values.choices or () if t is not None]
        if values.version or values.row or (texts and all(_whole(text) for text in texts)):
            type = self.source.types.from_portable("int64")
        elif texts and all(_number(text) for text in texts):
            scale = max(len(text.partition(".")[2]) for text in texts)
            type = self.source.types.from_portable(f"decimal(18,{scale})")
        elif values.commit_time:
            type = self.source.types.from_portable("timestamp(3)")
        else:
            type = self.source.types.from_portable("string(4000)")
        return Field(field.table, Column(f"{field.name}#{number}", type), field.spec, field.path)

    def _default(self, field: Field, values: Values, history: History) -> Generator:
        """What the type system says that a column of this type holds."""
        if self.scenario.spec.source is None and field.spec.type.strip().lower() == "json":
            return self._document(field, Values(document=DEFAULT_DOCUMENT), history)
        kind, arguments = self.source.types.default_values(field.type)
        salt = self.salt(field)
        match kind:
            case "range" | "datetime_range":
                return self._between(field, arguments["min"], arguments["max"], history)
            case "text":
                return generators.Texts(
                    arguments["min_length"], arguments["max_length"], arguments["alphabet"], history, salt
                )
            case "bytes":
                return generators.Blobs(arguments["min_length"], arguments["max_length"], history, salt)
            case "choices":
                return generators.Choices(self.literals(field, arguments["values"]), None, history, salt, turned=False)
            case "uuid":
                return generators.Uuid(history, salt)
            case "document":
                return self._document(field, Values(document=DEFAULT_DOCUMENT), history)
        return self._boundary(field, values, history)


def _whole(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def _number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()
