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

# Types of bytes in a document: those of MySQL's columns.
_BLOB, _VARBINARY, _BIT = 252, 15, 16


def as_json(session: Any, value: Any) -> Any:
    """A value as it goes into a document."""
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
    """The value of a JSON argument: a document, or a text to be read. Raises SqlError 3141, 3146."""
    if isinstance(value, Document):
        return value.value
    if not isinstance(value, str | bytes) and not session.server.mariadb:
        raise SqlError(3146, argument, function)
    try:
        mariadb = session.server.mariadb
        return documents.parse(text_of(value), duplicates=session.server.json_duplicates, spelled=mariadb)
    except ValueError as error:
        raise SqlError(3141, argument, function, error) from None


def path(value: Any, *, wildcards: bool = False) -> list[Leg]:
    """Raises SqlError 3143, 3149."""
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
    made: dict[str, Any] = {}
    for key, value in zip(values[::2], values[1::2], strict=True):
        if key is None:
            raise SqlError(3158)
        name = text_of(key)
        if name not in made or session.server.json_duplicates == "last":
            made[name] = as_json(session, value)
    return session.as_document(made)


def json_array(session: Any, *values: Any) -> Any:
    return session.as_document([as_json(session, value) for value in values])


def json_change(name: str, *, insert: bool, replace: bool) -> Function:
    """JSON_SET, JSON_INSERT and JSON_REPLACE."""

    def change(session: Any, value: Any, *rest: Any) -> Any:
        if value is None:
            return None
        made = document(session, value, name)
        for where, new in zip(rest[::2], rest[1::2], strict=False):
            if where is None:
                return None
            made = json_paths.changed(made, path(where), as_json(session, new), insert=insert, replace=replace)
        return session.as_document(made)

    return change


def json_array_append(session: Any, value: Any, *rest: Any) -> Any:
    if value is None:
        return None
    made = document(session, value, "json_array_append")
    for where, new in zip(rest[::2], rest[1::2], strict=False):
        if where is None:
            return None
        legs = path(where)
        old = json_paths.find(made, legs)
        if old is MISSING and session.server.mariadb:
            return None
        if old is not MISSING:
            items = [*(old if isinstance(old, list) else [old]), as_json(session, new)]
            made = json_paths.changed(made, legs, items, insert=False, replace=True)
    return session.as_document(made)


def json_array_insert(session: Any, value: Any, *rest: Any) -> Any:
    if value is None:
        return None
    made = document(session, value, "json_array_insert")
    for where, new in zip(rest[::2], rest[1::2], strict=False):
        if where is None:
            return None
        legs = path(where)
        if not legs or not isinstance(legs[-1], Cell):
            raise SqlError(3165)
        made = json_paths.put_before(made, legs, as_json(session, new))
    return session.as_document(made)


def json_remove(session: Any, value: Any, *paths: Any) -> Any:
    made = document(session, value, "json_remove")
    for where in paths:
        legs = path(where)
        if not legs:
            raise SqlError(3153)
        made = json_paths.removed(made, legs)
    return session.as_document(made)


def json_extract(session: Any, value: Any, *paths: Any) -> Any:
    inner = document(session, value, "json_extract")
    legs = [path(where, wildcards=True) for where in paths]
    found = [item for each in legs for item in json_paths.find_all(inner, each)]
    if len(paths) == 1 and not json_paths.has_wildcard(legs[0]):
        return session.as_document(found[0]) if found else None
    return session.as_document(found) if found else None


def json_unquote(session: Any, value: Any) -> Any:
    if isinstance(value, Document):
        return value.value if isinstance(value.value, str) else _bare(value)
    text = text_of(value)
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text_of(document(session, text, "json_unquote"))
    return text


def _bare(value: Document) -> str:
    """Its text; that of a date without the quotes."""
    return value.text().strip('"') if isinstance(value.value, Temporal | bytes) else value.text()


def json_value(session: Any, value: Any, where: Any) -> Any:
    found = json_paths.find(document(session, value, "json_value"), path(where))
    if found is MISSING or found is None or (session.server.mariadb and isinstance(found, list | dict)):
        return None
    return json_unquote(session, session.as_document(found))


def json_contains(session: Any, target: Any, candidate: Any, where: Any = MISSING) -> Any:
    whole_target = document(session, target, "json_contains", 1)
    wanted = document(session, candidate, "json_contains", 2)
    if where is not MISSING:
        whole_target = json_paths.find(whole_target, path(where))
        if whole_target is MISSING:
            return None
    return int(_contains(whole_target, wanted))


def _contains(target: Any, wanted: Any) -> bool:
    if isinstance(target, list):
        if isinstance(wanted, list):
            return all(_contains(target, one) for one in wanted)
        return any(_contains(one, wanted) for one in target)
    if isinstance(target, dict) and isinstance(wanted, dict):
        return all(key in target and _contains(target[key], value) for key, value in wanted.items())
    return json_equal(target, wanted)


def json_equal(a: Any, b: Any) -> bool:
    """Numbers are equal whatever their kind; a truth value is no number."""
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


def json_overlaps(session: Any, a: Any, b: Any) -> int:
    first, second = document(session, a, "json_overlaps", 1), document(session, b, "json_overlaps", 2)
    if isinstance(first, dict) and isinstance(second, dict):
        return int(any(key in second and json_equal(first[key], second[key]) for key in first))
    lists = [one if isinstance(one, list) else [one] for one in (first, second)]
    return int(any(json_equal(x, y) for x in lists[0] for y in lists[1]))


def member_of(session: Any, value: Any, array: Any) -> int:
    items = document(session, array, "member of", 2)
    wanted = as_json(session, value)
    return int(any(json_equal(wanted, one) for one in (items if isinstance(items, list) else [items])))


def json_contains_path(session: Any, value: Any, way: Any, *paths: Any) -> int:
    inner = document(session, value, "json_contains_path")
    hits = [json_paths.find(inner, path(where, wildcards=True)) is not MISSING for where in paths]
    return int(all(hits) if _one_or_all(way, "json_contains_path") == "all" else any(hits))


def _one_or_all(way: Any, function: str) -> str:
    word = text_of(way).lower()
    if word not in ("one", "all"):
        raise SqlError(3154, function)
    return word


def _at(session: Any, value: Any, where: Any, function: str) -> Any:
    inner = document(session, value, function)
    return inner if where is MISSING else json_paths.find(inner, path(where))


def json_length(session: Any, value: Any, where: Any = MISSING) -> Any:
    inner = _at(session, value, where, "json_length")
    return None if inner is MISSING else len(inner) if isinstance(inner, list | dict) else 1


def json_keys(session: Any, value: Any, where: Any = MISSING) -> Any:
    inner = _at(session, value, where, "json_keys")
    if not isinstance(inner, dict):
        return None
    keys = list(inner) if session.server.mariadb else sorted(inner, key=documents.key_order)
    return session.as_document(keys)


def json_depth(session: Any, value: Any) -> int:
    def depth(inner: Any) -> int:
        items = inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ()
        return 1 + max(map(depth, items), default=0)

    return depth(document(session, value, "json_depth"))


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


def json_search(session: Any, value: Any, way: Any, wanted: Any, escape: Any = None, *paths: Any) -> Any:
    """The paths of strings that a LIKE pattern matches."""
    if value is None or wanted is None:
        return None
    inner, one = document(session, value, "json_search"), _one_or_all(way, "json_search") == "one"
    if paths:
        raise Unsupported("JSON_SEARCH with paths")
    found: list[str] = []

    def search(item: Any, legs: tuple[Leg, ...]) -> None:
        if isinstance(item, str) and like(item, wanted, text_of(escape) if escape else "\\", "utf8mb4_bin"):
            found.append(json_paths.text_of_legs(legs))
        elif isinstance(item, list):
            for place, each in enumerate(item):
                search(each, (*legs, Cell(place)))
        elif isinstance(item, dict):
            for key in sorted(item, key=documents.key_order):
                search(item[key], (*legs, key))

    search(inner, ())
    if not found:
        return None
    return session.as_document(found[0] if one or len(found) == 1 else found)


def json_merge_preserve(session: Any, *values: Any) -> Any:
    def merged(a: Any, b: Any) -> Any:
        if isinstance(a, dict) and isinstance(b, dict):
            return a | {key: merged(a[key], value) if key in a else value for key, value in b.items()}
        return [*(a if isinstance(a, list) else [a]), *(b if isinstance(b, list) else [b])]

    made, *rest = (document(session, value, "json_merge_preserve", n) for n, value in enumerate(values, 1))
    for other in rest:
        made = merged(made, other)
    return session.as_document(made)


def json_merge_patch(session: Any, *values: Any) -> Any:
    def patched(a: Any, b: Any) -> Any:
        if not isinstance(b, dict):
            return b
        made = dict(a) if isinstance(a, dict) else {}
        for key, value in b.items():
            if value is None:
                made.pop(key, None)
            else:
                made[key] = patched(made.get(key), value)
        return made

    made, *rest = (document(session, value, "json_merge_patch", n) for n, value in enumerate(values, 1))
    for other in rest:
        made = patched(made, other)
    return session.as_document(made)


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
    "json_depth": strict(json_depth),
    "json_extract": strict(json_extract),
    "json_insert": json_change("json_insert", insert=True, replace=False),
    "json_keys": strict(json_keys),
    "json_length": strict(json_length),
    "json_merge": strict(json_merge_preserve),
    "json_merge_patch": strict(json_merge_patch),
    "json_merge_preserve": strict(json_merge_preserve),
    "json_object": json_object,
    "json_overlaps": strict(json_overlaps),
    "json_quote": strict(json_quote),
    "json_remove": strict(json_remove),
    "json_replace": json_change("json_replace", insert=False, replace=True),
    "json_search": json_search,
    "json_set": json_change("json_set", insert=True, replace=True),
    "json_type": strict(json_type),
    "json_unquote": strict(json_unquote),
    "json_valid": strict(json_valid),
    "json_value": strict(json_value),
    "member of": strict(member_of),
}
