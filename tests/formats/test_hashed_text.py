"""Where a row goes does not depend on how a format or its options print its values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from building import batch_of, codec_of, table_of
from cases import refused, samples_of

from simulator import sources
from simulator.batch import ChangeBatch
from simulator.delivery.router import Router, parse_route
from simulator.errors import NotOffered, OptionError
from simulator.formats import FORMATS, find
from simulator.formats.format import Codec
from simulator.formats.options import described
from simulator.model import INSERT, Table

PARTITIONS = 8191
# Canal hashes the text that its parser made, which is what it prints.
PRODUCTS = ("dts", "drs", "oms", "cloudcanal")
# Options whose values are neither words nor switches.
TYPED = {
    "timestamp_zone": "-03:30",
    "server_timezone": "America/New_York",
    "timezone": "-03:30",
    "zero_date": "1970-01-01 00:00:00",
}
SOURCES = ("mysql-8.0", "oracle-19c", "postgresql-16")


def formats_of(product: str) -> list[str]:
    return [id for id in FORMATS if id.startswith(f"{product}-")]


def variants(format: str) -> Iterator[str]:
    """The format with each value of each option that can be listed."""
    yield format
    for option in described(find(format).settings):
        for value in option.choices or filter(None, [TYPED.get(option.name)]):
            yield f"{format},{option.name}={value}"


def where(codec: Codec, batch: ChangeBatch) -> list[int | None]:
    layout = codec.layout
    route = parse_route("columns:c", layout.routing)
    router = Router(layout.routing, route, None, lambda topic: PARTITIONS, layout.writer.text)
    partitions = router.changes(batch).partitions
    return [] if partitions is None else partitions.tolist()


def sends(codec: Codec, table: Table) -> bool:
    """Whether messages have the column."""
    columns = codec.layout.writer.columns(table, INSERT)
    return columns is None or 1 in columns


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("product", PRODUCTS)
def test_formats_and_options_of_a_product_move_no_row(product: str, source: str) -> None:
    system = sources.find(source)
    tables = [
        table_of("t", {"id": samples_of(source).plain, "c": text}, ["id"], source=source)
        for text in samples_of(source).types
    ]
    batches = []
    for table in tables:
        literals = [literal for literal in system.boundary_values(table.columns[1].type) if literal is not None]
        rows = [[str(number), literal] for number, literal in enumerate(literals)]
        batches.append(batch_of(table, INSERT, rows, source=source))
    spread: dict[Table, list[int | None]] = {}
    moved = []
    tried = set()
    for format in formats_of(product):
        for variant in variants(format):
            try:
                codec = codec_of(variant, source)
            except (NotOffered, OptionError):
                continue
            if "columns" not in codec.layout.routing.policies:
                continue
            for table, batch in zip(tables, batches, strict=True):
                if not refused(format, source, table.columns) and sends(codec, table):
                    found = where(codec, batch)
                    tried.add(format)
                    if spread.setdefault(table, found) != found:
                        moved.append((variant, table.columns[1].type.spelled))
    assert not moved
    assert len({number for numbers in spread.values() for number in numbers}) > len(spread) / 2
    if source == "mysql-8.0":
        assert tried == set(formats_of(product))
