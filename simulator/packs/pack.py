"""A run in one zip file.

`manifest.json`: the run (scenario, format, source, seed, turns), topics with their numbers of partitions, tables with
their columns, types, keys and files; SHA-256 of each other entry.

`messages.jsonl`: a message a line, in the order of the stream, as `--envelope` writes it: topic, partition, key,
headers, timestamp, value, RocketMQ's tag. Bytes that are no UTF-8 are `{"base64": "…"}`; a tombstone's value is null.

`expected/shop.orders.jsonl`: a row a line that a consumer must hold after all messages, by column the text that the
database's client prints, or null.

The same run gives the same entries.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

import simulator
from simulator.errors import SinkError, UsageError
from simulator.library import Simulation
from simulator.sinks.framing import Envelopes
from simulator.sinks.memory import MemorySink
from simulator.truth.expected import file_name

Manifest: TypeAlias = dict[str, Any]

# Readers refuse another number.
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
MESSAGES: Final = "messages.jsonl"
# The earliest time of a zip file: that of writing would make two packs of one run differ.
EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def write_pack(run: Simulation, file: Path, *, partitions: int = 1) -> Manifest:
    """Write a run to a new file, and return its manifest. `partitions` are those of each topic, for messages whose
    partition is left to the client. Nothing stays where it fails. Raises UsageError, SinkError, and what ended a SQL
    script."""
    if file.exists():
        raise UsageError(f"--to {file}: it is already there; name another file, or remove it.")
    manifest, entries = contents(run, partitions)
    if run.job.failure is not None:
        raise run.job.failure
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=file.absolute().parent) as scratch:
            unfinished = Path(scratch) / file.name
            with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in entries.items():
                    archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
            os.replace(unfinished, file)
    except OSError as error:
        raise SinkError(f"--to {file}: {error.strerror or error}.") from None
    return manifest


def contents(run: Simulation, partitions: int) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest, and all entries by name."""
    job, plan = run.job, run.plan
    sink = MemorySink(partitions=partitions)
    run.send(sink)
    entries = {MESSAGES: b"".join(bytes(part) for batch in sink.batches for part in Envelopes().frame(batch))}
    tables = []
    for name, table in run.tables.items():
        rows, path = run.expected[name], f"expected/{file_name(table, 'jsonl')}"
        entries[path] = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        columns = {column.name: job.source.ddl.type_name(column.type) for column in table.columns}
        key = list(table.primary_key)
        tables.append({**_entry(path, entries), "table": name, "rows": len(rows), "key": key, "columns": columns})
    topics = sorted({topic for batch in sink.batches for topic in batch["topic"].to_pylist()})
    manifest: Manifest = {
        "pack": VERSION,
        "cdcsim": simulator.__version__,
        "run": {
            "scenario": Path(job.scenario.file).name,
            "fingerprint": job.scenario.fingerprint,
            "format": job.format,
            "source": str(job.source),
            "seed": job.scenario.spec.seed,
            "route": job.addressing.route,
            "snapshot": plan.snapshot,
            "first_turn": plan.first,
            "next_turn": plan.stop,
            "undocumented": job.undocumented,
            "left_out": list(job.left_out),
        },
        "messages": {**_entry(MESSAGES, entries), "messages": sum(map(len, sink.batches))},
        "topics": {topic: job.addressing.partitions(topic) for topic in topics},
        "tables": tables,
    }
    return manifest, {MANIFEST: orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n", **entries}


def _entry(path: str, entries: dict[str, bytes]) -> Manifest:
    return {"file": path, "sha256": hashlib.sha256(entries[path]).hexdigest()}
