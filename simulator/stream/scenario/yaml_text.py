"""YAML as text: no scalar's type is guessed, and every key knows its line.

Every scalar is text; only a plain `null`, `~` or nothing at all is None. So `no`, `1e3`, `2024-05-01` and `007` stay as
they are. Anchors and merge keys work; duplicate keys, tags and second documents are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml

from simulator.stream.scenario.lines import Items, Mapping

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
# Maximum keys and values of a file with its aliases expanded: reading them takes some ten seconds.
MOST_NODES: Final = 2_000_000
TOO_DEEP: Final = "the file is nested too deeply"


class YamlError(Exception):
    """A YAML error's message, and its line (from 1)."""

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
        problem = error.problem or error.context
        if problem == "exceeded maximum nesting depth":  # PyYAML 6.0.4's limit
            raise YamlError(None, TOO_DEEP) from None
        if mark is not None and re.match(r" *\t", "".join(text.split("\n")[mark.line : mark.line + 1])):
            problem = "a tab indents the line; write spaces"  # libyaml: "found character that cannot start any token"
        raise YamlError(line, f"invalid YAML: {problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise YamlError(line, f"invalid YAML: {error.reason}") from None
    except RecursionError:
        raise YamlError(None, TOO_DEEP) from None


class _Builder:
    """Builds data from YAML events without an intermediate tree, so long scripts need little memory."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0

    def document(self) -> Any:
        next(self.events)  # stream start event
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        data = self.node(next(self.events))
        next(self.events)  # document end event
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            _fail(event, "a second YAML document begins here; a scenario is one document")
        return data

    def node(self, event: Any) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if event.tag is not None:
            _fail(event, f"YAML tags such as {event.tag!r} are not supported")
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
            _fail(event, f"there is no anchor &{event.anchor} above")
        data, nodes = self.anchors[event.anchor]
        self.nodes += nodes
        self.check_size(event)
        return data

    def check_size(self, event: Any) -> None:
        if self.nodes > MOST_NODES:
            _fail(
                event,
                f"the file has more than {MOST_NODES:,} keys and values, aliases expanded; write a script of that many "
                "rows in SQL, or let rows be generated",
            )

    def mapping(self) -> Mapping:
        data = Mapping()
        merged: list[Mapping] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key, line = self.key(event), event.start_mark.line + 1
            value_event = next(self.events)
            self.check_size(value_event)
            value = self.node(value_event)
            if key == "<<" and event.style in (None, ""):
                for source in value if isinstance(value, Items) else [value]:
                    if not isinstance(source, Mapping):
                        _fail(value_event, "<< needs a mapping or a list of mappings")
                    merged.append(source)
                continue
            if event.style in (None, "") and value is None and key.endswith(")") and "(" not in key:
                _fail_at_comma(event, data)
            if key in data:
                _fail(event, f"duplicate key {key!r}, first used on line {data.lines[key]}")
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
            _fail(event, "a key is missing; quote it if it is the text null")
        _fail(event, "a key must be a text")


def _fail_at_comma(event: Any, before: Mapping) -> None:
    """Fails for the second half of `total: decimal(10,2)` in braces, which YAML splits at its comma."""
    first = next(reversed(before.values()), None)
    if isinstance(first, str) and "(" in first and ")" not in first:
        _fail(event, f'quote types with a comma: "{first},{event.value}"')


def _fail(event: Any, problem: str) -> NoReturn:
    raise YamlError(event.start_mark.line + 1, problem)
