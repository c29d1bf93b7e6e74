"""Fixtures for tests of CDC consumers: `cdc`, `cdc_kafka` and `cdc_golden`, and the marker `cdc`.

    @pytest.mark.cdc("orders", "canal-json", limit=200)
    def test_consumer(cdc):
        cdc.assert_rows("shop.orders", my_consumer(cdc.messages))

pytest loads this module whenever it starts, so it imports nothing but pytest and the standard library; the simulator is
loaded by the first test that uses a fixture.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

if TYPE_CHECKING:
    from simulator.library import Simulation
    from simulator.model import Message, RowChange

# Environment variable that names a broker to use instead of the one in the test process: `CDCSIM_KAFKA=localhost:9092
# pytest`.
BROKER_VARIABLE: Final = "CDCSIM_KAFKA"
# Bytes of keys and values that certainly fit into a partition of the broker in the test process.
MOCK_BYTES: Final = 2_000_000
# Identity of a row: its key, or all columns without one.
Key: TypeAlias = tuple[str, ...]
# A row, each value as the text that the database's client prints and as Python's.
Pairs: TypeAlias = Mapping[str, tuple[Any, Any]]
# Scenario and format of a test whose marker has no arguments: each kind of event once.
DEFAULTS: Final = ("tour", "canal-json")
# Row changes of a scenario that is no script, unless `limit` says otherwise.
LIMIT: Final = 100
# Most differing rows, and most lines of a diff, that a failure prints.
MOST_ROWS: Final = 5
MOST_LINES: Final = 60


class Cdc:
    """A run in memory. Call it for another: `cdc("orders", "dts-canal-json", limit=50, seed=7)`."""

    def __init__(self, scenario: str = DEFAULTS[0], format: str = DEFAULTS[1], **options: Any) -> None:
        import simulator

        # a script ends by itself
        options = {"limit": None if scenario == DEFAULTS[0] else LIMIT, **options}
        with _sentences():
            self._run: Simulation = simulator.simulate(scenario, format, **options)

    def __call__(self, scenario: str = DEFAULTS[0], format: str = DEFAULTS[1], **options: Any) -> Cdc:
        return Cdc(scenario, format, **options)

    @property
    def messages(self) -> list[Message]:
        """The messages in stream order: `topic`, `partition`, `key`, `value`, `headers`."""
        return self._run.messages

    @property
    def values(self) -> list[bytes | None]:
        """The messages' values alone."""
        return [message.value for message in self.messages]

    @property
    def changes(self) -> list[RowChange]:
        """The row changes behind the messages: `kind`, `table`, `before`, `after`."""
        return self._run.changes

    @property
    def expected(self) -> dict[str, list[dict[str, Any]]]:
        """The rows that a consumer must hold after all messages, by table (`shop.orders`)."""
        return self._run.expected

    def assert_rows(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Fail unless these are the expected rows of the table, in whatever order; the failure names the rows that
        differ and the last change of each.

        A value is right as the text that the database's client prints, as Python's value, or as the same number.
        """
        __tracebackhide__ = True
        if table not in self.expected:
            pytest.fail(f"no table {table!r} in this run: it has {', '.join(self.expected)}.", pytrace=False)
        key = self._run.keys[table]
        typed = replace(self._run, typed=True).expected[table]
        wanted: dict[Key, list[Pairs]] = {}
        for row, values in zip(self.expected[table], typed, strict=True):
            wanted.setdefault(_key(row, key), []).append({name: (row[name], values[name]) for name in row})
        problems = list(_differences(wanted, _by_key(rows, key)))
        if problems:
            shown = [self._explained(table, key, *problem) for problem in problems[:MOST_ROWS]]
            if len(problems) > MOST_ROWS:
                shown.append(f"… and {len(problems) - MOST_ROWS} more.")
            lead = f"{table}: {len(problems)} rows are not as expected, of {len(typed)}."
            raise AssertionError("\n".join([lead, *shown]))

    def verify(
        self,
        output: str | Path | Mapping[str, Iterable[Mapping[str, Any]]],
        *,
        tolerate: Iterable[str] = (),
        follow: str | None = None,
        quiet: str | None = None,
        reached: str | None = None,
    ) -> None:
        """Fail unless a consumer's tables hold the expected rows, of all tables; the failure names rows and causes.

        `output` is a folder of files (`orders.parquet`, `.csv`, `.jsonl`), a database (`sqlite:FILE`, `mysql://…`,
        `postgresql://…`), or rows by table. `tolerate` compares columns less strictly: `total=round:2`, `*_at=ms`.
        A consumer that still runs is waited for with `follow="60s"`, at most so long; `quiet` and `reached` are as
        `simulator.verify_tables` has them.
        """
        __tracebackhide__ = True
        with _sentences():
            verdicts = self._run.verify(output, tolerate=list(tolerate), follow=follow, quiet=quiet, reached=reached)
        wrong = [str(verdict) for verdict in verdicts if not verdict.ok]
        if wrong:
            raise AssertionError("\n".join(wrong))

    def _explained(self, table: str, names: tuple[str, ...], key: Key, problem: str) -> str:
        """The problem of a row, and the last change that produced its expected state."""
        text = "  " + ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=False)) + f": {problem}"
        for change in reversed(self.changes):
            images = [image for image in (change.after, change.before) if image is not None]
            if str(change.table) == table and any(_key(image, names) == key for image in images):
                return f"{text}\n    last change: {change.kind.name} at {change.order}"
        return text


class CdcKafka(Cdc):
    """A run whose messages are in a broker: `bootstrap_servers`, and the `topic` or `topics` that hold them."""

    def __init__(self, broker: Broker, scenario: str = DEFAULTS[0], format: str = DEFAULTS[1], **options: Any) -> None:
        # every run has a topic of its own
        options = {"topic": f"cdc-{os.urandom(6).hex()}", "partitions": broker.partitions, **options}
        super().__init__(scenario, format, **options)
        self._broker = broker
        self.bootstrap_servers = broker.servers
        self.topics = sorted({message.topic for message in self.messages})
        broker.publish(self._run, self.topics, options["topic"], options["partitions"])

    def __call__(self, scenario: str = DEFAULTS[0], format: str = DEFAULTS[1], **options: Any) -> CdcKafka:
        return CdcKafka(self._broker, scenario, format, **options)

    @property
    def topic(self) -> str:
        """The only topic."""
        (topic,) = self.topics
        return topic


class Broker:
    """librdkafka's mock broker in this process, or the one that the environment names."""

    def __init__(self) -> None:
        from simulator.sinks.kafka import mock

        self.partitions = mock.PARTITIONS
        named = os.environ.get(BROKER_VARIABLE)
        self._mock = None if named else mock.MockCluster()
        self.servers = named or (self._mock.servers if self._mock else "")

    def publish(self, run: Simulation, topics: list[str], pattern: str, partitions: int) -> None:
        if self._mock is not None:
            for topic in topics:
                self._mock.create(topic)
        with _sentences():
            run.send(f"kafka://{self.servers}/{pattern}?partitions={partitions}")
        if self._mock is not None and sum(len(message.value or b"") for message in run.messages) > MOCK_BYTES:
            for topic in topics:
                if count := self._mock.dropped(topic):
                    pytest.fail(
                        f"the broker in the test process keeps 5 MiB of a partition and dropped {count:,} messages:"
                        f" take a smaller limit or smaller tables, or name a real broker in {BROKER_VARIABLE}.",
                        pytrace=False,
                    )


class Golden:
    """A text, bytes, or anything that JSON can hold, against a file next to the test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node: pytest.Item = request.node
        self._update = bool(request.config.getoption("--cdc-update"))

    def __call__(self, value: Any, name: str = "") -> None:
        """Compare with `goldens/TEST-FILE/TEST[.NAME].txt`; `--cdc-update` writes it."""
        __tracebackhide__ = True
        stem = re.sub(r"[^\w.-]+", "-", self._node.name).strip("-") + (f".{name}" if name else "")
        file = self._node.path.parent / "goldens" / self._node.path.stem / f"{stem}.txt"
        content = _content(value)
        if self._update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            return
        accept = f"pytest {self._node.nodeid!r} --cdc-update"
        if not file.exists():
            pytest.fail(f"there is no golden file {_short(file)}: write it with {accept}, and read it.", pytrace=False)
        import difflib

        golden = file.read_bytes()
        if content != golden:
            before, after = (text.decode(errors="backslashreplace").splitlines() for text in (golden, content))
            diff = list(difflib.unified_diff(before, after, "golden", "this run", lineterm=""))
            if len(diff) > MOST_LINES:
                diff = [*diff[:MOST_LINES], f"… and {len(diff) - MOST_LINES} lines more."]
            raise AssertionError("\n".join([f"{_short(file)} differs; if this is right: {accept}", *diff]))


@pytest.fixture
def cdc(request: pytest.FixtureRequest) -> Cdc:
    """A CDC run in memory, as the test's marker `cdc` says: its messages, changes and expected rows."""
    arguments, options = _marked(request)
    return Cdc(*arguments, **options)


@pytest.fixture
def cdc_kafka(request: pytest.FixtureRequest, _cdc_broker: Broker) -> CdcKafka:
    """A CDC run whose messages are in a Kafka broker: one inside the test process, or that of CDCSIM_KAFKA."""
    arguments, options = _marked(request)
    return CdcKafka(_cdc_broker, *arguments, **options)


@pytest.fixture(scope="session")
def _cdc_broker() -> Broker:
    return Broker()


@pytest.fixture
def cdc_golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare a text, bytes or data with a golden file next to the test; `--cdc-update` writes it."""
    return Golden(request)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cdcsim")
    group.addoption("--cdc-update", action="store_true", help="write the files of cdc_golden anew; then read them")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "cdc(scenario, format, *, limit=100, seed=None, source=None, snapshot=None, …): what the fixtures cdc and"
        " cdc_kafka run; the options are those of simulator.simulate",
    )


@contextmanager
def _sentences() -> Iterator[None]:
    """An error of the simulator is one sentence, without a traceback."""
    from simulator.errors import SimulatorError

    try:
        yield
    except SimulatorError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _marked(request: pytest.FixtureRequest) -> tuple[tuple[Any, ...], dict[str, Any]]:
    marker = request.node.get_closest_marker("cdc")
    if marker is None:
        return (), {}
    if len(marker.args) > 2:
        pytest.fail(
            f"the marker cdc takes a scenario, a format, and options by their names, not {marker.args[2]!r}.",
            pytrace=False,
        )
    return marker.args, marker.kwargs


def _key(row: Mapping[str, Any], key: tuple[str, ...]) -> Key:
    """The values of the key as texts; of a table without one, all values."""
    return tuple(str(row.get(name)) for name in key or sorted(row))


def _by_key(rows: Iterable[Mapping[str, Any]], key: tuple[str, ...]) -> dict[Key, list[Mapping[str, Any]]]:
    found: dict[Key, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(_key(row, key), []).append(row)
    return found


def _differences(
    expected: Mapping[Key, list[Pairs]], got: Mapping[Key, list[Mapping[str, Any]]]
) -> Iterator[tuple[Key, str]]:
    for key in {**expected, **got}:
        wanted, rows = expected.get(key, []), got.get(key, [])
        if not wanted:
            yield key, f"not expected: {dict(rows[0])}"
        elif not rows:
            yield key, f"missing: { {name: text for name, (text, _) in wanted[0].items()} }"
        elif len(rows) != len(wanted):
            yield key, f"there {len(rows)} times, expected {len(wanted)} times"
        elif wrong := ", ".join(_wrong(rows[0], wanted[0])):
            yield key, wrong


class _Missing:
    def __repr__(self) -> str:
        return "missing"


_MISSING: Final = _Missing()


def _wrong(row: Mapping[str, Any], wanted: Pairs) -> Iterator[str]:
    for name in {**wanted, **row}:
        got = row.get(name, _MISSING)
        if name not in wanted:
            yield f"{name} is {got!r}, expected no such column"
        elif not _same(got, *wanted[name]):
            yield f"{name} is {got!r}, expected {wanted[name][0]!r}"


def _same(got: Any, text: str | None, value: Any) -> bool:
    from decimal import Decimal, InvalidOperation

    if got in (text, value):
        return True
    if not isinstance(value, int | float | Decimal) or isinstance(got, bytes):
        return False
    try:
        return Decimal(str(got)) == Decimal(str(value))
    except InvalidOperation:
        return False


def _content(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return (json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str) + "\n").encode()


def _short(file: Path) -> str:
    """The path as the user types it."""
    return os.path.relpath(file)
