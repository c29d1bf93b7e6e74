"""Scenario files: found, read and checked against the language. Every error is one sentence with file, line and key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml
from pydantic import ValidationError

from simulator.errors import ScenarioError, UnknownName, UsageError, closest
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.lines import Items, Key, Mapping, dotted, line_of
from simulator.stream.scenario.problems import first_problem, sentence

SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class Loaded:
    """A scenario as written: `file` is the name by which the user knows the file, `name` a short one for it."""

    spec: ScenarioSpec
    file: str
    name: str
    data: Mapping = field(repr=False, compare=False)

    def fail(self, path: Key, problem: str) -> NoReturn:
        """Raise ScenarioError: `orders.yaml:14: tables.orders.columns.qty.type: 'varchr' is not a MySQL type.`

        `path` leads to a key of the file, as names and list places. The line is that of the nearest known ancestor.
        """
        raise ScenarioError(self.file, line_of(self.data, path), dotted(path), sentence(problem))


def load(name_or_path: str) -> Loaded:
    """The scenario in a file, or a shipped one by its name (no separator, no suffix).

    Raises UnknownName, UsageError when there is no such file, ScenarioError for what is in it.
    """
    name = str(name_or_path)
    if "/" not in name and "\\" not in name and not name.endswith(SUFFIXES):
        known = shipped()
        if name not in known:
            hint = "`cdcsim scenarios` lists them all; a file of your own ends in .yaml or .sql."
            raise UnknownName("scenario", name, known, hint)
        return read(known[name].read_bytes(), f"scenarios/{known[name].name}")
    path = Path(name)
    try:
        return read(path.read_bytes(), name)
    except FileNotFoundError:
        near = closest(path.name, _siblings(path))
        guess = f" Did you mean {str(path.parent / near)!r}?" if near else ""
        raise UsageError(f"there is no scenario file {name!r}.{guess}") from None
    except IsADirectoryError:
        raise UsageError(f"{name!r} is a directory; a scenario is a YAML file or a SQL script.") from None
    except OSError as error:
        raise UsageError(f"the scenario file {name!r} cannot be read: {error.strerror}.") from None


def read(content: bytes | str, file: str) -> Loaded:
    """The scenario in a text, told as `file` in errors. Raises ScenarioError."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScenarioError(file, line, "", "this is not a text in UTF-8, so no scenario.") from None
    try:
        data = parse(text)
    except YamlError as error:
        raise ScenarioError(file, error.line, "", sentence(error.problem)) from None
    if data is None:
        raise ScenarioError(file, None, "", "the file is empty; a scenario has at least tables.")
    if not isinstance(data, Mapping):
        raise ScenarioError(file, 1, "", "a scenario is a mapping of keys such as tables, lifecycles and script.")
    try:
        spec = ScenarioSpec.model_validate(data)
    except ValidationError as error:
        path, problem = first_problem(error.errors(include_url=False), data)
        raise ScenarioError(file, line_of(data, path), dotted(path), sentence(problem)) from None
    return Loaded(spec, file, Path(file).stem, data)


def shipped() -> dict[str, Path]:
    """The scenarios that come with the package, by name: inside it in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "scenarios", package.parent / "scenarios"):
        if found := sorted(folder.glob("*.yaml")):
            return {path.stem: path for path in found}
    return {}


def about(path: Path) -> str:
    """The first comment paragraph of a scenario file: what it imitates and what it is for."""
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("#") and text.strip("# "):
            lines.append(text.lstrip("#").strip())
        elif lines or (text and not text.startswith("#")):
            break
    return " ".join(lines)


def _siblings(path: Path) -> list[str]:
    try:
        return [entry.name for entry in path.parent.iterdir() if entry.suffix in SUFFIXES]
    except OSError:
        return []


# --------------------------------------------------------------------------------------------------------------- YAML

# Every scalar is text; only a plain `null`, `~` or nothing at all is None. So none of YAML's guesses (`no`, `1e3`,
# `2024-05-01`, `007`) are made. Anchors and merge keys work; keys twice, tags and second documents are refused.

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
# Aliases may repeat what they name; a file that grows beyond this by it was not written by a person.
MOST_NODES: Final = 20_000_000


class YamlError(Exception):
    """What is wrong, and on which line (from 1)."""

    def __init__(self, line: int | None, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


def parse(text: str) -> Any:
    """The text's only document: Mapping, Items, str or None. Raises YamlError."""
    try:
        return _Builder(yaml.parse(text, Loader=_LOADER)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise YamlError(line, f"this is not valid YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise YamlError(line, f"this is not valid YAML: {error.reason}") from None
    except RecursionError:
        raise YamlError(None, "this nests too deeply") from None


class _Builder:
    """Builds data from YAML's events; nothing of a file is held twice, so long scripts stay affordable."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0

    def document(self) -> Any:
        next(self.events)  # the stream's start
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        data = self.node(next(self.events))
        next(self.events)  # the document's end
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            _fail(event, "a scenario is one document, and a second one begins here")
        return data

    def node(self, event: Any) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if event.tag is not None:
            _fail(event, f"tags such as {event.tag!r} have no meaning here")
        before = self.nodes
        self.nodes += 1
        data: Any
        if isinstance(event, yaml.ScalarEvent):
            data = None if event.style in (None, "") and event.value in _NULLS else event.value
        elif isinstance(event, yaml.SequenceStartEvent):
            data = Items()
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                data.lines.append(item.start_mark.line + 1)
                data.append(self.node(item))
        else:
            data = self.mapping()
        if event.anchor is not None:
            self.anchors[event.anchor] = (data, self.nodes - before)
        return data

    def alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            _fail(event, f"no anchor &{event.anchor} stands above this")
        data, nodes = self.anchors[event.anchor]
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            _fail(event, "aliases make this file too large")
        return data

    def mapping(self) -> Mapping:
        data = Mapping()
        merged: list[Mapping] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key, line = self.key(event), event.start_mark.line + 1
            value_event = next(self.events)
            value = self.node(value_event)
            if key == "<<" and event.style in (None, ""):
                for source in value if isinstance(value, Items) else [value]:
                    if not isinstance(source, Mapping):
                        _fail(value_event, "<< wants a mapping, or a list of them, to merge")
                    merged.append(source)
                continue
            if key in data:
                _fail(event, f"the key {key!r} stands on line {data.lines[key]} already")
            data[key], data.lines[key] = value, line
        for source in merged:
            for key in source:
                if key not in data:
                    data[key], data.lines[key] = source[key], source.lines[key]
        return data

    def key(self, event: Any) -> str:
        key = self.node(event)
        if isinstance(key, str):
            return key
        if key is None:
            _fail(event, "a key is missing here; the text null wants quotes")
        _fail(event, "a key must be a plain text")


def _fail(event: Any, problem: str) -> NoReturn:
    raise YamlError(event.start_mark.line + 1, problem)
