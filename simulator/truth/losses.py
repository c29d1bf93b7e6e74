"""Table of the data that each format loses, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simulator.formats import FORMATS
from simulator.model import UPDATE
from simulator.truth.decoders import find
from simulator.truth.decoders.change import MEMBERS, Decoder

HEAD: Final = (
    "| format | row before an update | row after an update | key columns | commit time | position | transaction |"
    " values |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def table() -> str:
    """One row per format, in Markdown; `-` marks lost data."""
    return "\n".join([HEAD, *(f"| `{name}` | {' | '.join(_cells(find(name)))} |" for name in FORMATS)]) + "\n"


def _cells(decoder: Decoder) -> Iterator[str]:
    for side in ("before", "after"):
        parts = [decoder.images.get((UPDATE, side), "all")]
        parts += [
            f"{source}: {images[UPDATE, side]}"
            for source, images in decoder.images_of.items()
            if (UPDATE, side) in images
        ]
        yield "; ".join(parts)
    yield from (
        "yes" if name in decoder.carries else "by source" if name in decoder.by_source else "-" for name in MEMBERS
    )
    lost: dict[str, list[str]] = {}
    for type, reading in decoder.readings.items():
        if reading.lost:
            lost.setdefault(reading.lost, []).append(type)
    lines = [f"{words} of {', '.join(types)}" for words, types in lost.items()]
    for source, types in decoder.not_deleted.items():
        lines.append(f"deleted values of {', '.join(f'{source} {type}' for type in types)}")
    yield "; ".join(lines) or "all"
