"""What the commands print: progress, summaries, messages for people, tables of what there is."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

import orjson

from simulator.model import Kind, Message, SchemaChangeKind
from simulator.sources import find as find_source

if TYPE_CHECKING:
    from simulator.formats.format import Codec, Format
    from simulator.run.pipeline import Run, Summary
    from simulator.run.plan import Limits
    from simulator.sources import Source
    from simulator.stream.engine.block import Stream

# On a terminal one line is kept up to date; elsewhere a line is written this often.
PLAIN_SECONDS = 5.0


def as_json(facts: object) -> str:
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode()


def public(url: str) -> str:
    """The URL without a password."""
    if "@" not in url:
        return url
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}@{host}" if parts.username else host))


class Reporter:
    """Progress on stderr: rate, delivered, failed, lag behind the wanted rate, time left."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()
        self._line = False

    def __call__(self, run: Run) -> None:
        now = time.monotonic()
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{self.text(run)}")
            sys.stderr.flush()
            self._line = True
        elif now - self._last >= PLAIN_SECONDS:
            self._last = now
            sys.stderr.write(self.text(run) + "\n")
            sys.stderr.flush()

    def text(self, run: Run) -> str:
        seconds = max(run.elapsed, 1e-9)
        changes = run.summary.changes
        parts = [f"{changes:,} changes", f"{changes / seconds:,.0f}/s", f"{run.sink.delivered:,} delivered"]
        if run.sink.failed:
            parts.append(f"{run.sink.failed:,} failed")
        if run.pace is not None:
            parts.append(f"{run.lag:,.0f} behind")
        left = self._left(run, seconds)
        if left is not None:
            parts.append(f"{left:,.0f} s left")
        return ", ".join(parts)

    def _left(self, run: Run, seconds: float) -> float | None:
        limits, changes = self._limits, run.summary.changes
        ends = []
        if limits.changes is not None and changes:
            ends.append(seconds * (limits.changes / changes - 1))
        if limits.seconds is not None:
            ends.append(limits.seconds - seconds)
        return max(0.0, min(ends)) if ends else None


def summary(done: Summary, to: str) -> str:
    """One or two lines: what was delivered where, how fast, and where the stream goes on."""
    seconds = max(done.seconds, 1e-9)
    extra = [
        f", {counted(count, name)}"
        for count, name in ((done.snapshot_rows, "snapshot row"), (done.ddl, "DDL statement"))
        if count
    ]
    if done.heartbeats:
        extra.append(f", {counted(done.heartbeats, 'heartbeat')} in the stream")
    turns = f"turns {done.first_turn} to {done.next_turn - 1}" if done.next_turn > done.first_turn else "no turns"
    lead = "\r\x1b[K" if sys.stderr.isatty() else ""
    text = (
        f"{lead}{'interrupted: ' if done.interrupted else ''}{counted(done.delivered, 'message')} delivered to {to}: "
        f"{counted(done.changes, 'row change')}{''.join(extra)}; {done.seconds:.1f} s, "
        f"{done.delivered / seconds:,.0f} messages/s, {done.bytes / seconds / 1e6:,.1f} MB/s; "
        f"{turns}, next turn {done.next_turn}"
    )
    return text + (f"; {counted(done.failed, 'message')} failed" if done.failed else "")


def undocumented(codec: Codec, source: Source) -> str:
    """What the real product does not offer of what was written."""
    format, broker = codec.format, codec.settings.broker
    if broker not in format.brokers:
        return f"{format.product} does not write {format.id} to {broker}: these are not its bytes."
    return f"{format.product} does not read {source}: these are not its bytes."


def counted(count: int, name: str) -> str:
    """`counted(1, "message")` is `1 message`, `counted(2000, "message")` is `2,000 messages`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def message(message: Message, codec: Codec) -> str:
    """A message for people: a line that says where it goes, then its value, indented; Avro is decoded."""
    head = [
        f"-- {message.order}: {message.kind.name}",
        f"topic {message.topic}",
        f"partition {'by key' if message.partition is None else message.partition}",
        f"key {'none' if message.key is None else message.key.decode(errors='replace')}",
    ]
    if message.tag is not None:
        head.append(f"tag {message.tag}")
    for name, value in message.headers:
        head.append(f"header {name}={'' if value is None else value.decode(errors='replace')}")
    return ", ".join(head) + "\n" + _pretty(message.value, codec)


def _pretty(value: bytes | None, codec: Codec) -> str:
    if value is None:
        return "(no value: a tombstone)"
    if (container := codec.layout.container) is not None:
        from fastavro import parse_schema, schemaless_reader

        schema = parse_schema(orjson.loads(container.schema))
        decoded = schemaless_reader(BytesIO(value[container.framing :]), schema, None)
        return orjson.dumps(decoded, option=orjson.OPT_INDENT_2, default=_bytes).decode()
    try:
        return orjson.dumps(orjson.loads(value), option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONDecodeError:
        return value.decode(errors="replace")


def _bytes(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError(type(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "0x" + value.hex()


# ---------------------------------------------------------------------------------------------------------- listings


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
    found = {}
    for name, kind in EVENTS.items():
        never = kind not in format.sends
        if name == "truncate":
            never |= statements is not None and SchemaChangeKind.TRUNCATE_TABLE not in statements
        found[name] = "no" if never else "yes" if codec.sends(kind) else "option"
    return found


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
        "option: sent where an option says so. by source: see below. no: the product does not send it.",
    ]
    for f in facts:
        parts.append(f"\n{f['id']}: {f['title']} ({f['spec']})\n  sources: {', '.join(f['sources'])}")
        for name, events in f["events"].items():
            if _of_all(events) == "by source":
                told = [
                    f"{word}: {', '.join(id for id, w in events.items() if w == word)}"
                    for word in ("yes", "option", "no")
                    if word in events.values()
                ]
                parts.append(f"  {name}: {'; '.join(told)}")
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
    """What a checked scenario holds."""
    return {
        "scenario": stream.file,
        "source": str(stream.source),
        "tables": [
            {
                "name": str(t.id),
                "key": list(t.primary_key),
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
    }


def checked_text(facts: Mapping[str, Any]) -> str:
    fine = f"has {facts['errors']} errors on {facts['source']}; the rest makes" if facts["errors"] else ""
    parts = [f"{facts['scenario']} {fine or 'is fine on ' + facts['source'] + '.'}"]
    for t in facts["tables"]:
        parts.append(f"\n{t['name']} (key: {', '.join(t['key']) or 'none'})")
        parts += [f"  {c['name']} {c['type']}{'' if c['null'] else ' not null'}" for c in t["columns"]]
    if facts["turns"] is not None:
        parts.append(f"\nA script of {facts['turns']} {'entry' if facts['turns'] == 1 else 'entries'}.")
    parts += [f"\n{note}" for note in facts["notes"]]
    return "\n".join(parts)
