"""Scripts run on a PostgreSQL server, held against the rows that a real Debezium read from the log of one.

Both see the same log, so operation, table, images and transactions are equal, as far as Debezium's values go: it writes
times in UTC, intervals as microseconds, and has no geometric types but points. Each format that reads PostgreSQL then
has the rows of the history, as `decoded_comparison.py` compares them.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from building import messages_of
from cases import refused
from decoded_comparison import problems_of

from simulator import formats, registry, sources
from simulator.batch import ChangeBatch
from simulator.model import DELETE, INSERT, Table
from simulator.sql.script import fitted, script_of
from simulator.sql.stream import stream_of
from simulator.stream.literal.history import HistoryStream
from simulator.stream.literal.transactions import Positions, Row, RowChange

pytestmark = pytest.mark.broker("postgresql")
FOLDER: Final = Path(__file__).parents[1] / "captures" / "debezium"
SOURCE: Final = sources.find("postgresql-14")  # the newest known that is not newer than the capture's server
EXTENSIONS: Final = "create extension hstore; create extension citext; create extension ltree;\n"
# How the capture was made, and what the history cannot hold: a number with a scale that is none (Debezium has null).
EDITS: Final = {
    "operations": [("-- while it streams:", "-- @snapshot"), (r"(?<=\n)(insert.*\n.*\n)\Z", r"begin; \1 commit;")],
    "types": [
        ("-- while it streams:", "-- @snapshot"),
        ("create schema", EXTENSIONS + "create schema"),
        (r"(values\(\d+,'NaN','infinity','infinity','-infinity','Infinity','-Infinity',)'NaN'", r"\1null"),
    ],
}
Image = Mapping[str, Any] | None


class Change(NamedTuple):
    """A row as Debezium reports it; `transaction` is equal for those of one."""

    transaction: int
    op: str
    table: str
    before: Image
    after: Image


# ------------------------------------------------------------------------------------------------------------- Debezium


def theirs(run: str) -> tuple[list[Change], dict[str, dict[str, Any]]]:
    """The rows of a capture, and the schemas of the columns by name."""
    changes, fields = [], {}
    for line in gzip.decompress((FOLDER / f"postgres-{run}.jsonl.gz").read_bytes()).splitlines():
        record = json.loads(line)
        value = json.loads(record["value"] or "{}")
        payload = value.get("payload", {})
        if payload.get("op") in ("r", "c", "u", "d"):
            source = payload["source"]
            changes.append(Change(source["txId"], payload["op"], source["table"], payload["before"], payload["after"]))
            (after,) = (each for each in value["schema"]["fields"] if each["field"] == "after")
            fields |= {each["field"]: each for each in after["fields"]}
    return changes, fields


# ----------------------------------------------------------------------------------------------------------------- ours


def history(run: str, url: str) -> HistoryStream:
    text = gzip.decompress((FOLDER / f"postgres-{run}.sql.gz").read_bytes()).decode()
    for old, new in EDITS[run]:
        text, count = re.subn(old, new, text)
        assert count
    script = fitted(replace(script_of(text, f"{run}.sql"), engine=f"{url}/{run}"), SOURCE)
    stream = stream_of(script, SOURCE)
    assert stream.failure is None, stream.failure
    return stream


def ours(stream: HistoryStream) -> Iterator[Change]:
    """The rows of a history as Debezium reports them: an UPDATE of the key is a DELETE and an INSERT."""
    for each in sorted(stream.before, key=lambda each: each.table.id.name):
        for row in each.rows.values():
            yield Change(0, "r", each.table.id.name, None, image(row, None, names_of(each.table), UNAVAILABLE))
    for number, transaction in enumerate(stream.transactions, 1):
        for entry in transaction.entries:
            if isinstance(entry, RowChange):
                names = names_of(entry.table)
                before = image(entry.before, entry.logged_before, names, None)
                after = image(entry.after, entry.logged_after, names, UNAVAILABLE)
                name, key = entry.table.id.name, entry.table.primary_key
                if before and after and any(before[column] != after[column] for column in key):
                    yield Change(number, "d", name, before, None)
                    yield Change(number, "c", name, None, after)
                else:
                    op = "c" if entry.kind is INSERT else "d" if entry.kind is DELETE else "u"
                    yield Change(number, op, name, before, after)


def names_of(table: Table) -> list[str]:
    return [column.name for column in table.columns]


UNAVAILABLE: Final = "__debezium_unavailable_value"


def image(row: Row | None, logged: Positions, names: list[str], otherwise: str | None) -> Image:
    """A row, with `otherwise` in the columns that the log lacks; None for an image that it lacks."""
    if row is None or logged == ():
        return None
    return {name: row[i] if logged is None or i in logged else otherwise for i, name in enumerate(names)}


# --------------------------------------------------------------------------------------------------------------- values

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What stands for infinity: in dates of the log, of a snapshot, and in timestamps.
INFINITE: Final = {-2147472692: "infinity", -622191234: "infinity", 9223372036825200000: "infinity",
                   -9223372036832400: "-infinity", -9223372036832400000: "-infinity"}  # fmt: skip
NO_ZONE: Final = re.compile(r"(\d+)-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:\+00|Z)?( BC)?")


def microseconds(text: str) -> int | str:
    """Since 1970, of any year, in UTC."""
    match = NO_ZONE.fullmatch(text)
    if match is None:
        assert text.lstrip("-") == "infinity", text
        return text
    year, *parts = (int(part or 0) for part in match.groups()[:6])
    year = 1 - year if match[8] else year
    days = (datetime(2000 + year % 400, *parts, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    return days + (year - 2000 - year % 400) // 400 * 146_097 * 86_400_000_000 + int((match[7] or "").ljust(6, "0"))


def clock(text: str) -> int:
    """A time of day in microseconds, in UTC if it has a zone."""
    match = re.fullmatch(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-]\d\d)(?::(\d\d))?)?", text)
    assert match, text
    hours, minutes, seconds = (int(match[i]) for i in (1, 2, 3))
    east = (int(match[5] or 0) * 60 + int(f"{(match[5] or '+')[0]}{match[6] or 0}")) * 60
    whole = hours * 3600 + minutes * 60 + seconds - east
    return (whole % 86400 if match[5] else whole) * 1_000_000 + int((match[4] or "").ljust(6, "0"))


def interval(text: str) -> int:
    """Microseconds; a month has a twelfth of 365.25 days."""
    found = {unit: int(count) for count, unit in re.findall(r"(-?\d+) (year|mon|day)", text)}
    days = (found.get("year", 0) * 12 + found.get("mon", 0)) * Decimal("30.4375") + found.get("day", 0)
    time = re.search(r"(-?)(\d\d:\d\d:\d\d(?:\.\d+)?)", text)
    sign = -1 if time and time[1] else 1
    return int(days * 86_400_000_000) + (sign * clock(time[2]) if time else 0)


def decimal(text: str) -> Decimal | None:
    number = Decimal(re.sub(r"[$,]", "", text))
    return None if number.is_nan() else number


def unscaled(value: Any, field: Mapping[str, Any]) -> Decimal:
    parts = value if isinstance(value, dict) else {"value": value, **field["parameters"]}
    return Decimal(f"{int.from_bytes(base64.b64decode(parts['value']), signed=True)}E-{parts['scale']}")


def hstore(text: str) -> dict[str, str | None]:
    pairs = re.finditer(r'"((?:[^"\\]|\\.)*)"=>(?:(NULL)|"((?:[^"\\]|\\.)*)")', text)
    return {pair[1].replace("\\", ""): None if pair[2] else pair[3].replace("\\", "") for pair in pairs}


def elements(text: str) -> list[str | None]:
    found = re.finditer(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)', text)
    return [match[1] if match[1] is not None else None if match[2] == "NULL" else match[2] for match in found]


def real(value: Any) -> str:
    """A floating point number; NaN equals itself."""
    return str(float(value))


def point(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.strip("()").split(",")))


def plain(value: Any, field: Any) -> Any:
    return value


class Reading(NamedTuple):
    """A type of Debezium's: our literal and its value as what both say."""

    ours: Callable[[str], Any] = str
    theirs: Callable[[Any, Mapping[str, Any]], Any] = plain


def times(unit: int) -> Callable[[Any, Any], Any]:
    return lambda value, field: INFINITE.get(value, value * unit)


READINGS: Final[Mapping[str, Reading]] = {
    **dict.fromkeys(("int16", "int32", "int64"), Reading(int)),
    **dict.fromkeys(("float", "double"), Reading(real, lambda value, field: real(value))),
    "boolean": Reading(lambda text: text in ("t", "true", "1")),
    "bytes": Reading(lambda text: bytes.fromhex(text[2:]), lambda value, field: base64.b64decode(value)),
    "VariableScaleDecimal": Reading(decimal, unscaled),
    "Decimal": Reading(decimal, unscaled),
    "Date": Reading(microseconds, times(86_400_000_000)),
    "MicroTime": Reading(clock),
    "Time": Reading(clock, times(1000)),
    "ZonedTime": Reading(clock, lambda value, field: clock(value)),
    "MicroTimestamp": Reading(microseconds, times(1)),
    "Timestamp": Reading(microseconds, times(1000)),
    "ZonedTimestamp": Reading(microseconds, lambda value, field: microseconds(value)),
    "MicroDuration": Reading(interval),
    "Bits": Reading(
        lambda text: int(text, 2), lambda value, field: int.from_bytes(base64.b64decode(value), "little")
    ),
    "Point": Reading(point, lambda value, field: (value["x"], value["y"])),
    "hstore": Reading(hstore, lambda value, field: json.loads(value)),
}  # fmt: skip
# What the capture has otherwise: Debezium loses `BC` of dates in a snapshot; a clock's values.
OTHERWISE: Final = {("r", "da", "0001-01-01 BC"), ("r", "da", "infinity")}
CLOCKS: Final = ("nn_now",)


def same(op: str, name: str, field: Mapping[str, Any], mine: Any, value: Any) -> bool:
    if mine is None or mine == UNAVAILABLE or name in CLOCKS:
        return name in CLOCKS or bool(mine == value)
    if field["type"] == "array":
        if "{{" in mine:  # of which Debezium only has the length
            return value == [None] * mine[1:].count("{")
        cells = elements(mine)
        return len(cells) == len(value) and all(map(lambda a, b: same(op, name, field["items"], a, b), cells, value))
    kind = "hstore" if name == "hs" else field.get("name", field["type"]).rpartition(".")[2]
    reading = READINGS.get(kind, Reading())
    got = reading.ours(mine)
    return got == (None if value is None else reading.theirs(value, field)) or (op, name, mine) in OTHERWISE


# ---------------------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize(("run", "rows"), [("operations", 18), ("types", 10)])
def test_rows_of_debezium(run: str, rows: int, postgresql: str) -> None:
    stream = history(run, postgresql)
    wanted, fields = theirs(run)
    changes = list(ours(stream))
    assert len(changes) == len(wanted) == rows
    assert transactions(changes) == transactions(wanted)
    problems = []
    for mine, other in zip(changes, wanted, strict=True):
        assert (mine.op, mine.table) == (other.op, other.table)
        for name, found, expected in differing(mine, other, fields):
            problems.append(f"{mine.op} {mine.table}.{name}: {found!r}, Debezium has {expected!r}")
    assert not problems, "\n".join(problems)
    for format in registry.names("format", formats.FORMATS):
        if "postgresql" in formats.find(format).sources:
            check_messages(format, stream)


def transactions(changes: list[Change]) -> list[int]:
    """How many rows each transaction has, the snapshot left out."""
    streamed = [each.transaction for each in changes if each.op != "r"]
    return [len(list(same)) for _, same in groupby(streamed)]


def differing(mine: Change, other: Change, fields: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for found, expected in ((mine.before, other.before), (mine.after, other.after)):
        assert (found is None) == (expected is None)
        for name in (expected or {}) if found else ():
            if not same(mine.op, name, fields[name], found[name], expected[name]):
                yield name, found[name], expected[name]


def check_messages(format: str, stream: HistoryStream) -> None:
    """The messages of a format have the rows of the stream, turn by turn; `test_partial_images.py` has partial ones."""
    for turn in range(stream.turns):
        block = stream.read(turn, turn + 1)
        batches = tuple(written(format, batch) for batch in block.batches if batch.logged is None)
        rows = replace(block, batches=batches, events=())
        assert not list(problems_of(format, str(SOURCE), rows, messages_of(format, str(SOURCE), rows)))


def written(format: str, batch: ChangeBatch) -> ChangeBatch:
    """A batch without the columns whose types the format refuses."""
    columns = batch.table.columns
    lost = refused(format, str(SOURCE), columns)
    kept = [i for i, column in enumerate(columns) if column not in lost]
    images = (None if image is None else tuple(image[i] for i in kept) for image in (batch.after, batch.before))
    after, before = images
    return replace(
        batch, table=replace(batch.table, columns=tuple(columns[i] for i in kept)), after=after, before=before
    )
