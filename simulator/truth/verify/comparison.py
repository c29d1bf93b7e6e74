"""A sink that compares instead of sending: messages that were read back against those that a run would send.

The expected messages come from the same pipeline as the sent ones: the same blocks, routes and bytes, in any number of
processes. Memory is bounded: partitions share what is kept to recognise repeated messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.errors import UsageError
from simulator.sinks.ledger import Ints, Parcel
from simulator.sinks.reading import Place, Reader, Records
from simulator.sinks.sink import Sink
from simulator.truth.verify.alignment import Lane, Stray
from simulator.truth.verify.findings import EXAMPLES, Verdict, Wrong
from simulator.truth.verify.naming import MOST_CROSSED, Namer, alike
from simulator.truth.verify.tape import Item

# Bytes of expected messages that all partitions together keep behind the reading position.
KEPT_BYTES: Final = 128 << 20
LEAST_KEPT_BYTES: Final = 4 << 20
# If none of the first N messages is expected, it is another stream.
STRANGE: Final = 2_000
# Minimum findings for a general verdict: another run if most messages on both sides are wrong, another routing if a
# fifth is in wrong partitions.
LEAST_FINDINGS: Final = 20
# Number of messages per read once no more are expected.
REST: Final = 4096
OTHER_RUN: Final = (
    "another scenario, seed, source, format, option, begin or number of partitions, or of a run with --clock wall or"
    " other --faults"
)
# Causes that findings of a kind share, by where all of them are.
HINTS: Final = {
    (Wrong.MISSING, "snapshot"): "all that is missing is of the snapshot: verify a run without one with --no-snapshot",
    (Wrong.MISSING, "end"): "all that is missing are ends of partitions: the run ended earlier, or its end was lost",
    (Wrong.FOREIGN, "begin"): "all foreign messages come before the first that is expected: the run began earlier"
    " (--start-at, --snapshot), or another writer did",
    (Wrong.FOREIGN, "end"): "all foreign messages come after the last that is expected: the run went on (--limit,"
    " --turns or --record say how far), or another writer did",
}
EXPECTED: Final = ("phase", "turn", "ordinal", "kind", "value", "key", "tag", "timestamp_ms", "headers")


class Comparison(Sink):
    """Compares the messages that a run sends to it with those of the reader. `finish` gives the verdict.

    Raises UsageError if none of the messages read is expected.
    """

    def __init__(
        self,
        reader: Reader,
        format: str,
        keys: Mapping[str, Sequence[str]],
        *,
        spread: int = 1,
        at_least_once: bool = False,
        examples: int = EXAMPLES,
    ) -> None:
        """`keys`: the primary key's columns by table; `spread`: by how much the run multiplies ordinals."""
        super().__init__()
        self.topic_pattern = reader.topic_pattern
        self.verdict = Verdict(most_examples=examples)
        self._reader, self._namer, self._again = reader, Namer(format, keys, spread), at_least_once
        self._lanes: dict[Place, Lane] = {}
        self._columns = tuple(name for name in EXPECTED if name in reader.columns or name in EXPECTED[:5])
        self._prefix = b""
        self._where: Counter[tuple[Wrong, str]] = Counter()  # where missing and foreign messages are

    def partitions(self, topic: str) -> int:
        return self._reader.partitions(topic)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        rows_by_place: dict[Place, list[Ints]] = {}
        for parcel in parcels:
            rows_by_place.setdefault(self._reader.place(parcel.topic, parcel.partition), []).append(parcel.rows)
        for place, parts in rows_by_place.items():
            rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
            expected = batch if len(rows) == len(batch) else MessageBatch(batch.columns.take(pa.array(rows)))
            self._expect(place, expected)
        self.ledger.acknowledge_all()

    def finish(self) -> Verdict:
        """Reads the remaining messages and settles the open ones, once the run has sent all of its messages."""
        for lane in self._lanes.values():
            lane.expected.final = True
        for lane in self._lanes.values():
            self._read_rest(lane)
        for place, records in self._reader.others():
            lane = self._lane(place)
            lane.expected.final = True
            self._came(lane, records)
        for lane in self._lanes.values():
            lane.read.final = True
            lane.align()
        self._check_strange(final=True)
        self._settle()
        return self.verdict

    def close(self) -> None:
        self._reader.close()

    # ------------------------------------------------------------------------------------------------------ both sides

    def _lane(self, place: Place) -> Lane:
        if place not in self._lanes:
            lane = Lane(place, self.verdict, self._report, self._namer.lasting)
            lane.settle, lane.crossed = self._settle_one, self._crossed
            self._lanes[place] = lane
            for other in self._lanes.values():
                other.expected.kept_bytes = max(LEAST_KEPT_BYTES, KEPT_BYTES // len(self._lanes))
        return self._lanes[place]

    def _expect(self, place: Place, batch: MessageBatch) -> None:
        lane = self._lane(place)
        self.verdict.expected += len(batch)
        if self._reader.prefix_bytes and not self._prefix and len(batch):
            self._prefix = batch["value"][0].as_py()[: self._reader.prefix_bytes]
        lane.expected.push(pa.RecordBatch.from_pydict({name: _without_null(batch[name]) for name in self._columns}))
        lane.align()
        while not lane.read.final and (count := lane.hunger()) > 0:
            records = self._reader.take(place, count)
            if records is None:
                lane.read.final = True
                lane.align()
            elif records.num_rows:
                self._came(lane, records)
            else:
                return

    def _read_rest(self, lane: Lane) -> None:
        while not lane.read.final:
            records = self._reader.take(lane.place, REST)
            if records is None:
                lane.read.final = True
                lane.align()
            elif records.num_rows:
                self._came(lane, records)
            else:  # it waits behind messages of partitions that were never requested
                return

    def _came(self, lane: Lane, records: Records) -> None:
        self.verdict.read += records.num_rows
        lane.read.push(self._complete(records))
        lane.align()
        self._check_strange()

    def _complete(self, records: Records) -> Records:
        """Messages with the prefix that files omit from each value, and without null headers."""
        if self._prefix:
            values = pc.binary_join_element_wise(pa.scalar(self._prefix), records.column("value"), pa.scalar(b""))
            records = records.set_column(0, "value", values)
        if "headers" in records.schema.names:
            headers = _without_null(records.column("headers"))
            records = records.set_column(records.schema.get_field_index("headers"), "headers", headers)
        return records

    def _check_strange(self, *, final: bool = False) -> None:
        """Raises UsageError if none of the messages read is expected."""
        verdict = self.verdict
        if verdict.right or not self.verdict.read:
            if not verdict.read and final and verdict.expected:
                raise UsageError(f"{self._reader.name} has no messages, and {verdict.expected:,} are expected there.")
            return
        strays = sum(len(lane.strays) for lane in self._lanes.values())
        if strays >= STRANGE or (final and verdict.expected > 2):
            raise UsageError(
                f"none of the first {min(verdict.read, STRANGE):,} messages of {self._reader.name} is one that is"
                f" expected: {self._strange()}."
            )

    def _strange(self) -> str:
        for lane in self._lanes.values():
            for stray in lane.strays:
                problem = self._namer.problem(stray.item)
                if problem is not None:
                    return f"they are not {self._namer.format} ({problem})"
                return (
                    f"they read as {self._namer.format}, such as {self._namer.subject(stray.item)}, and are of"
                    f" {OTHER_RUN}"
                )
        return "name the scenario, format and options of the run that wrote them"

    # -------------------------------------------------------------------------------------------------------- findings

    def _report(
        self, lane: Lane, wrong: Wrong, expected: Item | None, read: Item | None, count: int = 1, again: bool = False
    ) -> None:
        if wrong is Wrong.DOUBLED and again and self._again:
            self.verdict.redelivered += count
            return
        text = ""
        assert expected is not None
        if wrong is Wrong.MISSING:
            self._where[wrong, "snapshot" if expected.get("phase") == 0 else "turns"] += count
            self._where[wrong, "end"] += count * (lane.has_ended and expected.index > lane.last_expected)
        if self.verdict.wants(wrong):
            subject = self._namer.subject(expected)
            match wrong:
                case Wrong.ALTERED:
                    assert read is not None
                    text = f"{subject} is altered: {self._namer.difference(expected, read)}"
                case Wrong.DOUBLED:
                    text = f"{subject} came again{_after(count)}"
                case Wrong.MISSING:
                    text = f"{subject} is missing{_after(count)}"
                case _:
                    rows = "other changes of its row" if wrong is Wrong.REORDERED_IN_KEY else "changes of other rows"
                    assert read is not None
                    text = f"{subject} came out of order: between it and its place are {rows}"
        self.verdict.add(self._namer.finding(lane.place, wrong, expected, text, count))

    def _crossed(self, lane: Lane, item: Item, first: int, stop: int) -> Wrong:
        """The finding for a moved message: whether it overtook another message of its own rows within a range."""
        own = self._namer.row_keys(item)
        for other in lane.expected.items(first, min(stop, first + MOST_CROSSED)):
            if other.index != item.index and own & self._namer.row_keys(other):
                return Wrong.REORDERED_IN_KEY
        return Wrong.REORDERED

    def _settle(self) -> None:
        """Settles open messages after all partitions are read: strays that belong elsewhere, altered ones, and the rest
        of both sides."""
        for lane in self._lanes.values():
            strays = list(lane.strays)
            lane.strays.clear()
            for stray in strays:
                self._settle_one(lane, None, stray)
        for lane in self._lanes.values():
            items = list(lane.absent.values())
            for first, count in _stretches(items):
                self._report(lane, Wrong.MISSING, first, None, count)
        misplaced = self.verdict.counts[Wrong.WRONG_PARTITION]
        if misplaced > max(LEAST_FINDINGS, self.verdict.read // 5):
            raise UsageError(
                f"{misplaced:,} of {self.verdict.read:,} messages of {self._reader.name} are in other partitions than"
                " expected: the run had another --route or number of partitions; give those of the run."
            )
        self._check_same_run()
        hints = [
            hint
            for (wrong, where), hint in HINTS.items()
            if 0 < self.verdict.counts[wrong] == self._where[wrong, where]
        ]
        self.verdict.hint = "; ".join(hints)

    def _check_same_run(self) -> None:
        """Raises UsageError if most messages are wrong: some, such as heartbeats, are the same in other runs."""
        verdict, counts = self.verdict, self.verdict.counts
        changed = counts[Wrong.ALTERED] + counts[Wrong.UNDECODABLE]
        lost, strange = counts[Wrong.MISSING] + changed, counts[Wrong.FOREIGN] + changed
        if verdict.expected > LEAST_FINDINGS and 2 * lost > verdict.expected and 2 * strange > verdict.read:
            raise UsageError(
                f"most of the {verdict.read:,} messages of {self._reader.name} are not those that are expected, and"
                f" {verdict.right:,} are right: they are of {OTHER_RUN}. The first difference: {verdict.findings[0]}."
            )

    def _settle_one(self, lane: Lane, item: Item | None, stray: Stray | None) -> None:
        if item is not None:
            self._report(lane, Wrong.MISSING, item, None)
            return
        assert stray is not None
        for other in sorted(self._lanes.values(), key=lambda other: other is not lane):
            if (expected := other.absent_like(stray.item.identity)) is None:
                continue
            other.found(expected)
            if other is lane:
                self.verdict.right += 1
                self._report(lane, Wrong.REORDERED, expected, stray.item)
            else:
                where = f"{other.place[0]}-{other.place[1]}"
                text = f"{self._namer.subject(expected)} came here, and belongs to {where}"
                self.verdict.add(self._namer.finding(lane.place, Wrong.WRONG_PARTITION, expected, text))
            return
        problem = self._namer.problem(stray.item)
        near = stray.near
        if near is not None and near.index in lane.absent and alike(near, stray.item):
            lane.found(near)
            if problem is None:
                self._report(lane, Wrong.ALTERED, near, stray.item)
            else:
                text = f"{self._namer.subject(near)} came as {self._namer.subject(stray.item)} that cannot be read:"
                self.verdict.add(self._namer.finding(lane.place, Wrong.UNDECODABLE, near, f"{text} {problem}"))
            return
        if problem is not None:
            text = f"{self._namer.subject(stray.item)} that nobody sent cannot be read: {problem}"
            self.verdict.add(self._namer.finding(lane.place, Wrong.UNDECODABLE, None, text))
            return
        index = stray.item.index
        self._where[Wrong.FOREIGN, "begin"] += lane.has_ended and index < lane.first_right
        self._where[Wrong.FOREIGN, "end"] += lane.has_ended and index > lane.last_right
        text = f"{self._namer.subject(stray.item)} is not of this stream"
        self.verdict.add(self._namer.finding(lane.place, Wrong.FOREIGN, None, text))


def _stretches(items: Sequence[Item]) -> Iterator[tuple[Item, int]]:
    """Runs of messages with adjacent indexes: the first message and the length of each run."""
    if not items:
        return
    indexes = np.array([item.index for item in items], dtype=np.int64)
    starts = np.flatnonzero(np.diff(indexes, prepend=indexes[0] - 2) != 1).tolist()
    for start, stop in zip(starts, [*starts[1:], len(items)], strict=True):
        yield items[start], stop - start


def _after(count: int) -> str:
    """The rest of a run in words."""
    return "" if count == 1 else ", and so is the one after it" if count == 2 else f", and the {count - 1:,} after it"


def _without_null(array: pa.Array) -> pa.Array:
    """A column of messages in which missing headers are an empty list."""
    if not pa.types.is_list(array.type) or not array.null_count:
        return array
    if array.null_count == len(array):
        return pa.ListArray.from_arrays(np.zeros(len(array) + 1, dtype=np.int32), pa.array([], array.type.value_type))
    return pa.array([each or [] for each in array.to_pylist()], array.type)
