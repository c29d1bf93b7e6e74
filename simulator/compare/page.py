"""A comparison as one self-contained HTML page: messages, kinds of events, values of types, formats.

The page's data are facts of the formats and real messages, as compressed JSON in the page; `page.js` shows them.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

import orjson

from simulator import __version__
from simulator.compare.comparison import Comparison, ReadableMessage, compare
from simulator.compare.types import rendered
from simulator.errors import ScenarioError, UsageError
from simulator.formats import FORMATS, find, open_codec
from simulator.formats.documents import MEANINGS, members_of, notes_of
from simulator.formats.facts import EVENTS, format_facts
from simulator.formats.format import Format
from simulator.formats.options import parse_format
from simulator.run.scenario import load, possible_sources
from simulator.sources import DEFAULT
from simulator.sources import find as find_source
from simulator.sources.source import Source

BASE: Final = "canal-json"


def page(
    scenario: str,
    formats: Sequence[str] = (),
    *,
    sources: Sequence[str] = (),
    base: str | None = None,
    seed: int | None = None,
    settings: Sequence[str] = (),
    start_at: int = 0,
    limit: int | None = None,
    snapshot: bool | None = None,
    report: Callable[[str], None] = lambda source: None,
) -> str:
    """The page of a scenario; default: all formats, and all sources that any of them reads. `report` is called with the
    name of each source before it is compared, and with the reason if a source is left out. Raises UsageError.
    """
    compared_formats = {text: find(parse_format(text)[0]) for text in formats or FORMATS}
    if base is not None and base not in compared_formats:
        raise UsageError(f"--base {base}: the formats compared are {', '.join(compared_formats)}.")
    systems = list(sources) or _sources(scenario, settings, {id for f in compared_formats.values() for id in f.sources})
    compared, types = {}, {}
    for source in systems:
        report(f"{source} …")
        system = find_source(source)
        read = [text for text, format in compared_formats.items() if system.id in format.sources]
        if not read:
            raise UsageError(f"--source {source}: none of {', '.join(compared_formats)} reads it.")
        try:
            compared[source] = compare(
                scenario, read, source=source, seed=seed, settings=settings, start_at=start_at, limit=limit,
                snapshot=snapshot,
            )  # fmt: skip
        except ScenarioError as error:
            if sources or system.id == DEFAULT:
                raise
            report(f"{source} is left out: {error}")  # the user did not name it
            continue
        types[source] = types_of(system, read)
    data = {
        "version": __version__,
        "scenario": scenario,
        "base": base or (BASE if BASE in compared_formats else next(iter(compared_formats))),
        "meanings": MEANINGS,
        "kinds": list(EVENTS),
        "formats": {text: described(format) for text, format in compared_formats.items()},
        "sources": {source: find_source(source).title for source in compared},
        "messages": {source: events_of(comparison) for source, comparison in compared.items()},
        "types": types,
    }
    return html_of(data)


def types_of(system: Source, formats: Iterable[str]) -> list[dict[str, Any]]:
    """Boundary values of a system's types, with their texts in these formats."""
    codecs = {text: open_codec(text, system) for text in formats}
    return [
        {"type": type_texts.type, "values": type_texts.values, "texts": type_texts.texts}
        for type_texts in rendered(system, codecs)
    ]


def _sources(scenario: str, settings: Sequence[str], read: set[str]) -> list[str]:
    """The sources among `read` that the scenario can run on; only one if the scenario names it."""
    loaded, system = load(scenario, settings=settings)
    return [possible.id for possible in possible_sources(loaded, sorted(read))] or [str(system)]


def html_of(data: dict[str, Any], *more: str) -> str:
    """The page with this data; `more` names further assets, such as `live` for live.css and live.js."""

    def asset(suffix: str, *names: str) -> str:
        return "".join(files(__package__).joinpath(f"{name}.{suffix}").read_text("utf-8") for name in names)

    packed = base64.b64encode(gzip.compress(orjson.dumps(data), mtime=0)).decode()
    html = files(__package__).joinpath("page.html").read_text("utf-8")
    return (
        html.replace("{css}", asset("css", "page", *more))
        .replace("{js}", asset("js", "parts", "page", *more))
        .replace("{data}", packed)
    )


def described(format: Format) -> dict[str, Any]:
    """Description of a format, from its table."""
    return {
        **format_facts(format),
        "members": [
            {"member": member.member, "meaning": member.meaning, "holds": member.holds, "source": member.source}
            for member in members_of(format).values()
        ],
        "notes": notes_of(format),
    }


def events_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Events with rows of messages: each row has every format's message, or null. A message has its address and members
    as pairs, its value as text, and its bytes if they are not text.
    """
    events = []
    for event in comparison.events:
        rows = event.side_by_side(comparison.formats)
        events.append(
            {
                "name": event.name,
                "step": event.step,
                "change": event.change,
                "statement": event.statement,
                "kinds": event.kinds,
                "messages": {format: [_facts(row.get(format)) for row in rows] for format in comparison.formats},
            }
        )
    return events


def _facts(message: ReadableMessage | None) -> dict[str, Any] | None:
    if message is None:
        return None
    facts = {"address": message.address, "members": message.members, "value": message.value}
    return facts if message.binary is None else {**facts, "hex": message.binary.hex()}
