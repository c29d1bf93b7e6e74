"""What there is, as tables for people and as facts for programs: formats, sources, scenarios, a checked scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from simulator.cli.progress import counted
from simulator.model import Kind, SchemaChangeKind
from simulator.sources import find as find_source

if TYPE_CHECKING:
    from simulator.formats.format import Format
    from simulator.sources.source import Source
    from simulator.stream.engine.block import Stream


def as_json(facts: object) -> str:
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their headings, padded with blanks."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in (header, *rows)
    )


# What a format may send, in the order of the listing, and the kinds of event that this is. TRUNCATE is a DDL statement
# that some leave out.
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


def events_of(format: Format, source: Source) -> dict[str, str]:
    """What a format sends of a source: `yes`, `option` where an option turns it on, `no`."""
    codec = format.codec(source)
    statements = codec.layout.statements
    words = {}
    for name, kind in EVENTS.items():
        never = kind not in format.sends
        if name == "truncate":
            never |= statements is not None and SchemaChangeKind.TRUNCATE_TABLE not in statements
        words[name] = "no" if never else "yes" if codec.sends(kind) else "option"
    return words


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
            {"name": o.name, "default": o.default, "choices": list(o.choices), "doc": o.doc} for o in format.options
        ],
    }


def formats_text(facts: Sequence[Mapping[str, Any]]) -> str:
    """A table of brokers and events, then each format with its sources, what differs among these, and its options."""
    rows = [
        (f["id"], f["product"], ", ".join(f["brokers"]), *(_of_all(events) for events in f["events"].values()))
        for f in facts
    ]
    parts = [
        table(("format", "product", "brokers", *EVENTS), rows),
        "option: an option turns it on. by source: sources differ, see below. no: the product does not send it.",
    ]
    for f in facts:
        parts.append(f"\n{f['id']}: {f['title']} ({f['spec']})\n  sources: {', '.join(f['sources'])}")
        for name, events in f["events"].items():
            if _of_all(events) == "by source":
                differences = [
                    f"{word}: {', '.join(id for id, w in events.items() if w == word)}"
                    for word in ("yes", "option", "no")
                    if word in events.values()
                ]
                parts.append(f"  {name}: {'; '.join(differences)}")
        parts.append("  options:" if f["options"] else "  options: none")
        for option in f["options"]:
            choices = f" ({', '.join(option['choices'])})" if option["choices"] else ""
            default = "" if option["default"] is None else f"={option['default']}"
            parts.append(f"    {option['name']}{default}{choices}: {option['doc']}")
    return "\n".join(parts)


def _of_all(events: Mapping[str, str]) -> str:
    words = set(events.values())
    return words.pop() if len(words) == 1 else "by source"


def sources_text(facts: Sequence[Mapping[str, Any]]) -> str:
    rows = [(f["id"], f["title"], ", ".join(f["versions"])) for f in facts]
    return table(("source", "system", "versions"), rows)


def scenarios_text(facts: Sequence[Mapping[str, Any]]) -> str:
    return "\n\n".join(f"{f['name']}\n  {f['about']}" for f in facts)


def checked(stream: Stream) -> dict[str, Any]:
    """What a checked scenario holds, and what a generated stream will look like."""
    from simulator.stream.engine.stream import ChangeStream
    from simulator.stream.outlook import outlook

    return {
        "scenario": stream.file,
        "source": str(stream.source),
        "tables": [
            {
                "name": str(t.id),
                "key": list(t.primary_key),
                "unique": {key.name: list(key.columns) for key in t.unique_keys},
                "columns": [
                    {"name": c.name, "type": stream.source.ddl.type_name(c.type), "null": c.nullable} for c in t.columns
                ],
            }
            for t in stream.first_tables
        ],
        "errors": len(stream.errors),
        "turns": stream.turns,
        "last_turn": stream.last_turn,
        "notes": list(stream.notes),
        "outlook": outlook(stream) if isinstance(stream, ChangeStream) else None,
    }


def checked_text(facts: Mapping[str, Any]) -> str:
    from simulator.stream.outlook import text as outlook_text

    file, source, errors = facts["scenario"], facts["source"], facts["errors"]
    parts = [f"{file} is fine on {source}."]
    if errors:
        parts = [f"{file} has {counted(errors, 'error')} on {source}; its other statements give:"]
    for table in facts["tables"]:
        parts.append(f"\n{table['name']} (key: {', '.join(table['key']) or 'none'})")
        parts += [f"  unique {name}: {', '.join(columns)}" for name, columns in table["unique"].items()]
        parts += [f"  {c['name']} {c['type']}{'' if c['null'] else ' not null'}" for c in table["columns"]]
    if facts["turns"] is not None:
        parts.append(f"\nThe script has {counted(facts['turns'], 'turn')}.")
    parts += [f"\n{note}" for note in facts["notes"]]
    if facts["outlook"] is not None:
        parts.append(f"\n{outlook_text(facts['outlook'])}")
    return "\n".join(parts)
