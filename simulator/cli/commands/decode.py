"""`cdcsim decode`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.group import cli
from simulator.cli.opening import without_verdict
from simulator.cli.options import MOST_CHANGES, WholeNumber, complete_format
from simulator.errors import UsageError

if TYPE_CHECKING:
    from simulator.formats.format import Codec
    from simulator.sinks.reading import Reader


@cli.command()
@click.argument("origin", metavar="FILE|-|URL")
@click.option(
    "-f", "--format", required=True, metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="The format of the messages, with the options that its reader needs (`dts-avro,schema_variant=…`).",
)  # fmt: skip
@click.option(
    "-n", "--count", type=WholeNumber(0, MOST_CHANGES), metavar="N", help="Print N messages at most; default: all."
)
@click.option("--source", metavar="ID[-VERSION]", help="The source system; default: the format's own.")
@without_verdict
def decode(origin: str, format: str, count: int | None, source: str | None) -> int:
    """Print messages from files, a topic or standard input for people, also those of the real product: a summary of
    each, and its value indented; Avro is decoded. Messages of another format are printed unchanged; the exit status is
    then 2.

    \b
    cdcsim decode messages.jsonl -f canal-json
    cdcsim decode kafka://localhost:9092/orders -f dts-avro -n 5
    """
    from simulator import formats, sources
    from simulator.compare.members import readable, value_text
    from simulator.run.faults.edits import compact
    from simulator.truth.decoders import decode as decoded
    from simulator.truth.verify.opening import open_reader

    name = formats.find(format.partition(",")[0])
    system = sources.find(source or name.source)
    codec = formats.open_codec(format, system, allow_undocumented=source is not None)
    container = codec.layout.container
    prefix = 0 if container is None else container.framing
    number = wrong = 0
    first = ""
    reader = open_reader(origin, prefix_bytes=prefix, binary=name.binary)
    try:
        for number, (partition, message) in enumerate(islice(_messages(reader), count), 1):
            value = message["value"]
            head = _head(partition, message, codec)
            if value is None:
                click.echo(f"-- {head}(no value: a tombstone)")
                continue
            value = bytes(reader.prefix_bytes) + value
            packed = value if name.binary else compact(value)
            try:
                said = "; ".join(map(_said, decoded(format, packed)))
                text = readable(value_text(packed, codec))
                if len(packed) < len(value):
                    said += f", with {len(value) - len(packed):,} blanks behind its first byte"
            except UsageError as error:
                said, text = str(error).rstrip("."), value.decode(errors="backslashreplace")
                wrong += 1
                first = first or f"number {number:,}: {said.partition(f' of {format}: ')[2]}"
            click.echo(f"-- {head}{said}\n{text}")
    finally:
        reader.close()
    if wrong:
        raise UsageError(
            f"{wrong:,} of {number:,} messages of {reader.name} are not {format}; the first is {first}. Give the format"
            " and options of their writer, or see what else writes there."
        )
    return 0


def _messages(reader: Reader) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Topic and partition of each message (an empty topic if unknown), and its members."""
    if (topic := reader.topic()) is not None:
        reader.partitions(topic)
    for partition, records in reader.others():
        yield from ((partition, message) for message in records.to_pylist())


def _head(partition: tuple[str, int], message: dict[str, Any], codec: Codec) -> str:
    from simulator.compare.members import key_text

    parts = [] if not partition[0] else [f"{partition[0]}-{partition[1]}"]
    if (key := message.get("key")) is not None:
        parts.append(f"key {key_text(key, codec)}")
    parts += [
        f"header {header['name']}={(header['value'] or b'').decode(errors='backslashreplace')}"
        for header in message.get("headers") or ()
    ]
    return "".join(f"{part}, " for part in parts)


def _said(item: Any) -> str:
    """`UPDATE orders`, a statement, or a mark."""
    from simulator.truth.decoders.change import Change, Statement

    if isinstance(item, Change):
        return f"{item.op.name} {item.table}"
    return f"statement {item.sql}" if isinstance(item, Statement) else str(item.word)
