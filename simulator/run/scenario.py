"""Scenarios of either kind: a YAML file, checked and resolved, or a SQL script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from simulator.errors import UsageError
from simulator.sources import find
from simulator.sources.source import Source
from simulator.sql import is_script
from simulator.stream.engine.block import Stream
from simulator.stream.engine.delay import Delay

if TYPE_CHECKING:
    from simulator.sql.script import Script
    from simulator.stream.scenario.loader import Loaded
    from simulator.stream.scenario.scenario import Scenario

# Imports are local: a SQL script needs neither the YAML language nor pydantic (a sixth of a second to import), and a
# YAML file needs no SQL engine.


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario without a file: its text, and its name in errors, which ends in .sql for a script."""

    text: str
    file: str


def load(
    name: str | Draft, source: str | None = None, sql_engine: str | None = None, settings: Sequence[str] = ()
) -> tuple[Loaded | Script, Source]:
    """Loads a scenario as written, and the source that it or `--source` names. The scenario is a file, the name of a
    shipped one, `-` or its own text. `sql_engine` is the server that runs a SQL script (a draft never uses one);
    `settings` are those of `--set`. Raises UsageError."""
    draft = name if isinstance(name, Draft) else None
    if is_script(file := str(name) if draft is None else draft.file):
        from simulator.sql import script

        sql = script.read_script(file, sql_engine) if draft is None else script.script_of(draft.text, file)
        system = script.source_of(sql, source)
        sql = script.fitted(sql, system, draft=draft is not None)
        for setting in settings:
            sql = script.with_setting(sql, setting)
        return sql, system
    if draft is None and sql_engine is not None:
        raise UsageError(f"--sql-engine {sql_engine}: {name} is no SQL script, so no server runs it.")
    from simulator.stream import source_of
    from simulator.stream.scenario.loader import content_of, read

    loaded = read(*(content_of(file) if draft is None else (draft.text, file)), settings)
    dated = next((i for i, entry in enumerate(loaded.spec.script or ()) if entry.at is not None), None)
    if dated is not None and (start := next((setting for setting in settings if setting.startswith("start=")), None)):
        raise UsageError(
            f"--set {start}: script[{dated}].at of {loaded.file} says when it happens; leave one of them out."
        )
    return loaded, source_of(loaded, source)


def possible_sources(loaded: Loaded | Script, ids: Iterable[str]) -> Iterator[Source]:
    """The sources among `ids` that a scenario can run on; empty if the scenario names its source itself."""
    if is_script(loaded.file):
        from simulator.sql.catalog.servers import SERVERS

        if loaded.engine or loaded.is_recording or loaded.meta("source"):  # type: ignore[union-attr]
            return
        yield from (source for source in map(find, ids) if str(source) in SERVERS)
    elif loaded.spec.source is None:  # type: ignore[union-attr]
        yield from map(find, ids)


def start_setting(start: str) -> str:
    """`--start` as a setting: `now`, or a point in time. Raises UsageError."""
    try:
        time = datetime.now(UTC) if start == "now" else datetime.fromisoformat(start)  # noqa: TID251 (asked for)
    except ValueError:
        raise UsageError(f"--start {start}: it is now, or a point in time such as 2024-05-01T10:00:00Z.") from None
    return f"start={time.isoformat(timespec='milliseconds')}"


def draft_of(name: str) -> Draft:
    """The text of a scenario for an editor: from a file, a shipped scenario by its name, or standard input (`-`).
    Raises UsageError."""
    if is_script(name):
        from simulator.sql.script import content_of as content_of_script

        content: bytes | str = content_of_script(name)
        file = name
    else:
        from simulator.stream.scenario.loader import content_of

        content, file = content_of(name)
    try:
        return Draft(content if isinstance(content, str) else content.decode("utf-8-sig"), file)
    except UnicodeDecodeError:
        raise UsageError(f"{name}: the file is not valid UTF-8, so it cannot be edited as text.") from None


def resolve(loaded: Loaded | Script, source: Source, *, seed: int | None = None) -> Scenario | Script:
    """Checks a scenario and resolves it for a source. Raises ScenarioError."""
    if is_script(loaded.file):
        return loaded  # type: ignore[return-value]
    from simulator.stream.scenario.resolve import resolve as resolve_yaml

    return resolve_yaml(loaded, source, seed=seed)  # type: ignore[arg-type]


def open_stream(
    scenario: Scenario | Script, source: Source, *, force: bool = False, heartbeat_ms: int | None = None
) -> Stream:
    """The stream of a scenario. A script is run; with `force` a SQL script continues after errors. `heartbeat_ms` is
    the heartbeat interval if the scenario has none. Raises ScenarioError."""
    from simulator.stream.literal.stream import LiteralStream

    if is_script(scenario.file):
        from simulator.sql.stream import stream_of

        stream: Stream = stream_of(scenario, source, force=force)  # type: ignore[arg-type]
    else:
        from simulator.stream import open_stream as open_yaml

        stream = open_yaml(scenario, heartbeat_ms)  # type: ignore[arg-type]
    if heartbeat_ms is not None and isinstance(stream, LiteralStream):
        stream.beat(heartbeat_ms)
    stream.delay = scenario.spec.delay and Delay(*scenario.spec.delay)
    return stream
