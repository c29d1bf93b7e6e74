"""Where a column's values come from, as the scenario language says it."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from simulator.stream.scenario.language.words import WORD, Name, Span, Strict, Text, Weight


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
    faker: Annotated[Faker | None, WORD] = None
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
    references: Annotated[Reference | None, WORD] = None
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
        dict[str, Any] | list[Any] | None,
        Field(description="A JSON object or array; each leaf is a literal, or a values key such as {range: [1, 9]}."),
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
