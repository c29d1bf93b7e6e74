"""The scenario language as pydantic models: what a scenario file may say, and its JSON Schema.

`loader.py` reads YAML into these with every scalar as text (only a plain `null` or `~` is None): numbers and switches
take their type from the model, literal values of rows from the column they are for. So `no`, `1e3`, `2024-05-01` and
`007` mean what the column says, never what YAML guesses. What needs more than one key to judge (a reference to a
table that is not there, say) is checked by `check.py`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

# Dots separate names in references (`order_items.quantity`) and in error messages.
Name = Annotated[
    str, Field(min_length=1, max_length=64, pattern=r"^[^\s.`\x00-\x1f]([^.`\x00-\x1f]*[^\s.`\x00-\x1f])?$")
]
# A literal value: text, or null. Editors see YAML's own types, so the JSON Schema lets them all pass.
Text = Annotated[str | None, WithJsonSchema({"type": ["string", "number", "boolean", "null"]})]
Row = dict[Name, Any]  # column: literal; `script.py` refuses what is not one
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(gt=0)]

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def duration_ms(text: Any) -> int:
    """`10s` is 10000; units ms, s, m, h, d."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", str(text))
    if not match:
        raise ValueError(f"{text!r} is not a duration such as '500ms', '10s', '5m', '2h' or '1d'")
    return round(float(match[1]) * _UNITS[match[2]])


def instant_ms(text: Any) -> int:
    """`2024-05-01T10:00:00Z` as epoch milliseconds; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise ValueError(f"{text!r} is not a point in time such as '2024-05-01T10:00:00Z'") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not 1970 <= moment.year < 3000:
        raise ValueError(f"{text!r} is not a commit time: those lie in the years 1970 to 2999")
    return round(moment.timestamp() * 1000)


def span(text: Any) -> tuple[int, int]:
    """`1..5` is (1, 5); `3` is (3, 3)."""
    match = re.fullmatch(r"(\d+)(?:\s*\.\.\s*(\d+))?", str(text))
    if not match:
        raise ValueError(f"{text!r} is not a count such as '3' or '1..5'")
    low, high = int(match[1]), int(match[2] or match[1])
    if high < low:
        raise ValueError(f"{text!r} ends before it begins")
    return low, high


def count(text: Any) -> tuple[int, int]:
    """A span that begins at 1 or above."""
    low, high = span(text)
    if low < 1:
        raise ValueError(f"{text!r} begins below 1")
    return low, high


def several(value: Any) -> Any:
    """One name may stand for a list of one."""
    return [value] if isinstance(value, str) else value


Duration = Annotated[
    int, BeforeValidator(duration_ms), WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)$"})
]
Instant = Annotated[int, BeforeValidator(instant_ms), WithJsonSchema({"type": "string", "format": "date-time"})]
_SPAN_SCHEMA = WithJsonSchema(
    {"anyOf": [{"type": "string", "pattern": r"^\d+(\s*\.\.\s*\d+)?$"}, {"type": "integer", "minimum": 0}]}
)
Span = Annotated[tuple[int, int], BeforeValidator(span), _SPAN_SCHEMA]
Count = Annotated[tuple[int, int], BeforeValidator(count), _SPAN_SCHEMA]


class _Short:
    """Editors must accept what the loader accepts: a word in place of a mapping, or one thing in place of a list."""

    def __init__(self, short: JsonSchemaValue | None = None) -> None:
        self.short = short

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        whole = handler(schema)
        return {"anyOf": [self.short or whole["items"], whole]}


_ONE = _Short()
_WORD = _Short({"type": "string"})
Names = Annotated[list[Name], BeforeValidator(several), Field(min_length=1), _ONE]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


# ---------------------------------------------------------------------------------------------- values of a column


class Sequence(Strict):
    """Numbers that rise with the turn that wrote them, each once, with gaps, as an auto-increment column has."""

    start: Annotated[int, Field(ge=0, description="The first number.")] = 1


class Faker(Strict):
    """A pool of texts that Faker makes once; rows index it."""

    provider: Annotated[str, Field(description="A Faker provider: name, email, company, street_address …")]
    locale: str = "en_US"
    size: Annotated[int, Field(ge=2, le=1_000_000, description="Different texts in the pool.")] = 1000


class TextValues(Strict):
    """Text of a given length, in characters, over an alphabet."""

    length: Span = (1, 20)
    alphabet: Annotated[
        str,
        Field(
            description="ascii, letters, digits, hex, latin, cjk, emoji, mixed, controls, or the characters themselves."
        ),
    ] = "letters"


class BytesValues(Strict):
    """Bytes of a given length."""

    length: Span = (1, 20)


class Reference(Strict):
    """The key of a row of another table that is alive for the whole stream."""

    table: Name
    skew: Annotated[float, Field(ge=1, le=20, description="1 picks evenly; more picks low rows more often.")] = 1


_PLAIN = ("commit_time", "row", "version", "uuid", "boundary", "default")
_WITH_DEFAULTS = ("sequence", "text", "bytes")


class Values(Strict):
    """Where a column's values come from: exactly one of these keys. A word stands for a key without arguments."""

    sequence: Sequence | None = None
    row: Annotated[bool, Field(description="The row's number inside its entity, from 1 (an order's line number).")] = (
        False
    )
    version: Annotated[bool, Field(description="How often the column was set: 1, 2, 3 …; always changes.")] = False
    uuid: Annotated[bool, Field(description="A random UUID.")] = False
    boundary: Annotated[bool, Field(description="The boundary values of the column's type, one after the other.")] = (
        False
    )
    default: Annotated[bool, Field(description="What the type does when nothing is said.")] = False
    commit_time: Annotated[bool, Field(description="Commit time of the transaction that set the value.")] = False
    constant: Annotated[Text, Field(description="Always this value.")] = None
    faker: Annotated[Faker | None, _WORD] = None
    range: Annotated[
        tuple[str, str] | None,
        Field(description="Two literals of the column's type; any value between, both included."),
        WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["string", "number"]}}),
    ] = None
    choices: Annotated[
        list[Text] | dict[str, Weight] | None, Field(description="Literals, evenly; or literal: weight.")
    ] = None
    pattern: Annotated[
        str | None, Field(description="`#` becomes a digit, `?` a capital letter, `*` either: 'SKU-####-??'.")
    ] = None
    text: Annotated[TextValues | None, Field(description="Random text.")] = None
    bytes: Annotated[BytesValues | None, Field(description="Random bytes.")] = None
    states: Annotated[
        dict[Name, Text] | None, Field(description="Step name: value. The state an entity is in after each step.")
    ] = None
    references: Annotated[Reference | None, _WORD] = None
    of: Annotated[
        str | None,
        Field(pattern=r"^[^.]+\.[^.]+$", description="`table.column` of the same entity, as it was when this was set."),
    ] = None
    derived: Annotated[
        str | None,
        Field(
            max_length=1000,
            description="An expression over the entity's values: 'sum(order_items.quantity * order_items.price)'.",
        ),
    ] = None
    document: Annotated[
        dict[str, Any] | None,
        Field(
            description="A JSON object; each leaf is a literal, or a mapping with a values key such as {range: [1, 9]}."
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, data: Any) -> Any:
        if isinstance(data, str):
            if data in _WITH_DEFAULTS:
                return {data: {}}
            if data not in _PLAIN:
                alone = ", ".join((*_PLAIN, *_WITH_DEFAULTS))
                raise ValueError(f"{data!r} is not a kind of values that stands alone; those are {alone}")
            return {data: True}
        if isinstance(data, dict):
            data = dict(data)
            if isinstance(data.get("faker"), str):
                data["faker"] = {"provider": data["faker"]}
            if isinstance(data.get("references"), str):
                data["references"] = {"table": data["references"]}
            for key in _WITH_DEFAULTS:
                if key in data and data[key] is None:
                    data[key] = {}
        return data

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            given = " and ".join(sorted(self.model_fields_set)) or "none"
            raise ValueError(f"wants exactly one kind of values, got {given}")
        if self.kind != "constant" and getattr(self, self.kind) in (None, False):
            raise ValueError(f"{self.kind} wants something behind it; leave the key out to do without")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"enum": [*_PLAIN, *_WITH_DEFAULTS]}, handler(schema)]}

    @property
    def kind(self) -> str:
        return next(iter(self.model_fields_set))


# ------------------------------------------------------------------------------------------------------------ tables


class ColumnSpec(Strict):
    """A column: its type and where its values come from."""

    type: Annotated[str, Field(description="A portable type or one of the source's own: 'decimal(10,2)'.")]
    nullable: Annotated[bool | None, Field(description="Default: yes, but not for key columns.")] = None
    nulls: Annotated[Share, Field(description="Share of nulls among drawn values.")] = 0
    values: Values = Values(default=True)
    changes: Annotated[bool, Field(description="May an update of the short form change it? Keys never.")] = True

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, data: Any) -> Any:
        return {"type": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(schema)]}


class Mix(Strict):
    """Relative weights of row changes."""

    insert: Annotated[float, Field(ge=0)] = 0
    update: Annotated[float, Field(ge=0)] = 0
    delete: Annotated[float, Field(ge=0)] = 0


def power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError(f"{value} is not a power of two")
    return value


PowerOfTwo = Annotated[int, AfterValidator(power_of_two)]


class Hot(Strict):
    """A share of the rows that changes more often than the others."""

    share: Annotated[float, Field(gt=0, lt=1, description="Share of the rows.")]
    times: Annotated[PowerOfTwo, Field(ge=2, le=1 << 16, description="How much more often; a power of two.")]


Hots = Annotated[
    list[Hot],
    BeforeValidator(lambda value: [value] if isinstance(value, dict) else value),
    _ONE,
]


class TableSpec(Strict):
    """A table. `rows` and what follows is the short form: a lifecycle of its own for a table that stands alone."""

    columns: Annotated[dict[Name, ColumnSpec], Field(min_length=1, max_length=1000)]
    key: Annotated[
        list[Name],
        BeforeValidator(several),
        Field(max_length=16, description="Primary key columns in key order; may be empty."),
        _ONE,
    ] = []
    database: Annotated[Name | None, Field(description="Default: the scenario's.")] = None
    rows: Annotated[int | None, Field(ge=1, le=1 << 40, description="Rows alive at once, about.")] = None
    every: Annotated[
        PowerOfTwo,
        Field(ge=1, le=1 << 16, description="Take part only in every n-th round: a power of two; slows it down."),
    ] = 1
    mix: Annotated[Mix, Field(description="Default: insert 10, update 80, delete 10.")] = Mix(
        insert=10, update=80, delete=10
    )
    hot: Hots = []
    key_updates: Annotated[Share, Field(description="Share of the updates that change the key.")] = 0
    columns_per_update: Annotated[Count, Field(description="Columns that one update sets.")] = (1, 1)
    rows_per_statement: Annotated[int, Field(ge=1, le=10_000, description="Rows that one statement changes.")] = 1
    created: Annotated[bool, Field(description="No: a script creates it with a create_table entry.")] = True

    @model_validator(mode="after")
    def _short_form(self) -> Self:
        if self.rows is None:
            odd = sorted(
                self.model_fields_set
                & {"every", "mix", "hot", "key_updates", "columns_per_update", "rows_per_statement"}
            )
            if odd:
                raise ValueError(f"{odd[0]} belongs to the short form, which begins with rows")
        return self

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of inserts, updates and deletes among the row changes of the short form."""
        total = self.mix.insert + self.mix.update + self.mix.delete
        return self.mix.insert / total, self.mix.update / total, self.mix.delete / total


# -------------------------------------------------------------------------------------------------------- lifecycles


class Statement(Strict):
    """One statement of a step: exactly one of insert, update, delete, naming the table."""

    insert: Name | None = None
    update: Name | None = None
    delete: Name | None = None
    rows: Annotated[
        str | None,
        Field(description="Of an insert: a count `3`, `1..5`, or a table of this entity: as many as it has."),
        _Short({"type": "integer", "minimum": 1}),
    ] = None
    set: Annotated[Names | None, Field(description="Of an update: the columns that it sets.")] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [key for key in ("insert", "update", "delete") if getattr(self, key)]
        if len(given) != 1:
            raise ValueError("wants exactly one of insert, update, delete")
        if self.set is not None and not self.update:
            raise ValueError("set belongs to an update")
        if self.update and not self.set:
            raise ValueError("an update wants set: the columns that it changes")
        if self.rows is not None:
            if not self.insert:
                raise ValueError("rows belongs to an insert; update and delete take all rows of the entity")
            if self.rows[:1].isdigit() and count(self.rows)[1] > 10_000:
                raise ValueError(f"rows: {self.rows!r} is above 10000, the most that one statement inserts")
        return self

    @property
    def table(self) -> str:
        return self.insert or self.update or self.delete or ""


class Step(Strict):
    """What an entity does in one turn."""

    name: Name
    do: Annotated[list[Statement], Field(min_length=1)]
    times: Annotated[int, Field(ge=1, le=1000, description="The step happens this often in a row.")] = 1


class LifecycleSpec(Strict):
    """What one business entity goes through, step after step."""

    slots: Annotated[int, Field(ge=1, le=1 << 40, description="Entities alive at once.")]
    every: Annotated[
        PowerOfTwo,
        Field(ge=1, le=1 << 16, description="Take part only in every n-th round: a power of two; slows it down."),
    ] = 1
    steps: Annotated[list[Step], Field(min_length=1)]
    hot: Hots = []
    then: Annotated[
        Literal["restart", "repeat"] | None,
        Field(
            description="After the last step: restart with a new entity, or repeat the steps after the first for ever. "
            "Default: restart if a step deletes or all only insert, else repeat."
        ),
    ] = None

    @property
    def repeats(self) -> bool:
        """Whether the first step's rows live for the whole stream and the other steps go on for ever."""
        if self.then is not None:
            return self.then == "repeat"
        statements = [statement for step in self.steps for statement in step.do]
        return not any(s.delete for s in statements) and not all(s.insert for s in statements)


# ---------------------------------------------------------------------------------------------------- schema changes


class NewColumn(Strict):
    """A column that a schema change adds."""

    name: Name
    column: ColumnSpec
    default: Annotated[Text, Field(description="Value of the rows that are there already.")] = None
    after: Annotated[Name | None, Field(description="The column it stands behind; default: last.")] = None


class Widened(Strict):
    column: Name
    type: str


class Renamed(Strict):
    column: Name
    to: Name


class Dropped(Strict):
    column: Name


class Index(Strict):
    name: Name
    columns: Names
    unique: bool = False


class IndexName(Strict):
    name: Name


_TABLE_CHANGES = ("add_column", "widen", "rename_column", "drop_column", "create_index", "drop_index")


class TableChange(Strict):
    """Exactly one change to a table's structure."""

    table: Name = Field(description="The table as it is called now.")
    add_column: NewColumn | None = None
    widen: Widened | None = None
    rename_column: Renamed | None = None
    drop_column: Dropped | None = None
    create_index: Index | None = None
    drop_index: IndexName | None = None
    sql: Annotated[str | None, Field(description="The statement's text; default: written for the source.")] = None

    @property
    def change(self) -> str:
        """The key that says what changes."""
        return next(key for key in self._changes() if getattr(self, key) not in (None, False))

    @classmethod
    def _changes(cls) -> tuple[str, ...]:
        return _TABLE_CHANGES

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [key for key in self._changes() if getattr(self, key) not in (None, False)]
        if len(given) != 1:
            raise ValueError(f"wants exactly one of {', '.join(self._changes())}")
        return self


class TimedChange(TableChange):
    """A schema change in a generated stream."""

    at: Annotated[int, Field(ge=0, description="It happens at the first transaction border at or after this turn.")]


# ------------------------------------------------------------------------------------------------------------ script


class ScriptedStatement(Strict):
    """Literal rows: insert with rows, update with where and set, delete with where. `where` names the key."""

    insert: Name | None = None
    update: Name | None = None
    delete: Name | None = None
    rows: Annotated[list[Row] | None, Field(min_length=1)] = None
    where: Row | list[Row] | None = None
    set: Row | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [key for key in ("insert", "update", "delete") if getattr(self, key)]
        if len(given) != 1:
            raise ValueError("wants exactly one of insert, update, delete")
        wanted = {"insert": {"rows"}, "update": {"where", "set"}, "delete": {"where"}}[given[0]]
        got = {key for key in ("rows", "where", "set") if getattr(self, key) is not None}
        if got != wanted:
            raise ValueError(f"{given[0]} wants {' and '.join(sorted(wanted, reverse=True))}, nothing else")
        return self

    @property
    def table(self) -> str:
        return self.insert or self.update or self.delete or ""


class ScriptedSnapshot(Strict):
    """Rows that are there before the script begins: written as snapshot rows when a snapshot is asked for."""

    table: Name
    rows: Annotated[list[Row], Field(min_length=1)]


class NewTableName(Strict):
    to: Name


class ScriptedChange(TableChange):
    """A DDL statement of a script: all that a stream knows, and what only a script can do."""

    table: Name = Field("", description="The table as it is called now; databases have none.")
    create_database: Name | None = None
    create_table: Annotated[bool, Field(description="The table of this name under tables, with created: no.")] = False
    truncate: bool = False
    rename_table: NewTableName | None = None
    drop_table: bool = False
    drop_database: Annotated[Name | None, Field(description="Its tables go with it.")] = None

    @classmethod
    def _changes(cls) -> tuple[str, ...]:
        return (
            "create_database",
            "create_table",
            *_TABLE_CHANGES,
            "truncate",
            "rename_table",
            "drop_table",
            "drop_database",
        )

    @model_validator(mode="after")
    def _on_what(self) -> Self:
        of_database = self.change.endswith("_database")
        if of_database and self.table:
            raise ValueError(f"{self.change} has no table")
        if not of_database and not self.table:
            raise ValueError(f"{self.change} wants table: the one that it changes")
        return self


class ScriptEntry(Strict):
    """One entry of a script: a snapshot, a transaction, a DDL statement or a heartbeat."""

    name: Annotated[str | None, Field(description="What the entry shows; for people.")] = None
    at: Annotated[Instant | None, Field(description="Commit time; default: one second after the entry before.")] = None
    snapshot: ScriptedSnapshot | None = None
    transaction: Annotated[list[ScriptedStatement] | None, Field(min_length=1)] = None
    ddl: ScriptedChange | None = None
    heartbeat: bool = False

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [key for key in ("snapshot", "transaction", "ddl", "heartbeat") if getattr(self, key)]
        if len(given) != 1:
            raise ValueError("wants exactly one of snapshot, transaction, ddl, heartbeat")
        return self


# ---------------------------------------------------------------------------------------------------------- scenario


# No transaction crosses a block of the stream.
MOST_TURNS = 1024


def sizes(value: Any) -> dict[tuple[int, int], float]:
    """`{1: 70, 2..5: 30}`: turns in a transaction, with weights."""
    if not isinstance(value, dict) or not value:
        raise ValueError("wants a mapping of sizes to weights such as {1: 70, 2..5: 30}")
    parsed: dict[tuple[int, int], float] = {}
    for key, weight in value.items():
        low, high = span(key)
        if low < 1 or high > MOST_TURNS:
            raise ValueError(f"{key!r}: a transaction has 1 to {MOST_TURNS} turns")
        try:
            parsed[low, high] = float(weight)
        except (TypeError, ValueError):
            raise ValueError(f"{key!r}: the weight {weight!r} is not a number") from None
        if not 0 < parsed[low, high] < float("inf"):
            raise ValueError(f"{key!r}: the weight {weight!r} is not above zero")
    return parsed


class ScenarioSpec(Strict):
    """A whole scenario file."""

    source: Annotated[
        str | None, Field(description="Whose types the columns have; left out: portable types, any --source.")
    ] = None
    database: Name = "shop"
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1
    start: Annotated[Instant, Field(description="Commit time of turn 0.")] = 1_714_521_600_000  # 2024-05-01T00:00:00Z
    rate: Annotated[float, Field(gt=0, le=1e9, description="Turns in a second of simulated time.")] = 1000
    heartbeat: Annotated[Duration | None, Field(description="Simulated time between heartbeats.")] = None
    snapshot: bool = False
    transactions: Annotated[
        dict[tuple[int, int], float],
        BeforeValidator(sizes),
        WithJsonSchema({"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}),
        Field(description="Turns in a transaction: weights, such as {1: 70, 2..5: 30}."),
    ] = {(1, 1): 1.0}
    tables: Annotated[dict[Name, TableSpec], Field(min_length=1)]
    lifecycles: dict[Name, LifecycleSpec] = {}
    schema_changes: list[TimedChange] = []
    script: list[ScriptEntry] | None = None

    @model_validator(mode="after")
    def _has_a_stream(self) -> Self:
        generated = bool(self.lifecycles) or any(table.rows is not None for table in self.tables.values())
        if self.script is not None:
            if generated or self.schema_changes:
                raise ValueError("a script stands alone: no lifecycles, no rows, no schema_changes beside it")
            if odd := sorted(self.model_fields_set & {"rate", "heartbeat", "transactions"}):
                raise ValueError(f"{odd[0]} is of no use in a script, whose entries say it themselves")
        if self.script is None and not generated:
            raise ValueError("nothing happens: give a table rows, or add lifecycles, or a script")
        return self
