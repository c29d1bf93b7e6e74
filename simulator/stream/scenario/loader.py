"""Scenario files, read into the models of the language. Every error is one sentence with file, line and key."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from pydantic import ValidationError

from simulator.errors import ScenarioError, UnknownName, UsageError, closest, did_you_mean, together
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.lines import Key, Mapping, dotted, has, line_of
from simulator.stream.scenario.problems import problems, sentence
from simulator.stream.scenario.shipped import shipped
from simulator.stream.scenario.yaml_text import YamlError, parse

STANDARD_INPUT: Final = "-"
SUFFIXES: Final = (".yaml", ".yml")


# Keys of a scenario that hold settings alone: `--set text.hostile=0.01` also where the file has no `text`.
SECTIONS: Final = ("curve", "mix", "text")
# Stands for all keys in a path of `--set`.
ANY: Final = "*"


@dataclass(frozen=True)
class Loaded:
    """A scenario as written: `file` is the name by which the user knows the file, `name` a short one for it."""

    spec: ScenarioSpec
    file: str
    name: str
    data: Mapping = field(repr=False, compare=False)

    def fail(self, path: Key, problem: str) -> NoReturn:
        """Raises ScenarioError: `orders.yaml:14: tables.orders.columns.qty.type: 'varchr' is not a MySQL type.`

        `path` is a key of the file, as names and list indexes; the line is that of its nearest existing ancestor.
        """
        raise ScenarioError(self.file, line_of(self.data, path), dotted(path), sentence(problem))


def load(name_or_path: str, settings: Sequence[str] = ()) -> Loaded:
    """The scenario in a file, a shipped one by its name (no separator, no suffix), `-` for standard input, or a
    scenario's own text (of several lines). `settings` are arguments of `--set`: `tables.users.rows=1e6`.

    Raises UnknownName, UsageError when there is no such file, ScenarioError for what is in it.
    """
    return read(*content_of(str(name_or_path)), settings)


def is_text(name_or_text: str) -> bool:
    """Whether the argument is a scenario's text, or `-` for standard input."""
    return name_or_text == STANDARD_INPUT or "\n" in name_or_text


def content_of(name: str) -> tuple[bytes | str, str]:
    """The content of a scenario, and its name in errors. Raises UnknownName, UsageError."""
    if name == STANDARD_INPUT:
        return _read_once(sys.stdin), "standard input"
    if is_text(name):
        return name, "the scenario"
    if "/" not in name and "\\" not in name and not name.endswith(SUFFIXES):
        files = shipped()
        if name not in files:
            hint = "`cdcsim scenarios` lists them all; a file name ends in .yaml or .sql."
            raise UnknownName("scenario", name, files, hint)
        return files[name].read_bytes(), f"scenarios/{files[name].name}"
    path = Path(name)
    try:
        return path.read_bytes(), name
    except FileNotFoundError:
        is_shipped_name = path.name == name and path.stem in shipped()
        siblings = {sibling.stem: sibling for sibling in _siblings(path)}
        near = None if is_shipped_name else closest(path.stem, siblings)
        guess = f" Did you mean {str(siblings[near])!r}?" if near else ""
        if not near and path.name == name and (near := closest(path.stem, shipped())):
            guess = f" Did you mean {near!r}, which comes with cdcsim?"
        raise UsageError(f"there is no scenario file {name!r}.{guess}") from None
    except IsADirectoryError:
        raise UsageError(f"{name!r} is a directory; a scenario is a YAML file or a SQL script.") from None
    except OSError as error:
        raise UsageError(f"the scenario file {name!r} cannot be read: {error.strerror}.") from None


@cache
def _read_once(stream: IO[str]) -> str:
    """The text of a stream, cached: a comparison reads its scenario once per format."""
    return stream.read()


def read(content: bytes | str, file: str, settings: Sequence[str] = ()) -> Loaded:
    """The scenario in a text; `file` is its name in errors. Raises ScenarioError."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScenarioError(file, line, "", "the file is not valid UTF-8.") from None
    try:
        data = parse(text)
    except YamlError as error:
        raise ScenarioError(file, error.line, "", sentence(error.problem)) from None
    if data is None:
        raise ScenarioError(file, None, "", "the file is empty; a scenario has at least tables.")
    if not isinstance(data, Mapping):
        raise ScenarioError(file, 1, "", "a scenario is a mapping of keys such as tables, lifecycles and script.")
    assigned = {path: setting for setting in settings for path in _assign(data, setting)}
    try:
        spec = ScenarioSpec.model_validate(data)
    except ValidationError as error:
        raise together(
            _problem(file, data, path, sentence(problem), assigned)
            for path, problem in problems(error.errors(include_url=False), data)
        ) from None
    return Loaded(spec, file, Path(file).stem, data)


def _problem(
    file: str, data: Mapping, path: tuple[str | int, ...], sentence: str, assigned: dict[tuple[str | int, ...], str]
) -> ScenarioError:
    """A problem at a path of the file, or in a value that `--set` put there."""
    for above in (path[:length] for length in range(len(path), 0, -1)):
        if above in assigned:
            return ScenarioError(f"--set {assigned[above]}", None, dotted(path[len(above) :]), sentence)
    return ScenarioError(file, line_of(data, path), dotted(path), sentence)


def _assign(data: Mapping, setting: str) -> list[tuple[str | int, ...]]:
    """Sets a value in the data (`tables.users.rows=1e6`, `script[2].heartbeat=no`, `tables.*.rows=1e6`); returns the
    paths set. Raises UsageError.
    """
    path, equals, text = setting.partition("=")
    names = [int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", path)]
    if not equals or not names:
        raise UsageError(f"--set {setting}: write KEY.KEY=VALUE, such as tables.users.rows=1e6.")
    if len(names) > 1 and names[0] in SECTIONS and names[0] not in data:
        data[names[0]] = Mapping()
        data.lines[names[0]] = 1
    try:
        value = parse(text)
    except YamlError as error:
        raise UsageError(f"--set {setting}: {error.problem}.") from None
    if isinstance(value, str) and (number := re.fullmatch(r"(\d+)[eE]\+?(\d{1,2})", value)):
        value = number[1] + "0" * int(number[2])  # `--set` accepts 1e6 for counts; files do not
    paths = list(_expanded(data, names))
    if not paths:
        raise UsageError(f"--set {setting}: `*` stands for nothing there; of tables it means those with rows.")
    for keys in paths:
        _put(data, setting, keys, value)
    return paths


def _expanded(data: Any, names: Sequence[str | int]) -> Iterator[tuple[str | int, ...]]:
    """Paths in which `*` is replaced by each key or index; below `tables`, by the short-form tables."""
    section: Any = data
    for depth, name in enumerate(names):
        if name == ANY and not has(section, ANY):
            keys = (
                list(section)
                if isinstance(section, Mapping)
                else list(range(len(section)))
                if isinstance(section, list)
                else []
            )
            short = tuple(names[:depth]) == ("tables",)
            for key in keys:
                if not short or has(section[key], "rows"):
                    yield from ((*names[:depth], key, *rest) for rest in _expanded(section[key], names[depth + 1 :]))
            return
        section = section[name] if has(section, name) else None
    yield tuple(names)


def _put(data: Mapping, setting: str, path: Sequence[str | int], value: Any) -> None:
    *above, last = path
    section: Any = data
    for depth, name in enumerate(above):
        if not has(section, name):
            keys = list(section) if isinstance(section, Mapping) else []
            hint = did_you_mean(str(name), keys, f" It has {', '.join(keys)}." if keys else "")
            raise UsageError(f"--set {setting}: there is no {dotted(tuple(path[: depth + 1]))}.{hint}")
        section = section[name]
    if isinstance(section, Mapping) and isinstance(last, str):
        section.lines.setdefault(last, max(data.lines.values(), default=1))
    elif not has(section, last):
        raise UsageError(f"--set {setting}: there is no {dotted(tuple(path))}.")
    section[last] = value


def _siblings(path: Path) -> list[Path]:
    try:
        return [entry for entry in path.parent.iterdir() if entry.suffix in SUFFIXES]
    except OSError:
        return []
