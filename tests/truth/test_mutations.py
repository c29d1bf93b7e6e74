"""The verdict finds every kind of damage done to a run's files, names it, and finds nothing in the untouched ones.

Many mutations, each apart from the others, are made in one set of files. `CDCSIM_MUTATIONS=1000 pytest` makes as many,
in files of a million messages.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from command import Command

import simulator
from simulator.model import Message
from simulator.sinks.reading import HEADERS
from simulator.truth.verify.findings import Finding, Verdict, Wrong

MUTATIONS: Final = int(os.environ.get("CDCSIM_MUTATIONS", "90"))
PARTITIONS: Final = 3
# Messages of a partition between two mutations.
APART: Final = 300
NEAR: Final = 20


@dataclass
class Line:
    """A message in a file: what was sent, and its bytes now."""

    message: Message
    value: bytes


@dataclass(frozen=True)
class Damage:
    """What was done, and what has to be found: kinds, of which one is right, and the message."""

    name: str
    kinds: tuple[Wrong, ...]
    order: Any
    said: str = ""

    def found_by(self, finding: Finding) -> bool:
        return finding.wrong in self.kinds and finding.expected == self.order and self.said in finding.text


Files = list[list[Line]]


def rows(line: Line) -> set[str]:
    """The rows of a message, read without the simulator's decoders."""
    document = json.loads(line.message.value or b"")
    keys = document["pkNames"] or []
    images = [{**row, **old} for row, old in zip(document["data"], document["old"] or [{}] * 999, strict=False)]
    return {f"{document['table']} {[row[key] for key in keys]}" for row in [*document["data"], *images]}


def drop(files: Files, part: int, at: int, dice: random.Random) -> Damage:
    return Damage("drop", (Wrong.MISSING,), files[part].pop(at).message.order)


def double(files: Files, part: int, at: int, dice: random.Random) -> Damage:
    line = files[part][at]
    files[part].insert(at + dice.choice((1, 1, 5, NEAR)), line)
    return Damage("double", (Wrong.DOUBLED,), line.message.order)


def swap(files: Files, part: int, at: int, other: int) -> Any:
    lines = files[part]
    lines[at], lines[other] = lines[other], lines[at]
    return lines[other].message.order, lines[at].message.order


def swap_across_keys(files: Files, part: int, at: int, dice: random.Random) -> Damage | None:
    other = at + dice.randint(1, NEAR)
    between = files[part][at : other + 1]
    ends = rows(between[0]) | rows(between[-1])
    if rows(between[0]) & rows(between[-1]) or any(ends & rows(line) for line in between[1:-1]):
        return None
    orders = swap(files, part, at, other)
    return Damage("swap across keys", (Wrong.REORDERED,), orders[1])


def swap_in_key(files: Files, part: int, at: int, dice: random.Random) -> Damage | None:
    for other in range(at + 1, at + APART // 2):
        if rows(files[part][at]) & rows(files[part][other]):
            orders = swap(files, part, at, other)
            return Damage("swap in a key", (Wrong.REORDERED_IN_KEY,), orders[1])
    return None


def flip(files: Files, part: int, at: int, dice: random.Random) -> Damage:
    line = files[part][at]
    text = line.value
    places = [i for i in range(len(text)) if chr(text[i]).isalnum() and chr(text[i - 1]).isalnum()]
    place = dice.choice(places)
    line.value = text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]
    kinds = (Wrong.ALTERED, Wrong.UNDECODABLE)
    try:
        simulator.decode("canal-json", line.value)
    except simulator.UsageError:
        kinds = (Wrong.UNDECODABLE, Wrong.UNDECODABLE)
    else:
        kinds = (Wrong.ALTERED, Wrong.ALTERED)
    return Damage("flip", kinds, line.message.order)


def operation(files: Files, part: int, at: int, dice: random.Random) -> Damage | None:
    line = files[part][at]
    words = {b'"type":"UPDATE"': b'"type":"DELETE"', b'"type":"DELETE"': b'"type":"INSERT"'}
    words[b'"type":"INSERT"'] = b'"type":"DELETE"'
    word = next(word for word in words if word in line.value)
    line.value = line.value.replace(word, words[word])
    return Damage("operation", (Wrong.ALTERED,), line.message.order, "the operation is")


def move(files: Files, part: int, at: int, dice: random.Random) -> Damage:
    line = files[part].pop(at)
    other = (part + 1) % PARTITIONS
    files[other].insert(min(at, len(files[other])), line)
    return Damage("move", (Wrong.WRONG_PARTITION,), line.message.order)


def truncate(files: Files, part: int, at: int, dice: random.Random) -> Damage:
    line = files[part][at]
    line.value = line.value[: dice.randint(len(line.value) // 3, len(line.value) - 1)]
    return Damage("truncate", (Wrong.UNDECODABLE,), line.message.order)


Mutation = Callable[[Files, int, int, random.Random], Damage | None]
KINDS: Final[tuple[Mutation, ...]] = (
    drop,
    double,
    swap_across_keys,
    swap_in_key,
    flip,
    operation,
    move,
    truncate,
)


def sent(scenario: str, changes: int) -> Files:
    files: Files = [[] for _ in range(PARTITIONS)]
    for message in simulator.messages(scenario, "canal-json", limit=changes, route="key", partitions=PARTITIONS):
        files[message.partition or 0].append(Line(message, message.value or b""))
    return files


def write(folder: Path, files: Files) -> None:
    folder.mkdir()
    for number, lines in enumerate(files):
        (folder / f"example-{number}.jsonl").write_bytes(b"".join(line.value + b"\n" for line in lines))


def write_parts(folder: Path, files: Files) -> None:
    """Two files of Parquet for each partition, as tasks write them."""
    for number, lines in enumerate(files):
        place = folder / f"example-{number}"
        place.mkdir(parents=True)
        for part, own in enumerate((lines[: len(lines) // 3], lines[len(lines) // 3 :])):
            messages = [line.message for line in own]
            columns = {
                "value": pa.array([line.value for line in own], pa.binary()),
                "key": pa.array([message.key for message in messages], pa.binary()),
                "tag": pa.array([message.tag for message in messages], pa.string()),
                "timestamp": pa.array([message.timestamp_ms for message in messages], pa.timestamp("ms", "UTC")),
                "headers": pa.array([list(message.headers) for message in messages], HEADERS),
            }
            parquet.write_table(pa.table(columns), place / f"part-{part}.parquet")


def verdict_of(folder: Path, scenario: str, changes: int, **options: Any) -> Verdict:
    origin = f"file:{folder}?partitions={PARTITIONS}"
    return simulator.verify(
        scenario, "canal-json", origin, limit=changes, route="key", examples=10 * MUTATIONS, **options
    )


def mutated(files: Files, dice: random.Random) -> Iterator[Damage]:
    """Damages, from the end of each file to its begin, so that places before them stay."""
    tails = [Damage("tail", (Wrong.MISSING,), lines[-5].message.order) for lines in files]
    for lines in files:
        del lines[-5:]
    yield from tails
    made = len(tails)
    places = [(part, at) for part, lines in enumerate(files) for at in range(len(lines) - APART, 0, -APART)]
    # those of all files together from their ends on: a message that is moved goes where nothing else is
    for number, (part, at) in enumerate(sorted(places, key=lambda place: -place[1])):
        if made >= MUTATIONS:
            return
        kind = KINDS[number % len(KINDS)]
        damage = next((d for shift in range(0, 60, 3) if (d := kind(files, part, at + shift, dice))), None)
        if damage is not None:
            made += 1
            yield damage


@pytest.mark.parametrize("scenario", ["bank"])
def test_every_mutation_is_found_and_named(scenario: str, tmp_path: Path, command: Command) -> None:
    changes = MUTATIONS * 1000 if MUTATIONS > 200 else MUTATIONS * 450
    files = sent(scenario, changes)
    write(tmp_path / "untouched", files)
    untouched = verdict_of(tmp_path / "untouched", scenario, changes)
    assert untouched.ok, str(untouched)
    assert untouched.right == untouched.expected == sum(map(len, files))
    damages = list(mutated(files, random.Random(7)))
    assert len(damages) >= MUTATIONS * 0.9
    assert {damage.name for damage in damages} >= {"drop", "double", "flip", "move", "truncate", "swap in a key"}
    write(tmp_path / "mutated", files)
    verdict = verdict_of(tmp_path / "mutated", scenario, changes)
    findings = verdict.findings
    unnamed = [damage for damage in damages if not any(damage.found_by(finding) for finding in findings)]
    unseen = [damage for damage in unnamed if not any(damage.order == finding.expected for finding in findings)]
    assert not unseen, unseen
    assert len(unnamed) <= len(damages) // 100, unnamed
    orders = {damage.order for damage in damages}
    strange = [finding for finding in findings if finding.expected not in orders]
    # of a swap each of both messages may be told
    assert len(strange) <= sum("swap" in damage.name for damage in damages), "\n".join(map(str, strange))

    # in parts of Parquet, and with what the run's record says instead of options
    to, record, report = f"parquet:{tmp_path}/sent", tmp_path / "run.json", tmp_path / "report.json"
    run = [scenario, "-f", "canal-json", "--record", record]
    command("run", *run, "-q", "--limit", changes, "--route", "key", "--to", f"{to}?partitions={PARTITIONS}", status=0)
    write_parts(tmp_path / "parts", files)
    origin = f"parquet:{tmp_path}/parts?partitions={PARTITIONS}"
    command("verify", *run, "--from", origin, "--report", report, status=1)
    facts = json.loads(report.read_bytes())
    assert facts["wrong"] == {wrong.value: count for wrong, count in verdict.counts.items()}
