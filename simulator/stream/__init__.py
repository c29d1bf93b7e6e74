"""The change stream: turn i from (scenario, seed, i) alone. README.md explains the ideas; `open_stream` opens one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import UsageError

if TYPE_CHECKING:
    from simulator.sources.source import Source
    from simulator.stream.engine.stream import ChangeStream
    from simulator.stream.literal.script import ScriptStream
    from simulator.stream.scenario.loader import Loaded
    from simulator.stream.scenario.scenario import Scenario

# Listings describe up to this many tables in full, and give one line each to more.
MOST_IN_FULL: Final = 10


def open_stream(scenario: Scenario, heartbeat_ms: int | None = None) -> ChangeStream | ScriptStream:
    """The stream of a resolved scenario. `heartbeat_ms`: interval of heartbeats where a generated scenario does not set
    one. Raises ScenarioError for errors that show only when the scenario runs.
    """
    if scenario.spec.script is not None:
        from simulator.stream.literal.script import ScriptStream

        return ScriptStream(scenario)
    from simulator.stream.engine.compiled import compiled
    from simulator.stream.engine.stream import ChangeStream

    return ChangeStream(scenario, heartbeat_ms, compiled(scenario, heartbeat_ms))


def source_of(loaded: Loaded, requested: str | None) -> Source:
    """The source system of a run: the one that `--source` asks for, or the scenario's. Raises UsageError where they
    differ."""
    from simulator import sources

    if loaded.spec.source is None:
        return sources.find(requested or sources.DEFAULT)
    try:
        source = sources.find(loaded.spec.source)
    except UsageError as error:
        loaded.fail(("source",), str(error).removeprefix("--source "))
    if requested is None:
        return source
    requested_source = sources.find(requested)
    if source.id not in (requested_source.id, sources.SPEAKS.get(requested_source.id)):
        raise UsageError(
            f"--source {requested}: {loaded.file} has column types of {loaded.spec.source}; choose a version of it, "
            "or a scenario with portable types."
        )
    return requested_source
