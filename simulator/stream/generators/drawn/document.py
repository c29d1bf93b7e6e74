"""`document`: JSON of a fixed shape, whose leaves are literals or values of their own.

The text is the database's own. MySQL sorts keys by length in bytes, then by bytes, and prints `", "` and `": "`; other
systems keep the scenario's order, or print no blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pyarrow as pa

from simulator.model import Column
from simulator.sources.source import Source
from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import without_pool
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.values import Values, is_leaf
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.scenario import Field
from simulator.text.template import join
from simulator.values.pools import Pool

# A leaf returns a column of finished JSON text for states of rows.
Leaf = Callable[[State], pa.Array]
Shape = dict[str, Any] | list[Any]


def quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def literal(text: str | None) -> str:
    """A literal as JSON: null, true, false and numbers as they are, all else as a string."""
    if text is None:
        return "null"
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return quoted(text)
    return text if value is None or isinstance(value, bool | int | float) else quoted(text)


def pieces(shape: Any, leaf: Callable[[dict[str, Any]], Leaf | None], style: str = "sorted") -> list[str | Leaf]:
    """The document as constants and leaves in output order. `style`: `sorted` keys, keys as `written`, or `compact` (as
    written, no blanks).
    """
    written_pieces: list[str | Leaf] = []
    comma, colon = (",", ":") if style == "compact" else (", ", ": ")

    def write(node: Any) -> None:
        if isinstance(node, dict):
            drawn = leaf(node)
            if drawn is not None:
                written_pieces.append(drawn)
                return
            written_pieces.append("{")
            keys = sorted(node, key=lambda k: (len(k.encode()), k.encode())) if style == "sorted" else list(node)
            for i, key in enumerate(keys):
                written_pieces.append((comma if i else "") + quoted(key) + colon)
                write(node[key])
            written_pieces.append("}")
        elif isinstance(node, list):
            written_pieces.append("[")
            for i, item in enumerate(node):
                if i:
                    written_pieces.append(comma)
                write(item)
            written_pieces.append("]")
        else:
            written_pieces.append(literal(node))

    write(shape)
    return written_pieces


class Documents(Draws):
    def __init__(self, parts: list[str | Leaf], *, always: bool, leaf_bytes: int) -> None:
        self.parts, self.always = parts, always
        self.most_bytes = leaf_bytes + sum(len(part) for part in parts if isinstance(part, str))

    def array(self, state: State) -> pa.Array:
        columns = [part if isinstance(part, str) else part(state) for part in self.parts]
        return join(columns, len(state))


def leaves(shape: Any, path: Key = ()) -> Iterator[tuple[Key, dict[str, Any]]]:
    """The leaves that have a generator, with their paths."""
    if isinstance(shape, list):
        for i, item in enumerate(shape):
            yield from leaves(item, (*path, i))
    elif isinstance(shape, dict) and is_leaf(shape):
        yield path, shape
    elif isinstance(shape, dict):
        for key, value in shape.items():
            yield from leaves(value, (*path, key))


def leaf_field(field: Field, values: Values, number: int, source: Source) -> Field:
    """A leaf as a column of its own, with the type that its literals suggest."""
    texts: list[str] = []
    if values.kind in ("range", "choices"):
        texts = [text for text in values.arguments if text is not None]
    if values.kind in ("version", "row") or (texts and all(_is_whole(text) for text in texts)):
        type = "int64"
    elif texts and all(_is_number(text) for text in texts):
        type = f"decimal(18,{max(len(text.partition('.')[2]) for text in texts)})"
    elif values.kind in ("commit_time", "statement_time"):
        type = "timestamp(3)"
    else:
        type = "text" if values.kind == "text" else "string(4000)"
    column = Column(f"{field.name}#{number}", source.from_portable(type))
    return Field(field.table, column, field.spec, field.path)


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def check(check: ColumnCheck, shape: Shape) -> None:
    # rejects the document if the type takes objects only, or arrays only
    check.literals(["[]" if isinstance(shape, list) else "{}"])
    for path, node in leaves(shape):
        values = check.read(node, *path)
        if not values.generator.leaf:
            check.fail(f"{values.kind} values cannot stand in a document", *path)
        check.inner(leaf_field(check.field, values, 0, check.source), values, *path)


def draw(target: Target, shape: Shape) -> Draws:
    always = False
    count, leaf_bytes = 0, 0

    def leaf(node: dict[str, Any]) -> Leaf | None:
        nonlocal always, count, leaf_bytes
        if not is_leaf(node):
            return None
        values = Values.read(node)
        field = leaf_field(target.field, values, count, target.source)
        count += 1
        drawn = target.columns.draws(field, values, target.history)
        always, leaf_bytes = always or drawn.always, leaf_bytes + drawn.most_bytes
        return lambda state: target.source.leaf_text(without_pool(drawn.array(state)), field.type)

    parts = pieces(shape, leaf, target.source.document_style(target.field.type))
    return Documents(parts, always=always, leaf_bytes=leaf_bytes)


def pools(shape: Shape) -> Iterator[Pool]:
    for _, node in leaves(shape):
        values = Values.read(node)
        yield from values.generator.pools(values.arguments)


GENERATOR = Generator(
    name="document",
    doc="a JSON object or array of this shape; each leaf is a literal, or a mapping with one generator's name",
    example="{type: json, values: {document: {kind: fixed, score: {range: [1, 9.5]}, tags: [{faker: word}]}}}",
    arguments=Shape,
    fits=("text", "JSON"),
    check=check,
    draw=draw,
    pools=pools,
)
