"""Types of the scenario language: names, times, counts, weights, and the strict base of its models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

# Dots separate names in references (`order_items.quantity`) and in error messages.

Name = Annotated[
    str, Field(min_length=1, max_length=64, pattern=r"^[^\s.`\x00-\x1f]([^.`\x00-\x1f]*[^\s.`\x00-\x1f])?$")
]
# A literal value: text, or null. Editors see YAML's own types, so the JSON Schema lets them all pass.
Text = Annotated[str | None, WithJsonSchema({"type": ["string", "number", "boolean", "null"]})]
Row = dict[Name, Any]  # column: literal; checked when the script is prepared
Share = Annotated[float, Field(ge=0, le=1)]
# Maximum weight: sums and ratios of weights must stay finite and exact enough.
MOST_WEIGHT: Final = 1e15
Weight = Annotated[float, Field(gt=0, le=MOST_WEIGHT)]
# Maximum count of anything: rows, columns, characters.
MOST: Final = (1 << 31) - 1
# Maximum turn: order keys hold it in 64 bits together with ordinals.
MOST_TURNS: Final = 1 << 50

_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def quoted(value: Any) -> str:
    """A value for a message: `'abc'`, `a list`, `nothing`."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]}…{text[0]}"


def duration_ms(text: Any) -> int:
    """`10s` is 10000; units ms, s, m, h, d."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*(ms|s|m|h|d)", str(text))
    if not match:
        raise ValueError(f"{quoted(text)} is not a duration such as '500ms', '10s', '5m', '2h' or '1d'")
    ms = round(float(match[1]) * _UNITS[match[2]])
    if not 1 <= ms <= 36_500 * _UNITS["d"]:
        raise ValueError(f"{quoted(text)} is not between 1ms and 36500d")
    return ms


def durations_ms(text: Any) -> tuple[int, int]:
    """`1s..2s` is (1000, 2000); `350ms` is (350, 350)."""
    low, dots, high = str(text).partition("..")
    pair = duration_ms(low.strip()), duration_ms(high.strip() if dots else low.strip())
    if pair[0] > pair[1]:
        raise ValueError(f"{quoted(text)} has the longer time first")
    return pair


def instant_ms(text: Any) -> int:
    """`2024-05-01T10:00:00Z` as epoch milliseconds; without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        raise ValueError(f"{quoted(text)} is not a point in time such as '2024-05-01T10:00:00Z'") from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    if not 1970 <= time.year < 3000:
        raise ValueError(f"{text!r} is not a commit time: use the years 1970 to 2999")
    return round(time.timestamp() * 1000)


def span(text: Any) -> tuple[int, int]:
    """`1..5` is (1, 5); `3` is (3, 3)."""
    match = re.fullmatch(r"(\d{1,4000})(?:\s*\.\.\s*(\d{1,4000}))?", str(text))
    if not match:
        raise ValueError(f"{quoted(text)} is not a count such as '3' or '1..5'")
    low, high = int(match[1]), int(match[2] or match[1])
    if high < low:
        raise ValueError(f"{quoted(text)} has the higher number first")
    if high > MOST:
        raise ValueError(f"{quoted(text)} is above {MOST}")
    return low, high


def count(text: Any) -> tuple[int, int]:
    """A span that begins at 1 or above."""
    low, high = span(text)
    if low < 1:
        raise ValueError(f"{text!r} is below 1")
    return low, high


def several(value: Any) -> Any:
    """Wraps a single name in a list."""
    return [value] if isinstance(value, str) else value


Duration = Annotated[
    int, BeforeValidator(duration_ms), WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)$"})
]
Durations = Annotated[
    tuple[int, int],
    BeforeValidator(durations_ms),
    WithJsonSchema(
        {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)(\s*\.\.\s*\d+(\.\d+)?\s*(ms|s|m|h|d))?$"}
    ),
]
Instant = Annotated[int, BeforeValidator(instant_ms), WithJsonSchema({"type": "string", "format": "date-time"})]
SPAN_SCHEMA = WithJsonSchema(
    {"anyOf": [{"type": "string", "pattern": r"^\d+(\s*\.\.\s*\d+)?$"}, {"type": "integer", "minimum": 0}]}
)
Span = Annotated[tuple[int, int], BeforeValidator(span), SPAN_SCHEMA]
Count = Annotated[tuple[int, int], BeforeValidator(count), SPAN_SCHEMA]


class Shorthand:
    """JSON Schema of shorthands that the loader accepts: a word for a mapping, an item for a list of one."""

    def __init__(self, short: JsonSchemaValue | None = None) -> None:
        self.short = short

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        full = handler(schema)
        return {"anyOf": [self.short or full["items"], full]}


ONE = Shorthand()
WORD = Shorthand({"type": "string"})
Names = Annotated[list[Name], BeforeValidator(several), Field(min_length=1), ONE]


class Strict(BaseModel):
    """The base of all models of the language."""

    # Built on first use: most models are parts, and building the whole builds its parts again.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    def only(self, keys: Sequence[str]) -> str:
        """The one of these keys that is set. Raises ValueError if none or several are."""
        given_keys = [key for key in keys if getattr(self, key)]
        if len(given_keys) != 1:
            raise ValueError(f"expected exactly one of {', '.join(keys)}")
        return given_keys[0]


class RowStatement(Strict):
    """An insert, an update or a delete of a table's rows."""

    insert: Name | None = None
    update: Name | None = None
    delete: Name | None = None

    @property
    def kind(self) -> str:
        return self.only(("insert", "update", "delete"))

    @property
    def table(self) -> str:
        return self.insert or self.update or self.delete or ""
