"""The table of formats, sorted, one line each; imported when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator import registry
from simulator.errors import NotOffered

if TYPE_CHECKING:
    from simulator.sources import Source
    from simulator.wire.format import Codec, Format

FORMATS: Final = {
    "canal-json": "simulator.formats.canal_json:FORMAT",
    "dts-canal-json": "simulator.formats.dts_canal_json:FORMAT",
}


def find(name: str) -> Format:
    """A format by its id. Raises UnknownName."""
    format: Format = registry.load("format", FORMATS, name)
    return format


def open_codec(text: str, source: Source) -> Codec:
    """`canal-json,version=1.1.5` made ready for a source. Raises UnknownName, OptionError, NotOffered."""
    from simulator.wire.format import parse_format

    name, options = parse_format(text)
    format = find(name)
    if source.id not in format.sources:
        raise NotOffered(f"-f {name}: {format.product} reads {', '.join(format.sources)}, not {source.id}.")
    return format.codec(str(source), options)
