"""Functions on JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.arguments import Function, strict
from simulator.sql.values import documents, json_paths
from simulator.sql.values.comparison import like
from simulator.sql.values.documents import Document, JsonNumber, Opaque
from simulator.sql.values.json_paths import MISSING, Cell, Leg
from simulator.sql.values.kinds import Bits, Blob, JsonText, Raw, Shape, number_of, text_of
from simulator.sql.values.temporal import Temporal

# Type codes of bytes in a document: those of MySQL's columns.
_BLOB, _VARBINARY, _BIT = 252, 15, 16


def as_json(session: Any, value: Any) -> Any:
    """A value as a member of a document."""
    if isinstance(value, Document):
        return value.value
    if isinstance(value, JsonText):
        return documents.parse(value, duplicates="last", spelled=True)
    if session.server.mariadb and isinstance(value, Bits):
        raise Unsupported("a BIT value in a JSON document of MariaDB")
    if session.server.mariadb:
        return JsonNumber(text_of(value)) if isinstance(value, float | Decimal) else value
    if isinstance(value, Bits):
        return Opaque(value.raw(), _BIT)
    if isinstance(value, Raw):
        return Opaque(value, _BIT if session.server.id == "mysql-5.7" else _VARBINARY)
    if isinstance(value, bytes) and not isinstance(value, Shape):
        return Opaque(value, _BLOB if isinstance(value, Blob) else _VARBINARY)
    return value


def document(session: Any, value: Any, function: str, argument: int = 1) -> Any:
    """The value of a JSON argument: a document, or the parsed text. Raises SqlError 3141, 3146."""
    if isinstance(value, Document):
        return value.value
    if not isinstance(value, str | bytes) and not session.server.mariadb:
        raise SqlError(3146, argument, function)
    try:
        mariadb = session.server.mariadb
        return documents.parse(text_of(value), duplicates=session.server.json_duplicates, spelled=mariadb)
    except ValueError as error:
        raise SqlError(3141, argument, function, error) from None


def parsed_path(value: Any, *, wildcards: bool = False) -> list[Leg]:
    """The legs of a path argument. Raises SqlError 3143, 3149."""
    try:
        legs = json_paths.legs_of(text_of(value))
    except ValueError:
        raise SqlError(3143) from None
    if not wildcards and json_paths.has_wildcard(legs):
        raise SqlError(3149)
    return legs


def json_object(session: Any, *values: Any) -> Any:
    if len(values) % 2:
        raise SqlError(1582, "json_object")
    result: dict[str, Any] = {}
    for key, value in zip(values[::2], values[1::2], strict=True):
        if key is None:
            raise SqlError(3158)
        name = text_of(key)
        if name not in result or session.server.json_duplicates == "last":
            result[name] = as_json(session, value)
    return session.as_document(result)


def json_array(session: Any, *values: Any) -> Any:
    return session.as_document([as_json(session, value) for value in values])


def json_change(name: str, *, insert: bool, replace: bool) -> Function:
    """JSON_SET, JSON_INSERT and JSON_REPLACE."""

    def change(session: Any, value: Any, *paths_and_values: Any) -> Any:
        if value is None:
            return None
        result = document(session, value, name)
        for path, new in zip(paths_and_values[::2], paths_and_values[1::2], strict=False):
            if path is None:
                return None
            result = json_paths.changed(
                result, parsed_path(path), as_json(session, new), insert=insert, replace=replace
            )
        return session.as_document(result)

    return change


def json_array_append(session: Any, value: Any, *paths_and_values: Any) -> Any:
    if value is None:
        return None
    result = document(session, value, "json_array_append")
    for path, new in zip(paths_and_values[::2], paths_and_values[1::2], strict=False):
        if path is None:
            return None
        legs = parsed_path(path)
        old = json_paths.find(result, legs)
        if old is MISSING and session.server.mariadb:
            return None
        if old is not MISSING:
            items = [*(old if isinstance(old, list) else [old]), as_json(session, new)]
            result = json_paths.changed(result, legs, items, insert=False, replace=True)
    return session.as_document(result)


def json_array_insert(session: Any, value: Any, *paths_and_values: Any) -> Any:
    if value is None:
        return None
    result = document(session, value, "json_array_insert")
    for path, new in zip(paths_and_values[::2], paths_and_values[1::2], strict=False):
        if path is None:
            return None
        legs = parsed_path(path)
        if not legs or not isinstance(legs[-1], Cell):
            raise SqlError(3165)
        result = json_paths.put_before(result, legs, as_json(session, new))
    return session.as_document(result)


def json_remove(session: Any, value: Any, *paths: Any) -> Any:
    result = document(session, value, "json_remove")
    for path in paths:
        legs = parsed_path(path)
        if not legs:
            raise SqlError(3153)
        result = json_paths.removed(result, legs)
    return session.as_document(result)


def json_extract(session: Any, value: Any, *paths: Any) -> Any:
    inner = document(session, value, "json_extract")
    parsed_paths = [parsed_path(path, wildcards=True) for path in paths]
    matches = [item for parsed in parsed_paths for item in json_paths.find_all(inner, parsed)]
    if len(paths) == 1 and not json_paths.has_wildcard(parsed_paths[0]):
        return session.as_document(matches[0]) if matches else None
    return session.as_document(matches) if matches else None


def json_unquote(session: Any, value: Any) -> Any:
    if isinstance(value, Document):
        return value.value if isinstance(value.value, str) else _unquoted_text(value)
    text = text_of(value)
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text_of(document(session, text, "json_unquote"))
    return text


def _unquoted_text(value: Document) -> str:
    """The text of a document; dates without quotes."""
    return value.text().strip('"') if isinstance(value.value, Temporal | bytes) else value.text()


def json_contains(session: Any, target: Any, candidate: Any, path: Any = MISSING) -> Any:
    target_value = document(session, target, "json_contains", 1)
    candidate_value = document(session, candidate, "json_contains", 2)
    if path is not MISSING:
        target_value = json_paths.find(target_value, parsed_path(path))
        if target_value is MISSING:
            return None
    return int(_contains(target_value, candidate_value))


def _contains(target: Any, candidate: Any) -> bool:
    if isinstance(target, list):
        if isinstance(candidate, list):
            return all(_contains(target, element) for element in candidate)
        return any(_contains(element, candidate) for element in target)
    if isinstance(target, dict) and isinstance(candidate, dict):
        return all(key in target and _contains(target[key], value) for key, value in candidate.items())
    return json_equal(target, candidate)


def json_equal(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: numbers of different kinds may be; a boolean is no number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    a, b = (Decimal(x) if isinstance(x, JsonNumber) else x for x in (a, b))
    numbers = int | float | Decimal
    if isinstance(a, numbers) and isinstance(b, numbers):
        return bool(a == b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(json_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(json_equal(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


def member_of(session: Any, value: Any, array: Any) -> int:
    items = document(session, array, "member of", 2)
    member = as_json(session, value)
    return int(any(json_equal(member, item) for item in (items if isinstance(items, list) else [items])))


def json_contains_path(session: Any, value: Any, way: Any, *paths: Any) -> int:
    inner = document(session, value, "json_contains_path")
    hits = [json_paths.find(inner, parsed_path(path, wildcards=True)) is not MISSING for path in paths]
    return int(all(hits) if _one_or_all(way, "json_contains_path") == "all" else any(hits))


def _one_or_all(way: Any, function: str) -> str:
    word = text_of(way).lower()
    if word not in ("one", "all"):
        raise SqlError(3154, function)
    return word


def json_length(session: Any, value: Any) -> int:
    inner = document(session, value, "json_length")
    return len(inner) if isinstance(inner, list | dict) else 1


def json_keys(session: Any, value: Any) -> Any:
    inner = document(session, value, "json_keys")
    if not isinstance(inner, dict):
        return None
    keys = list(inner) if session.server.mariadb else sorted(inner, key=documents.key_order)
    return session.as_document(keys)


def json_type(session: Any, value: Any) -> str:
    inner = document(session, value, "json_type")
    if isinstance(inner, Temporal):
        return inner.kind.upper()
    if isinstance(inner, JsonNumber):
        return "INTEGER" if inner.lstrip("-").isdecimal() else "DOUBLE"
    names: Sequence[tuple[Any, str]] = (
        (bool, "BOOLEAN"), (int, "INTEGER" if -(1 << 63) <= number_of(inner) < 1 << 63 else "UNSIGNED INTEGER"),
        (float, "DOUBLE"), (Decimal, "DECIMAL"), (str, "STRING"), (list, "ARRAY"), (dict, "OBJECT"), (bytes, "BLOB"),
    )  # fmt: skip
    return next((name for kind, name in names if isinstance(inner, kind)), "NULL")


def json_valid(session: Any, value: Any) -> int:
    if isinstance(value, Document):
        return 1
    if not isinstance(value, str):
        return int(session.server.mariadb and isinstance(value, int | float | Decimal))
    try:
        documents.parse(value, duplicates="last")
    except ValueError:
        return 0
    return 1


def json_search(session: Any, value: Any, way: Any, pattern: Any, escape: Any = None, *paths: Any) -> Any:
    """The paths of strings that match a LIKE pattern."""
    if value is None or pattern is None:
        return None
    inner, first_only = document(session, value, "json_search"), _one_or_all(way, "json_search") == "one"
    if paths:
        raise Unsupported("JSON_SEARCH with paths")
    matching_paths: list[str] = []

    def search(item: Any, legs: tuple[Leg, ...]) -> None:
        if isinstance(item, str) and like(item, pattern, text_of(escape) if escape else "\\", "utf8mb4_bin"):
            matching_paths.append(json_paths.text_of_legs(legs))
        elif isinstance(item, list):
            for index, element in enumerate(item):
                search(element, (*legs, Cell(index)))
        elif isinstance(item, dict):
            for key in sorted(item, key=documents.key_order):
                search(item[key], (*legs, key))

    search(inner, ())
    if not matching_paths:
        return None
    return session.as_document(matching_paths[0] if first_only or len(matching_paths) == 1 else matching_paths)


def json_merge_preserve(session: Any, *values: Any) -> Any:
    def merged(a: Any, b: Any) -> Any:
        if isinstance(a, dict) and isinstance(b, dict):
            return a | {key: merged(a[key], value) if key in a else value for key, value in b.items()}
        return [*(a if isinstance(a, list) else [a]), *(b if isinstance(b, list) else [b])]

    result, *others = (document(session, value, "json_merge_preserve", n) for n, value in enumerate(values, 1))
    for other in others:
        result = merged(result, other)
    return session.as_document(result)


def json_merge_patch(session: Any, *values: Any) -> Any:
    def patched(a: Any, b: Any) -> Any:
        if not isinstance(b, dict):
            return b
        result = dict(a) if isinstance(a, dict) else {}
        for key, value in b.items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = patched(result.get(key), value)
        return result

    result, *others = (document(session, value, "json_merge_patch", n) for n, value in enumerate(values, 1))
    for other in others:
        result = patched(result, other)
    return session.as_document(result)


def json_quote(session: Any, value: Any) -> str:
    if not isinstance(value, str):
        raise SqlError(3064)
    return documents.text_of(text_of(value))


JSON_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "json_array": json_array,
    "json_array_append": json_array_append,
    "json_array_insert": json_array_insert,
    "json_contains": strict(json_contains),
    "json_contains_path": strict(json_contains_path),
    "json_extract": strict(json_extract),
    "json_insert": json_change("json_insert", insert=True, replace=False),
    "json_keys": strict(json_keys),
    "json_length": strict(json_length),
    "json_merge_patch": strict(json_merge_patch),
    "json_merge_preserve": strict(json_merge_preserve),
    "json_object": json_object,
    "json_quote": strict(json_quote),
    "json_remove": strict(json_remove),
    "json_replace": json_change("json_replace", insert=False, replace=True),
    "json_search": json_search,
    "json_set": json_change("json_set", insert=True, replace=True),
    "json_type": strict(json_type),
    "json_unquote": strict(json_unquote),
    "json_valid": strict(json_valid),
    "member of": strict(member_of),
}
