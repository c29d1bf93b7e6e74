"""The change stream: turn i from (scenario, seed, i) alone. README.md tells the ideas; `open_stream` is the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.errors import UsageError

if TYPE_CHECKING:
    from simulator.sources.source import Source
    from simulator.stream.engine.stream import ChangeStream
    from simulator.stream.literal.script import ScriptStream
    from simulator.stream.scenario.loader import Loaded
    from simulator.stream.scenario.scenario import Scenario

DEFAULT_SOURCE = "mysql"


def open_stream(scenario: Scenario) -> ChangeStream | ScriptStream:
    """The stream of a resolved scenario. Raises ScenarioError for what only running it shows."""
    if scenario.spec.script is not None:
        from simulator.stream.literal.script import ScriptStream

        return ScriptStream(scenario)
    from simulator.stream.engine.stream import ChangeStream

    return ChangeStream(scenario)


def source_of(loaded: Loaded, wanted: str | None) -> Source:
    """The source system of a run: what `--source` says, or the scenario's own. Raises UsageError where they differ."""
    from simulator import sources

    own = loaded.spec.source
    if own is None:
        return sources.find(wanted or DEFAULT_SOURCE)
    try:
        own_source = sources.find(own)
    except UsageError as error:
        loaded.fail(("source",), str(error).removeprefix("--source "))
    if wanted is None:
        return own_source
    source = sources.find(wanted)
    if source.id != own_source.id:
        raise UsageError(
            f"--source {wanted}: {loaded.file} has the column types of {own}; "
            "choose a version of that, or a scenario with portable types."
        )
    return source
