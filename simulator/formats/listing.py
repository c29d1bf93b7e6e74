"""One line per format, from `listing.json`; no format is imported.

A test makes the file from the formats; `pytest tests/formats/test_listing.py --update-goldens` rewrites it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator import registry
from simulator.formats import FORMATS

if TYPE_CHECKING:
    from simulator.formats.format import Format

FILE: Final = Path(__file__).with_name("listing.json")


def names() -> dict[str, str]:
    """All names, including plug-ins, sorted."""
    return registry.names("format", FORMATS)


def listed() -> list[dict[str, Any]]:
    """Every format: id, product, brokers, and for each kind of event whether it is sent."""
    from simulator.formats import find

    written = {row["id"]: row for row in json.loads(FILE.read_text("utf-8"))}
    return [written[name] if name in written else row(find(name)) for name in names()]


def row(format: Format) -> dict[str, Any]:
    """A format's line, made from its declarations: `yes`, `option`, `no`, or `by source` if its sources differ."""
    from simulator.formats.facts import format_facts

    facts = format_facts(format)
    return {
        "id": facts["id"],
        "product": facts["product"],
        "brokers": facts["brokers"],
        "events": {
            name: words[0] if len(words := sorted(set(by_source.values()))) == 1 else "by source"
            for name, by_source in facts["events"].items()
        },
    }
