"""Decoders of the formats' messages, written from the vendors' pages and readers.

Start with `change.py`: the `Change` that a message holds, and the `Decoder` that reads it. Each product has a module;
`values.py` reads values and declares how much of them a format carries. Decoders do not use the encoders' tables, so
they check them independently. A new format's decoder goes into its product's module and into `DECODERS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from simulator import formats, registry, sources
from simulator.errors import UsageError
from simulator.formats.options import parse_format
from simulator.model import ColumnType
from simulator.truth.decoders.change import Change, Decoder, Image, Item, Statement
from simulator.truth.decoders.values import AS_TEXT, LITERAL, TEXTS, Reading

DECODERS: Final = {
    "canal-json": "simulator.truth.decoders.canal:DECODER",
    "cloudcanal-canal-json": "simulator.truth.decoders.cloudcanal:CANAL_JSON",
    "cloudcanal-debezium": "simulator.truth.decoders.cloudcanal:DEBEZIUM",
    "cloudcanal-dts-avro": "simulator.truth.decoders.cloudcanal:DTS_AVRO",
    "cloudcanal-json": "simulator.truth.decoders.cloudcanal:JSON",
    "debezium-avro": "simulator.truth.decoders.debezium:AVRO",
    "debezium-json": "simulator.truth.decoders.debezium:JSON",
    "drs-avro": "simulator.truth.decoders.drs:AVRO",
    "drs-json": "simulator.truth.decoders.drs:JSON",
    "drs-json-c": "simulator.truth.decoders.drs:JSON_C",
    "dts-avro": "simulator.truth.decoders.dts:AVRO",
    "dts-canal-json": "simulator.truth.decoders.dts:CANAL_JSON",
    "dts-shareplex-json": "simulator.truth.decoders.dts:SHAREPLEX_JSON",
    "maxwell-json": "simulator.truth.decoders.maxwell:DECODER",
    "oms-canal-json": "simulator.truth.decoders.oms:CANAL_JSON",
    "oms-dataworks": "simulator.truth.decoders.oms:DATAWORKS",
    "oms-default": "simulator.truth.decoders.oms:DEFAULT",
    "oms-default-extend-column-type": "simulator.truth.decoders.oms:DEFAULT",
    "oms-shareplex": "simulator.truth.decoders.oms:SHAREPLEX",
}

# Facts that the systems of a family share are declared once.
FAMILY: Final[Mapping[str, str]] = {
    **{id: "mysql" for id in ("mysql", "mariadb", "oceanbase-mysql")},
    **{id: "oracle" for id in ("oracle", "oceanbase-oracle")},
    **{id: "postgresql" for id in ("postgresql", "gaussdb")},
}


def find(format: str) -> Decoder:
    """The decoder of a format: `canal-json`, or `canal-json,version=1.1.5`. Raises UnknownName."""
    name = formats.find(format.partition(",")[0]).id
    decoder: Decoder = registry.load("decoder", DECODERS, name)
    return decoder


def parse(format: str, value: bytes) -> Any:
    """Parses a message's value to Python values. Raises ValueError if it is no message of the format."""
    return find(format).parse(value, parse_format(format)[1])


def items(format: str, value: bytes) -> list[Item]:
    """Contents of a message, values as the message has them. Raises ValueError, also for members that are missing or
    have another type."""
    decoder = find(format)
    return items_of(decoder, decoder.parse(value, parse_format(format)[1]))


def items_of(decoder: Decoder, message: Any) -> list[Item]:
    """Contents of a parsed message. Raises ValueError."""
    with _as_problem():
        return list(decoder.items(message))


@contextmanager
def _as_problem() -> Iterator[None]:
    """Makes a ValueError of what a message raises that lacks members, or whose members have another type."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"it has no member {error}") from None
    except (TypeError, AttributeError, IndexError):
        raise ValueError("a member has another type than in this format") from None


def changes(format: str, value: bytes) -> list[Change]:
    """The row changes of a message. Raises ValueError."""
    return [item for item in items(format, value) if isinstance(item, Change)]


def statement(format: str, value: bytes) -> str:
    """The statement of a DDL message. Raises ValueError."""
    return next((item.sql for item in items(format, value) if isinstance(item, Statement)), "")


def decode(format: str, message: bytes | str) -> list[Item]:
    """Decodes a message for people: a `Change` for each row, a `Statement`, or a `Mark`.

    Values are texts as the message has them, None for null, or bytes; members of Avro's unions become texts. Facts that
    the format does not carry are None, and `Change.lost` names them. Raises UsageError if the value is no message of
    the format.
    """
    value = message.encode() if isinstance(message, str) else message
    if not isinstance(value, bytes):
        raise UsageError(f"message is {message!r}: it is the bytes of a message's value.")
    decoder = find(format)
    try:
        parsed = decoder.parse(value, parse_format(format)[1])
        with _as_problem():
            return list(_for_people(decoder, parsed))
    except ValueError as error:
        raise UsageError(f"these {len(value)} bytes are no message of {format}: {error}.") from None


def _for_people(decoder: Decoder, message: Any) -> Iterator[Item]:
    for item in items_of(decoder, message):
        if not isinstance(item, Change):
            yield item
            continue
        before, after = (_printed_image(decoder, message, image) for image in (item.before, item.after))
        yield replace(item, before=before, after=after, lost=decoder.lost)


def _printed_image(decoder: Decoder, message: Any, image: Image) -> Image:
    return None if image is None else {name: decoder.shown(message, value) for name, value in image.items()}


def reading(format: str, source: str, type: ColumnType) -> Reading:
    """The reading of a format's values of a type."""
    table, system = find(format).readings, sources.find(source)
    for id in (system.id, FAMILY.get(system.id, system.id)):
        for name in (type.name, system.family(type), "*"):
            if f"{id} {name}" in table:
                return table[f"{id} {name}"]
    return table.get("*") or (AS_TEXT if system.family(type) in TEXTS else LITERAL)
