"""Listings as tables for people and as JSON data: formats, sources, scenarios, a checked scenario."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import counted
from simulator.sources import VENDORS
from simulator.stream import MOST_IN_FULL

if TYPE_CHECKING:
    from simulator.stream.engine.block import Stream


def as_json(facts: object) -> str:
    import orjson

    return orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their headings, padded with blanks."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in (header, *rows)
    )


# Words for the listing of formats, whose lines fit 80 columns.
SHORT_EVENTS: Final = {
    "full sync": "sync", "insert": "ins", "update": "upd", "delete": "del", "DDL": "DDL", "truncate": "trunc",
    "heartbeat": "beat", "begin": "begin", "commit": "end", "logged statement": "log",
}  # fmt: skip
SHORT_BROKERS: Final = {"kafka": "K", "rocketmq": "R", "rabbitmq": "B"}
SHORT_WORDS: Final = {"yes": "yes", "option": "opt", "by source": "src", "no": "-"}


def formats_text(facts: Sequence[Mapping[str, Any]]) -> str:
    """A table of brokers and events, the formats of a product below its name."""
    events = list(facts[0]["events"])
    width = max(len(f["id"]) for f in facts)
    heads = [SHORT_EVENTS.get(name, name) for name in events]
    lines = [" ".join(["format".ljust(width), "on ", *heads])]
    product = None
    for f in facts:
        if f["product"] != product:
            product = f["product"]
            lines.append(f"{product}:")
        brokers = "".join(SHORT_BROKERS[broker] for broker in f["brokers"])
        words = [SHORT_WORDS[f["events"][name]].ljust(len(head)) for name, head in zip(events, heads, strict=True)]
        lines.append(" ".join([f["id"].ljust(width), brokers.ljust(3), *words]).rstrip())
    return "\n".join(
        [
            *lines,
            "on: K Kafka, R RocketMQ, B RabbitMQ. opt: an option turns it on.",
            "src: sources differ. sync: full sync. beat: heartbeat. log: logged statement.",
            "`cdcsim formats FORMAT` has sources and options; `cdcsim compare` has messages.",
        ]
    )


def format_text(f: Mapping[str, Any]) -> str:
    """A format with its sources, what it sends of them, and its options."""
    parts = [
        f"{f['id']}: {f['title']} ({f['spec']})",
        f"  product: {f['product']}",
        f"  brokers: {', '.join(f['brokers'])}",
        f"  sources: {', '.join(f['sources'])}",
    ]
    for name, events in f["events"].items():
        by_word = {word: [id for id, w in events.items() if w == word] for word in ("yes", "option", "no")}
        present = {word: ids for word, ids in by_word.items() if ids}
        words = [*present] if len(present) == 1 else [f"{word}: {', '.join(ids)}" for word, ids in present.items()]
        parts.append(f"  {name}: {'; '.join(words)}")
    parts.append("  options:" if f["options"] else "  options: none")
    for option in f["options"]:
        choices = f" ({', '.join(option['choices'])})" if option["choices"] else ""
        default = "" if option["default"] is None else f"={option['default']}"
        parts.append(f"  {_mark(option)} {option['name']}{default}{choices}: {option['doc']}")
    if f["members"]:
        parts.append("  members, with where they are written:")
        parts += [f"  {_mark(row)} {row['member']}: {row['holds']} [{row['source']}]" for row in f["members"]]
    parts.append("* decided here, at least in part: no page, message or code of the product or its users says so.")
    return "\n".join(parts)


def _mark(facts: Mapping[str, Any]) -> str:
    """Mark of formats and options that are inferred, not documented."""
    return "*" if facts["decided"] else " "


def sources_text(facts: Sequence[Mapping[str, Any]]) -> str:
    rows = [(f["id"], f["title"], ", ".join(f["versions"])) for f in facts]
    names = ", ".join(f"{name} is {id}" for name, id in VENDORS.items())
    return f"{table(('source', 'system', 'versions'), rows)}\n\nVendors' names: {names}."


def scenarios_text(facts: Sequence[Mapping[str, Any]]) -> str:
    """Names and what each scenario is for, wrapped at the width of the terminal."""
    width = shutil.get_terminal_size((80, 24)).columns
    return "\n\n".join(
        "\n".join([f["name"], *textwrap.wrap(f["about"], width, initial_indent="  ", subsequent_indent="  ")])
        for f in facts
    )


def checked(stream: Stream) -> dict[str, Any]:
    """Contents of a checked scenario, and an outlook on its generated stream."""
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
        "outlook": outlook_of(stream),
    }


def outlook_of(stream: Stream) -> dict[str, Any] | None:
    """Outlook on a generated stream; None for a script."""
    from simulator.stream.engine.stream import ChangeStream
    from simulator.stream.outlook import outlook

    return outlook(stream) if isinstance(stream, ChangeStream) else None


def outlook_text(facts: Mapping[str, Any]) -> str:
    from simulator.stream.outlook import text

    return text(facts)


def _table_line(table: Mapping[str, Any]) -> str:
    """One of many tables."""
    unique = "".join(f", unique ({', '.join(columns)})" for columns in table["unique"].values())
    return (
        f"{table['name']}: key {', '.join(table['key']) or 'none'}{unique}, {counted(len(table['columns']), 'column')}"
    )


def checked_text(facts: Mapping[str, Any]) -> str:
    file, source, errors = facts["scenario"], facts["source"], facts["errors"]
    parts = [f"{file} is fine on {source}."]
    if errors:
        parts = [f"{file} has {counted(errors, 'error')} on {source}; its other statements give:"]
    if len(facts["tables"]) > MOST_IN_FULL:
        parts += ["", *map(_table_line, facts["tables"])]
    for table in facts["tables"] if len(facts["tables"]) <= MOST_IN_FULL else ():
        parts.append(f"\n{table['name']} (key: {', '.join(table['key']) or 'none'})")
        parts += [f"  unique {name}: {', '.join(columns)}" for name, columns in table["unique"].items()]
        parts += [f"  {c['name']} {c['type']}{'' if c['null'] else ' not null'}" for c in table["columns"]]
    if facts["turns"] is not None:
        parts.append(f"\nThe script has {counted(facts['turns'], 'turn')}.")
    parts += [f"\n{note}" for note in facts["notes"]]
    if facts.get("faults"):
        parts += ["\nIts messages have faults:", *(f"  {line}" for line in facts["faults"])]
    if facts["outlook"] is not None:
        parts.append(f"\n{outlook_text(facts['outlook'])}")
    return "\n".join(parts)
