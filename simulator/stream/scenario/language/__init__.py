"""The scenario language as pydantic models: what a scenario file may say, and its JSON Schema.

`loader.py` reads YAML into these with every scalar as text (only a plain `null` or `~` is None): numbers and switches
take their type from the model, literals of rows from their column. So `no`, `1e3`, `2024-05-01` and `007` are read by
the column's type, not by YAML's rules. Rules that need more than one key (a reference to an unknown table, say) are in
`checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from simulator.stream.scenario.language.changes import ScriptEntry, TimedChange
from simulator.stream.scenario.language.tables import TYPE_PLACEHOLDER, Gaps, LifecycleSpec, Mix, TableSpec
from simulator.stream.scenario.language.words import (
    MOST_WEIGHT,
    Duration,
    Durations,
    Instant,
    Name,
    Share,
    Strict,
    Weight,
    duration_ms,
    instant_ms,
    quoted,
    span,
)

# Maximum turns in a transaction: none crosses a block of the stream.
LARGEST_TRANSACTION: Final = 1024
LONGEST_TRANSACTION_MS: Final = 24 * 60 * 60 * 1000
# Keys that scripts cannot have.
GENERATED_ONLY: Final = {"rate", "arrivals", "curve", "surges", "heartbeat", "transactions", "durations", "text", "mix"}


def sizes(value: Any) -> dict[tuple[int, int], float]:
    """`{1: 70, 2..5: 30}`: turns in a transaction, with weights."""

    def turns(text: Any) -> tuple[int, int]:
        low, high = span(text)
        if low < 1 or high > LARGEST_TRANSACTION:
            raise ValueError(f"{text!r}: a transaction has 1 to {LARGEST_TRANSACTION} turns")
        return low, high

    return weighted(value, turns, "sizes to weights such as {1: 70, 2..5: 30}")


def lengths_ms(value: Any) -> dict[tuple[int, int], float]:
    """`{0s: 95, 5s..1m: 5}`: milliseconds from a transaction's begin to its commit, with weights."""

    def milliseconds(text: Any) -> tuple[int, int]:
        low, _, high = str(text).partition("..")
        ends = low.strip(), (high or low).strip()
        shortest, longest = (0 if end in ("0", "0s") else duration_ms(end) for end in ends)
        if not shortest <= longest <= LONGEST_TRANSACTION_MS:
            raise ValueError(f"{text!r}: write the shorter time first, and a day at the most")
        return shortest, longest

    return weighted(value, milliseconds, "times to weights such as {0s: 95, 5s..1m: 5}")


def weighted(value: Any, read: Callable[[Any], tuple[int, int]], noun: str) -> dict[tuple[int, int], float]:
    """A mapping of ranges to weights."""
    if not isinstance(value, dict) or not value:
        raise ValueError(f"expected a mapping of {noun}")
    parsed: dict[tuple[int, int], float] = {}
    for text, weight in value.items():
        bounds = read(text)
        try:
            parsed[bounds] = float(weight)
        except (TypeError, ValueError):
            raise ValueError(f"{text!r}: the weight {quoted(weight)} is not a number") from None
        if not 0 < parsed[bounds] <= MOST_WEIGHT:
            raise ValueError(f"{text!r}: the weight {quoted(weight)} is not above 0 and up to {MOST_WEIGHT:g}")
    return parsed


class Curve(Strict):
    """Relative load of the hours of a day and the days of a week, in UTC."""

    hours: Annotated[list[Weight], Field(min_length=24, max_length=24, description="From midnight on.")] = [1.0] * 24
    days: Annotated[list[Weight], Field(min_length=7, max_length=7, description="From Monday on.")] = [1.0] * 7


def turn_or(read: Callable[[Any], int]) -> Callable[[Any], tuple[str, int]]:
    """Parser of a number of turns, or of a time that `read` parses."""

    def parse(text: Any) -> tuple[str, int]:
        if str(text).isdigit() and len(str(text)) <= 15:
            return "turns", int(text)
        return "ms", read(text)

    return parse


_TURNS: Final = {"type": "integer", "minimum": 0}


class Surge(Strict):
    """A time in which a table's rows or a lifecycle's entities change more often."""

    at: Annotated[
        tuple[str, int],
        BeforeValidator(turn_or(instant_ms)),
        WithJsonSchema({"anyOf": [_TURNS, {"type": "string", "format": "date-time"}]}),
        Field(description="When it begins: a turn, or a time."),
    ]
    lasts: Annotated[
        tuple[str, int],
        BeforeValidator(turn_or(duration_ms)),
        WithJsonSchema({"anyOf": [_TURNS, {"type": "string"}]}),
        Field(description="For how many turns, or how long."),
    ]
    of: Annotated[Name, Field(description="A table of the short form, or a lifecycle.")]
    share: Annotated[float | None, Field(gt=0, lt=1, description="Of some of its rows; left out: of all.")] = None
    times: Annotated[float, Field(gt=0, le=1e6, description="How much more often they change.")]


class Texts(Strict):
    """Properties of texts that people type: names, titles, comments."""

    hostile: Annotated[
        Share, Field(description="Share of the rows with a nasty text in such a column: quotes, markup, controls …")
    ] = 0


class ScenarioSpec(Strict):
    """A whole scenario file."""

    source: Annotated[
        str | None,
        Field(description="Source of native column types; default: portable types, for any --source."),
    ] = None
    database: Name = "shop"
    db_schema: Annotated[
        Name | None,
        Field(alias="schema", description="Schema of tables that name none. Default: the source's (public, dbo)."),
    ] = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1
    start: Annotated[Instant, Field(description="Commit time of turn 0.")] = 1_714_521_600_000  # 2024-05-01T00:00:00Z
    rate: Annotated[float, Field(ge=1e-6, le=1e9, description="Turns per second of simulated time, on average.")] = 1000
    arrivals: Gaps = "independent"
    curve: Annotated[Curve, Field(description="Busy and quiet hours; default: all alike.")] = Curve()
    surges: Annotated[list[Surge], Field(max_length=64, description="Times at which some rows change more often.")] = []
    row_image: Annotated[
        Literal["full", "minimal", "noblob"] | None,
        Field(description="What the source's log holds of a row (binlog_row_image); default: full."),
    ] = None
    replica_identity: Annotated[
        Literal["full", "default", "index", "nothing"] | None,
        Field(description="What the source's log holds of the row before a change (REPLICA IDENTITY); default: full."),
    ] = None
    supplemental_logging: Annotated[
        Literal["all", "minimal", "primary key", "unique", "primary key, unique"] | None,
        Field(description="What the source's log holds of an update (supplemental logging); default: all."),
    ] = None
    text: Annotated[Texts, Field(description="Of texts that people type.")] = Texts()
    heartbeat: Annotated[Duration | None, Field(description="Simulated time between heartbeats.")] = None
    delay: Annotated[
        Durations | None,
        Field(description="Time between a commit and the product's writing: 350ms, 1s..2s."),
    ] = None
    snapshot: bool = False
    faults: Annotated[
        dict[str, str | None],
        WithJsonSchema({"type": "object", "additionalProperties": {"type": ["number", "string", "boolean", "null"]}}),
        Field(description="Faults of messages with their rates, such as {redelivery: 100, poison: 0.001}."),
    ] = {}
    transactions: Annotated[
        dict[tuple[int, int], float],
        BeforeValidator(sizes),
        WithJsonSchema({"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}),
        Field(description="Turns in a transaction: weights, such as {1: 70, 2..5: 30}."),
    ] = {(1, 1): 1.0}
    durations: Annotated[
        dict[tuple[int, int], float],
        BeforeValidator(lengths_ms),
        WithJsonSchema({"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}),
        Field(description="How long transactions take until they commit: weights, such as {0s: 95, 5s..1m: 5}."),
    ] = {(0, 0): 1.0}
    mix: Annotated[Mix | None, Field(description="Mix of the short-form tables that set none.")] = None
    tables: Annotated[dict[Name, TableSpec], Field(min_length=1)]
    lifecycles: dict[Name, LifecycleSpec] = {}
    schema_changes: list[TimedChange] = []
    script: list[ScriptEntry] | None = None

    @property
    def row_images(self) -> dict[str, str | None]:
        """Server settings for row images in the log; None: full images."""
        names = {"row_image": self.row_image, "replica_identity": self.replica_identity}
        return {**names, "supplemental_logging": self.supplemental_logging}

    @model_validator(mode="after")
    def _has_a_mix(self) -> Self:
        if self.mix is not None:
            for name, table in self.tables.items():
                if table.rows is not None and "mix" not in table.model_fields_set:
                    self.tables[name] = table.model_copy(update={"mix": self.mix})
        return self

    @model_validator(mode="after")
    def _each_has_a_name(self) -> Self:
        for name, table in self.tables.items():
            if table.each and TYPE_PLACEHOLDER not in name:
                raise ValueError(f"tables.{name}: the name of a table for each type must contain {TYPE_PLACEHOLDER}")
        return self

    @model_validator(mode="after")
    def _has_a_stream(self) -> Self:
        generated = bool(self.lifecycles) or any(table.rows is not None for table in self.tables.values())
        if self.script is not None:
            if generated or self.schema_changes:
                raise ValueError("a script cannot be combined with lifecycles, rows or schema_changes")
            if odd := sorted(self.model_fields_set & GENERATED_ONLY):
                raise ValueError(f"{odd[0]} has no effect in a script; remove it")
        if self.script is None and not generated:
            raise ValueError("nothing happens: add rows to a table, or lifecycles, or a script")
        return self
