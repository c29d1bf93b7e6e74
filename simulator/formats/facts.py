"""Kinds of event that each format sends for each source, as data for programs; derived from the formats."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from simulator.errors import UsageError
from simulator.formats.documents import members_of
from simulator.formats.format import Format
from simulator.formats.options import count, positive, switch
from simulator.model import Kind, SchemaChangeKind
from simulator.sources import find as find_source
from simulator.sources.source import Source

# Columns of the listing in order, with their kinds of event. TRUNCATE is a DDL statement that some formats leave out.
EVENTS: Final[Mapping[str, Kind]] = {
    "full sync": Kind.READ,
    "insert": Kind.INSERT,
    "update": Kind.UPDATE,
    "delete": Kind.DELETE,
    "DDL": Kind.DDL,
    "truncate": Kind.DDL,
    "heartbeat": Kind.HEARTBEAT,
    "begin": Kind.BEGIN,
    "commit": Kind.COMMIT,
    "logged statement": Kind.STATEMENT,
}

# Values of options that take a text, by their parsers.
EXAMPLES: Final[Mapping[Any, tuple[str, ...]]] = {switch: ("on", "off"), count: ("1",), positive: ("1",)}


def events_of(format: Format, source: Source) -> dict[str, str]:
    """Whether a format sends each kind of event of a source: `yes`, `option` (an option turns it on) or `no`."""
    codec = format.codec(source)
    statements, offered = codec.layout.statements, kinds_with_options(format, source)
    words = {}
    for name, kind in EVENTS.items():
        never = kind not in offered
        if name == "truncate":
            never |= statements is not None and SchemaChangeKind.TRUNCATE_TABLE not in statements
        words[name] = "no" if never else "yes" if codec.sends(kind) else "option"
    return words


def kinds_with_options(format: Format, source: Source) -> set[Kind]:
    """The kinds of event that a format sends with its defaults, or with any single option that the source offers."""
    sent = {kind for kind in Kind if format.codec(source).sends(kind)}
    for option in format.options:
        for text in option.choices or EXAMPLES.get(option.parse, ()):
            if sent >= format.sends:
                return sent
            with contextlib.suppress(UsageError):  # the option, or its value, is not for the source
                codec = format.codec(source, {option.name: text})
                sent |= {kind for kind in format.sends if codec.sends(kind)}
    return sent


def format_facts(format: Format) -> dict[str, Any]:
    by_source = {id: events_of(format, find_source(id)) for id in format.sources}
    return {
        "id": format.id,
        "title": format.title,
        "product": format.product,
        "spec": format.spec,
        "sources": list(format.sources),
        "brokers": list(format.brokers),
        "events": {name: {id: events[name] for id, events in by_source.items()} for name in EVENTS},
        "sends": [kind.name.lower() for kind in Kind if kind in format.sends],
        "silent": [kind.name.lower() for kind in Kind if kind not in format.sends],
        "binary": format.binary,
        "options": [
            {"name": o.name, "default": o.default, "choices": list(o.choices), "doc": o.doc, "decided": o.decided}
            for o in format.options
        ],
        "members": [
            {"member": m.member, "holds": m.holds, "source": m.source, "decided": m.decided}
            for m in members_of(format).values()
        ],
    }
