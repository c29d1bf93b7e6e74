"""Tables and lifecycles in the scenario language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.language.words import (
    MOST_WEIGHT,
    ONE,
    Count,
    Duration,
    Name,
    Names,
    RowStatement,
    Share,
    Shorthand,
    Span,
    Strict,
    Weight,
    count,
    several,
)
from simulator.stream.scenario.lines import Key

# Maximum repetitions of a step.
MOST_TIMES: Final = 1000

# ------------------------------------------------------------------------------------------------------------ tables


class ColumnSpec(Strict):
    """A column: its type and where its values come from."""

    type: Annotated[str, Field(description="A portable type, or a native one with source: 'decimal(10,2)'.")]
    nullable: Annotated[bool | None, Field(description="Default: yes, except for key columns.")] = None
    nulls: Annotated[Share, Field(description="Share of nulls among drawn values.")] = 0
    values: Values = Values("default", True)
    changes: Annotated[bool, Field(description="Whether updates of the short form may set it; keys never.")] = True

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, data: Any) -> Any:
        return {"type": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(schema)]}


class Mix(Strict):
    """Relative weights of row changes."""

    insert: Annotated[float, Field(ge=0, le=MOST_WEIGHT)] = 0
    update: Annotated[float, Field(ge=0, le=MOST_WEIGHT)] = 0
    delete: Annotated[float, Field(ge=0, le=MOST_WEIGHT)] = 0


class Hot(Strict):
    """A share of the rows that changes more often than the others."""

    share: Annotated[float, Field(gt=0, lt=1, description="Share of the rows.")]
    times: Annotated[float, Field(gt=1, le=1e6, description="How much more often they change.")]
    moves: Annotated[
        Duration | None, Field(description="About so long a row is hot, then others are; left out: always the same.")
    ] = None


Hots = Annotated[
    list[Hot],
    BeforeValidator(lambda value: [value] if isinstance(value, dict) else value),
    ONE,
]


Every = Annotated[float, Field(ge=1e-3, le=1e6, description="Factor by which rows change less often than others.")]
Gaps = Annotated[
    Literal["independent", "steady", "bursts"],
    Field(description="When something happens: at any time, after about the same time, or several times in a row."),
]
Zipf = Annotated[
    float | None,
    Field(gt=0, le=3, description="Rows change by Zipf's law: the n-th hottest in proportion to n to minus this."),
]


PER_STATEMENT: Final = "rows_per_statement"


def update_weights(value: Any) -> Any:
    """`{city: 12, name email: 2}`: the columns that one update sets, and its weight."""
    if not isinstance(value, dict):
        return value
    return {tuple(re.split(r"[\s,]+", str(columns).strip())): weight for columns, weight in value.items()}


def named_keys(value: Any) -> Any:
    """`uk_code: [code]` for `code` and for `[code]`."""
    columns = several(value)
    if isinstance(columns, list) and all(isinstance(column, str) for column in columns):
        return {f"uk_{'_'.join(columns)}"[:64]: columns}
    return value


# Replaced by each type in a table for each type: in its name, and as the type of a column.
TYPE_PLACEHOLDER = "{type}"


class Native(str):
    """A native type in a scenario of portable types."""

    __slots__ = ()


class TableSpec(Strict):
    """A table. `rows` and the keys below are the short form: the lifecycle of a table that needs no other."""

    columns: Annotated[dict[Name, ColumnSpec], Field(min_length=1, max_length=1000)]
    key: Annotated[
        list[Name],
        BeforeValidator(several),
        Field(max_length=16, description="Primary key columns in key order; may be empty."),
        ONE,
    ] = []
    unique: Annotated[
        dict[Name, Names],
        BeforeValidator(named_keys),
        Field(max_length=16, description="Unique keys: the columns of one, or names with the columns of each."),
        Shorthand({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = {}
    database: Annotated[Name | None, Field(description="Default: the scenario's.")] = None
    db_schema: Annotated[Name | None, Field(alias="schema", description="Default: the scenario's.")] = None
    rows: Annotated[
        int | None,
        Field(
            ge=1,
            le=1 << 40,
            description="Approximate number of live rows; makes this a short-form table (keys below apply only there).",
        ),
    ] = None
    every: Every = 1
    gaps: Gaps = "independent"
    zipf: Zipf = None
    mix: Annotated[Mix, Field(description="Default: insert 10, update 80, delete 10.")] = Mix(
        insert=10, update=80, delete=10
    )
    hot: Hots = []
    key_updates: Annotated[Share, Field(description="Share of the updates that change the key.")] = 0
    columns_per_update: Annotated[Count, Field(description="Columns that one update sets.")] = (1, 1)
    updates: Annotated[
        dict[tuple[Name, ...], Weight],
        BeforeValidator(update_weights),
        WithJsonSchema({"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}),
        Field(
            max_length=100,
            description="What updates set besides version and commit_time, by weight: {city: 9, name email: 1}. "
            "Default: any column.",
        ),
    ] = {}
    rows_per_statement: Annotated[int, Field(ge=1, le=10_000, description="Rows that one statement changes.")] = 1
    created: Annotated[bool, Field(description="No: a script creates it with a create_table entry.")] = True
    each: Annotated[
        Literal["type"] | None,
        Field(description="type: one table per type of the source; {type} is replaced by its name."),
    ] = None

    @model_validator(mode="after")
    def _short_form(self) -> Self:
        if self.rows is None:
            odd = sorted(
                self.model_fields_set
                & {"every", "gaps", "zipf", "mix", "hot", "key_updates", "columns_per_update", "updates", PER_STATEMENT}
            )
            if odd:
                raise ValueError(f"{odd[0]} applies only to short-form tables: add rows")
        if self.updates and "columns_per_update" in self.model_fields_set:
            raise ValueError("updates says which columns are set: remove columns_per_update")
        if self.each and self.rows is None:
            raise ValueError("a table for each type needs rows: lifecycles cannot name it")
        if self.each and not any(column.type == TYPE_PLACEHOLDER for column in self.columns.values()):
            raise ValueError(f"a table for each type needs a column of type {TYPE_PLACEHOLDER!r}")
        return self

    def link(self, column: str) -> tuple[str, ...] | None:
        """The first key that contains a column and consists of references: it is unique as a whole."""
        for key in (self.key, *self.unique.values()):
            values = [self.columns[name].values.kind if name in self.columns else "" for name in key]
            if column in key and len(key) > 1 and set(values) == {"references"}:
                return tuple(key)
        return None

    @property
    def moves(self) -> bool:
        """Whether the set of hot rows changes over time."""
        return any(hot.moves for hot in self.hot)

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of inserts, updates and deletes among the row changes of the short form."""
        total = self.mix.insert + self.mix.update + self.mix.delete
        return self.mix.insert / total, self.mix.update / total, self.mix.delete / total


# -------------------------------------------------------------------------------------------------------- lifecycles


class Statement(RowStatement):
    """One statement of a step: exactly one of insert, update, delete, naming the table."""

    rows: Annotated[
        str | None,
        Field(description="Of an insert: a count `3`, `1..5`, or a table of this entity: as many as it has."),
        Shorthand({"type": "integer", "minimum": 1}),
    ] = None
    set: Annotated[Names | None, Field(description="Of an update: the columns that it sets.")] = None

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        kind = self.kind
        if self.set is not None and kind != "update":
            raise ValueError("only an update has set")
        if kind == "update" and not self.set:
            raise ValueError("an update needs set: the columns that it changes")
        if self.rows is not None:
            if kind != "insert":
                raise ValueError("only an insert has rows; update and delete change all rows of the entity")
            if self.rows[:1].isdigit() and count(self.rows)[1] > 10_000:
                raise ValueError(f"rows: {self.rows!r} is above 10000, the maximum of a statement")
        return self


class Step(Strict):
    """An entity's statements in one turn, or a choice between ways to continue."""

    name: Annotated[Name, Field(description="Of a step that does something.")] = ""
    do: Annotated[list[Statement], Field(description="Statements of one turn.")] = []
    either: Annotated[list[Way], Field(description="One of these ways, by weight.")] = []
    chance: Annotated[float, Field(gt=0, le=1, description="Share of the entities that take the step.")] = 1
    times: Annotated[
        Span, Field(description="How many times in a row the step happens: `3`, or `0..5`, drawn for each entity.")
    ] = (1, 1)

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        if bool(self.do) == bool(self.either):
            raise ValueError("expected exactly one of do, either")
        if self.do and not self.name:
            raise ValueError("a step needs a name")
        if self.either and self.name:
            raise ValueError("remove name: the steps of each way have names")
        if not 1 <= self.times[1] <= MOST_TIMES:
            raise ValueError(f"times: a step happens up to {MOST_TIMES} times in a row, and may happen once at least")
        return self

    @property
    def optional(self) -> bool:
        """Whether some entities skip the step."""
        return self.chance < 1 or self.times[0] == 0

    @property
    def varies(self) -> bool:
        """Whether entities take the step differently."""
        return self.chance < 1 or self.times[0] < self.times[1] or bool(self.either)


class Way(Strict):
    """A way to continue; without steps, nothing happens."""

    weight: Weight = 1
    steps: list[Step] = []


class LifecycleSpec(Strict):
    """The steps of one business entity, in order."""

    slots: Annotated[int, Field(ge=1, le=1 << 40, description="Entities alive at once.")]
    every: Every = 1
    gaps: Gaps = "independent"
    zipf: Zipf = None
    steps: Annotated[list[Step], Field(min_length=1)]
    hot: Hots = []
    then: Annotated[
        Literal["restart", "repeat"] | None,
        Field(
            description="After the last step: restart with a new entity, or repeat the steps after the first. "
            "Default: restart if a step deletes or all only insert, else repeat."
        ),
    ] = None

    @property
    def moves(self) -> bool:
        """Whether the set of hot entities changes over time."""
        return any(hot.moves for hot in self.hot)

    @property
    def repeats(self) -> bool:
        """Whether the rows of the first step are permanent and the other steps repeat without end."""
        if self.then is not None:
            return self.then == "repeat"
        statements = [statement for _, step in self.walk() for statement in step.do]
        return not any(s.delete for s in statements) and not all(s.insert for s in statements)

    def walk(self) -> Iterator[tuple[Key, Step]]:
        """All steps that do something, those of all ways included, with their keys in the lifecycle."""
        return _walk(self.steps, ("steps",))


def _walk(steps: Sequence[Step], path: Key) -> Iterator[tuple[Key, Step]]:
    for s, step in enumerate(steps):
        if step.do:
            yield (*path, s), step
        for w, way in enumerate(step.either):
            yield from _walk(way.steps, (*path, s, "either", w, "steps"))
