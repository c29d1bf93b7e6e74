"""Data of a YAML file with line numbers: mappings and lists, and a look-up from a key to its line."""

from __future__ import annotations

from typing import Any

Key = tuple[str | int, ...]  # names of keys and indexes of lists, from the top of the file


class Mapping(dict[str, Any]):
    """A mapping that knows the line of each of its keys."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class Items(list[Any]):
    """A list that knows the line of each of its items."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def dotted(path: Key) -> str:
    """`("script", 3, "ddl")` is `script[3].ddl`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def has(data: Any, part: str | int) -> bool:
    """Whether the data has this key or index."""
    if isinstance(data, Items):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, Mapping) and part in data


def line_of(data: Any, path: Key) -> int | None:
    """The line of the last part of a path that is in the file."""
    line = None
    for part in path:
        if has(data, part):
            line, data = data.lines[part], data[part]
        elif part != 0:
            break  # index 0 may be a single item without its list
    return line
