"""Options of the library's functions: each is declared once, with the name and meaning that `cdcsim` gives it.

Defaults and checks are those of the groups of a request (`simulator.run.request`), as on the command line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar

from simulator.errors import UsageError, did_you_mean
from simulator.run.request import About, Sending, Span, Subject

P = ParamSpec("P")
R = TypeVar("R")
Group = TypeVar("Group")


class ScenarioOptions(TypedDict, total=False):
    """Options of the scenario, which all functions take.

    `settings` changes values of the scenario: `{"tables.users.rows": 1_000_000}`, or the first commit time:
    `{"start": "now"}`.
    """

    source: str | None
    seed: int | None
    settings: Mapping[str, object] | None
    force: bool
    sql_engine: str | None
    allow_undocumented: bool


class RunOptions(ScenarioOptions, total=False):
    """Options of the part of the stream, and of how its messages are addressed.

    `limit` counts row changes, `turns` steps of the stream; both end with a transaction. Names, keys and tags are those
    that the product has for this kind of `broker`, where messages go to none. `faults` is what `--faults` takes; None:
    as the scenario says.
    """

    limit: int | None
    turns: int | None
    start_at: int
    snapshot: bool | None
    route: str | None
    broker: str
    faults: str | None


class PublishOptions(RunOptions, total=False):
    """Options of how messages are sent, and of what a run writes about itself.

    `rate` is `50000/s` or a profile, `duration` `10m`; `resume` names the file that keeps the position, `summary_to`
    and `record` those that get the summary and the record as JSON, also of a run that fails; Prometheus may ask at
    `metrics` (`127.0.0.1:9100`).
    """

    duration: str | None
    rate: str | None
    clock: Literal["simulated", "wall"]
    envelope: bool
    resume: str | Path | None
    summary_to: str | Path | None
    record: str | Path | None
    metrics: str | None


def takes(options: type[Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Shows options in the signature of a function, for `help` and completion. Other names raise UsageError."""
    defaults = {field.name: field.default for group in (Subject, Span, Sending, About) for field in fields(group)}
    defaults["settings"] = None

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=declared.__forward_arg__
            )
            for name, declared in options.__annotations__.items()
        ]
        known = {parameter.name for parameter in (*own, *shared)}

        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> R:
            for name in given:
                if name not in known:
                    hint = did_you_mean(name, known, f" It takes {', '.join(sorted(known))}.")
                    raise UsageError(f"{function.__name__} has no option {name!r}.{hint}")
            return function(*args, **given)

        call.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
        return call

    return decorate


def of(group: Callable[..., Group], options: Mapping[str, Any], *given: Any) -> Group:
    """A group of a request, with those options that are its fields. Raises UsageError."""
    names = {field.name for field in fields(group)}  # type: ignore[arg-type]
    return group(*given, **{name: value for name, value in options.items() if name in names})


def subject_of(scenario: str | Path, format: str, options: Mapping[str, Any]) -> Subject:
    """The subject of a run. Settings are as `--set` has them: yes, no and null as scenarios spell them. Raises
    UsageError."""
    settings = options.get("settings")
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(f'settings is {settings!r}: it is a mapping, such as {{"tables.users.rows": 1000}}.')
    words = {True: "yes", False: "no", None: "null"}
    values = dict(settings or {})
    start = str(values.pop("start")) if values.get("start") == "now" else None
    texts = (
        f"{key}={words[value] if value is None or isinstance(value, bool) else value}" for key, value in values.items()
    )
    return of(Subject, {**options, "settings": tuple(texts), "start": start}, scenario, format)


def about_of(options: Mapping[str, Any]) -> About:
    """The files and counters of a run. Raises UsageError."""
    names = ("summary_to", "record", "resume")
    files = {name: Path(file) for name in names if (file := options.get(name)) is not None}
    return of(About, {**options, **files})
