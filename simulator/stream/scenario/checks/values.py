"""Values of one column: whether they fit its type. What involves other columns is in `entities.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources import Source
from simulator.stream.scenario.checks.lifecycles import Home
from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded, document_leaf
from simulator.stream.scenario.scenario import Field
from simulator.stream.scenario.tables import unknown
from simulator.values.texts import ALPHABETS

# Kinds of values that want a certain kind of carrier; all others take any.
NUMBERS: Final = ("whole numbers", "decimals")
_TIMES: Final = ("dates", "times", "times of day")
_FITS: Final[Mapping[str, tuple[str, ...]]] = {
    "sequence": (*NUMBERS, "text", "ids"),
    "row": (*NUMBERS, "text"),
    "version": (*NUMBERS, "text"),
    "commit_time": (*_TIMES, *NUMBERS),
    "range": (*NUMBERS, "floats", *_TIMES),
    "uuid": ("text", "UUIDs", "ids"),
    "pattern": ("text",),
    "text": ("text",),
    "bytes": ("bytes",),
    "document": ("text", "JSON"),
    "derived": (*NUMBERS, "text"),
}
# Texts longer than this are not tried out.
LONGEST: Final = 100_000
# A leaf of a document: what needs no place of its own in the row.
_LEAVES: Final = ("constant", "range", "choices", "faker", "pattern", "text", "uuid", "version", "row", "commit_time")


def carrier(type: ColumnType, source: Source) -> str:
    """What a column holds, in a word for messages."""
    if type.labels:
        return "labels"
    family = source.types.family(type)
    if family in ("json", "document"):
        return "JSON"
    if family in ("objectid", "other", "boolean"):
        return {"objectid": "ids", "boolean": "booleans"}.get(family, f"{type.name} values")
    arrow = source.generated(type)
    if pa.types.is_string(arrow) and family != "text":
        return {"uuid": "UUIDs"}.get(family, family)
    for word, test in (
        ("whole numbers", pa.types.is_integer),
        ("decimals", pa.types.is_decimal),
        ("floats", pa.types.is_floating),
        ("text", pa.types.is_string),
        ("dates", pa.types.is_date),
        ("times", pa.types.is_timestamp),
        ("times of day", pa.types.is_duration),
    ):
        if test(arrow):
            return word
    return "bytes"


def literals(
    loaded: Loaded, path: Key, texts: Sequence[str | None], type: ColumnType, source: Source, *, each: bool = False
) -> pa.Array:
    """Literals of a type; a wrong one is told at `path`, or at its own place under it if `each`."""
    try:
        return source.parse_values(list(texts), type)
    except (ValueError, UsageError) as error:
        problem = str(error)
    for i, text in enumerate(texts):
        try:
            source.parse_values([text], type)
        except (ValueError, UsageError) as error:
            loaded.fail((*path, i) if each else path, str(error))
    loaded.fail(path, problem)


def check_values(loaded: Loaded, field: Field, home: Home, source: Source) -> None:
    """Raise ScenarioError if a column's values do not fit its type."""
    column, spec = field.column, field.spec
    values, kind = spec.values, spec.values.kind
    path: Key = (*field.path, "values", kind)
    if spec.nulls and not column.nullable:
        loaded.fail((*field.path, "nulls"), f"{column.name} cannot be null")
    holds = carrier(column.type, source)
    if kind in _FITS and holds not in _FITS[kind]:
        loaded.fail(path, f"{kind} makes no values for {column.type.name}, which holds {holds}")
    if kind in _CHECKS:
        _CHECKS[kind](loaded, path, field, values, source)
    elif kind == "states":
        _states(loaded, path, field, home, source)


def _given(loaded: Loaded, path: Key, field: Field, texts: Sequence[str | None], source: Source) -> pa.Array:
    if None in texts and not field.column.nullable:
        loaded.fail(path, f"{field.column.name} cannot be null")
    array = literals(loaded, path, texts, field.type, source)
    if array.null_count and not field.column.nullable:
        loaded.fail(path, f"{field.column.name} cannot be null, as an empty text is in {source.title}")
    return array


def _constant(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    _given(loaded, path, field, [values.constant], source)


def _choices(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    if not values.choices:
        loaded.fail(path, "there is nothing to choose from")
    weighted = isinstance(values.choices, dict)
    for i, text in enumerate(values.choices):
        _given(loaded, (*path, str(text) if weighted else i), field, [text], source)


def _range(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    assert values.range is not None
    ends = literals(loaded, path, values.range, field.type, source, each=True)
    made = source.generated(field.type)
    low: Any
    high: Any
    if pa.types.is_decimal(made):
        low, high = map(Decimal, ends.to_pylist())
    else:
        low, high = ends.to_pylist() if pa.types.is_floating(made) else source.microseconds(ends)
    if low > high:
        loaded.fail(path, f"{values.range[0]!r} is above {values.range[1]!r}")


def _sequence(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    assert values.sequence is not None
    literals(loaded, path, [str(values.sequence.start)], field.type, source)


def _room(loaded: Loaded, path: Key, field: Field, most: int) -> None:
    room = field.type.length
    if room is not None and most > room:
        loaded.fail(path, f"{most} characters do not fit into {field.type.name}({room})")


def _text(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    assert values.text is not None
    _room(loaded, (*path, "length"), field, values.text.length[1])
    alphabet = values.text.alphabet
    if not alphabet:
        loaded.fail((*path, "alphabet"), "there are no characters in it")
    characters = dict.fromkeys(ALPHABETS.get(alphabet, alphabet))
    literals(loaded, (*path, "alphabet"), list(characters), field.type, source)
    low, high = values.text.length
    # the longest text where bytes are counted, and the shortest where it may be null
    widest = max(characters, key=lambda character: len(character.encode()))
    ends = [widest * min(high, LONGEST), *([""] if low == 0 else [])]
    _given(loaded, (*path, "length"), field, ends, source)


def _bytes(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    assert values.bytes is not None
    low, high = values.bytes.length
    _room(loaded, (*path, "length"), field, high)
    if low == 0:
        _given(loaded, (*path, "length"), field, [""], source)


def _uuid(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    _room(loaded, path, field, 36)


def _pattern(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    if not values.pattern:
        loaded.fail(path, "the pattern is empty")
    _room(loaded, path, field, len(values.pattern))


def _commit_time(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    """The first commit must be a value of the type: a MySQL TIMESTAMP ends in 2038."""
    if carrier(field.type, source) == "times":
        start = datetime.fromtimestamp(loaded.spec.start // 1000, UTC)
        literals(loaded, path, [start.strftime("%Y-%m-%d %H:%M:%S")], field.type, source)


def _document(loaded: Loaded, path: Key, field: Field, values: Values, source: Source) -> None:
    def walk(node: Any, path: Key) -> None:
        if isinstance(node, list):
            for i, item in enumerate(node):
                walk(item, (*path, i))
        elif isinstance(node, dict):
            try:
                leaf = document_leaf(node)
            except ValueError as error:
                loaded.fail(path, str(error))
            if leaf is None:
                for key, value in node.items():
                    walk(value, (*path, key))
            else:
                _leaf(loaded, (*path, leaf.kind), leaf)

    # an object or an array, if the type takes only one of them
    literals(loaded, path, ["[]" if isinstance(values.document, list) else "{}"], field.type, source)
    walk(values.document, path)


def _leaf(loaded: Loaded, path: Key, values: Values) -> None:
    if values.kind not in _LEAVES:
        loaded.fail(path, f"{values.kind} has no place in a document; there may be {', '.join(_LEAVES)}")
    if values.kind == "choices" and not values.choices:
        loaded.fail(path, "there is nothing to choose from")
    if values.range is not None:
        try:
            low, high = (float(text) for text in values.range)
        except ValueError:
            loaded.fail(path, "a range in a document wants two numbers")
        if low > high:
            loaded.fail(path, f"{values.range[0]!r} is above {values.range[1]!r}")


def _states(loaded: Loaded, path: Key, field: Field, home: Home, source: Source) -> None:
    states = field.spec.values.states or {}
    if home.spec is None:
        loaded.fail(path, f"{field.table} has no steps: states belong to a table in a lifecycle")
    steps = [step.name for step in home.spec.steps]
    setting = {step for step, _, columns in home.updates if field.name in columns}
    for i, (step, text) in enumerate(states.items()):
        at = (*path, step)
        if step not in steps:
            unknown(loaded, at, "step", step, steps)
        if i == 0 and step != home.insert_step:
            loaded.fail(at, f"states begin with the step that inserts the row, {home.insert_step!r}")
        if i and step not in setting:
            loaded.fail(at, f"step {step!r} has no update of {field.table} that sets {field.name}")
        _given(loaded, at, field, [text], source)
    if not states:
        loaded.fail(path, f"states begin with the step that inserts the row, {home.insert_step!r}")


_CHECKS: Final = {
    "constant": _constant,
    "choices": _choices,
    "range": _range,
    "sequence": _sequence,
    "text": _text,
    "bytes": _bytes,
    "uuid": _uuid,
    "pattern": _pattern,
    "commit_time": _commit_time,
    "document": _document,
}
