"""The definition of a table in the log itself: the optional metadata of binlog_row_metadata=FULL.

Source: mysql-server `libbinlogevents/include/rows_event.h` (Table_map_event::Optional_metadata_field_type).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from simulator.model import ColumnType, TableId
from simulator.sources.mysql.type_table import CHARSETS
from simulator.sql.catalog.definitions import Definition, Field, Key
from simulator.sql.server.mysql.binlog import Bytes, TableMap

# Kinds of optional metadata.
_SIGNEDNESS, _DEFAULT_CHARSET, _CHARSETS, _NAMES, _SETS, _ENUMS, _GEOMETRIES, _KEY, _PREFIX_KEY = range(1, 10)
_LABEL_DEFAULT_CHARSET, _LABEL_CHARSETS = 10, 11
_INTEGERS: Final = {1: "tinyint", 2: "smallint", 9: "mediumint", 3: "int", 8: "bigint"}
_NUMERIC: Final = frozenset((*_INTEGERS, 4, 5, 13, 246))
_PLAIN: Final = {4: "float", 5: "double", 10: "date", 13: "year", 245: "json"}
_FRACTIONAL: Final = {17: "timestamp", 18: "datetime", 19: "time"}
_VARCHAR: Final = (15, 253)
_STRING, _YEAR, _BIT, _DECIMAL, _BLOB, _GEOMETRY, _ENUM, _SET = 254, 13, 16, 246, 252, 255, 247, 248
_LOBS: Final = {1: "tiny", 2: "", 3: "medium", 4: "long"}
_SHAPES: Final = (
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection",
)  # fmt: skip
_BINARY: Final = 63


def definition_of(map: TableMap, charsets: Mapping[int, str], *, mariadb: bool) -> Definition | None:
    """The table of a TABLE_MAP event, without spellings and display widths; None if the log has no names of columns.
    `charsets` are names of character sets by the numbers of collations."""
    facts = dict(_facts(map))
    if _NAMES not in facts:
        return None
    count = len(map.types)
    kinds = [_real_type(code, meta) for code, meta in zip(map.types, map.meta, strict=True)]
    names = [data.decode() for data in _texts(facts[_NAMES])]
    signs = _bits_high_first(facts.get(_SIGNEDNESS, b""))
    unsigned = {i: next(signs, False) for i in range(count) if kinds[i] in _NUMERIC}
    # MariaDB lists a collation for geometries, too
    with_collation = (*_VARCHAR, _STRING, _BLOB, *((_GEOMETRY,) if mariadb else ()))
    texts = [i for i in range(count) if kinds[i] in with_collation]
    collations = dict(zip(texts, _collations(facts, _DEFAULT_CHARSET, _CHARSETS, len(texts)), strict=True))
    labelled = [i for i in range(count) if kinds[i] in (_ENUM, _SET)]
    collations |= zip(labelled, _collations(facts, _LABEL_DEFAULT_CHARSET, _LABEL_CHARSETS, len(labelled)), strict=True)
    labels = {_ENUM: _label_lists(facts.get(_ENUMS, b"")), _SET: _label_lists(facts.get(_SETS, b""))}
    shapes = _numbers(facts.get(_GEOMETRIES, b""))
    fields = []
    for i, kind in enumerate(kinds):
        charset = charsets.get(collations.get(i, _BINARY), "binary")
        if kind in labels:
            codec = CHARSETS[charset][1] if charset in CHARSETS else "utf-8"
            words = tuple(label.decode(codec, "replace") for label in next(labels[kind]))
            type = ColumnType("enum" if kind == _ENUM else "set", charset=charset, labels=words)
        elif kind == _GEOMETRY:
            type = ColumnType(_SHAPES[next(shapes, 0)])
        else:
            type = _type(kind, map.meta[i], unsigned.get(i, False), charset)
        fields.append(Field(names[i], type, map.nullable[i]))
    return Definition(TableId(map.database, map.table), tuple(fields), tuple(_keys(facts, names)))


def _facts(map: TableMap) -> Iterator[tuple[int, bytes]]:
    data = Bytes(map.metadata)
    while data.position < len(data.raw):
        kind = data.number(1)
        yield kind, data.take(data.packed())


def _real_type(code: int, meta: int) -> int:
    """The real type code: the log writes ENUM and SET as STRING."""
    return meta >> 8 if code == _STRING and meta >> 8 in (_ENUM, _SET) else code


def _type(kind: int, meta: int, unsigned: bool, charset: str) -> ColumnType:
    binary = charset == "binary"
    width = 1 if binary else CHARSETS[charset][0]
    named = None if binary else charset
    if kind in _INTEGERS:
        return ColumnType(_INTEGERS[kind], unsigned=unsigned)
    if kind in _PLAIN:
        return ColumnType(_PLAIN[kind], unsigned=unsigned and kind != _YEAR)
    if kind in _FRACTIONAL:
        return ColumnType(_FRACTIONAL[kind], meta or None)
    if kind == _BIT:
        return ColumnType("bit", 8 * (meta >> 8) + (meta & 0xFF))
    if kind == _DECIMAL:
        return ColumnType("decimal", meta >> 8, meta & 0xFF, unsigned)
    if kind == _BLOB:
        return ColumnType(_LOBS[meta] + ("blob" if binary else "text"), charset=named)
    if kind in _VARCHAR:
        return ColumnType("varbinary" if binary else "varchar", meta // width, charset=named)
    length = (meta & 0xFF) | (((meta >> 4) & 0x300) ^ 0x300)
    return ColumnType("binary" if binary else "char", length // width, charset=named)


def _keys(facts: Mapping[int, bytes], names: list[str]) -> Iterator[Key]:
    """The primary key; the log does not name others."""
    if _KEY in facts:
        yield Key("PRIMARY", "primary", tuple((names[i], None) for i in _numbers(facts[_KEY])))
    elif _PREFIX_KEY in facts:
        numbers = list(_numbers(facts[_PREFIX_KEY]))
        yield Key(
            "PRIMARY",
            "primary",
            tuple((names[i], length or None) for i, length in zip(numbers[::2], numbers[1::2], strict=True)),
        )


def _texts(raw: bytes) -> Iterator[bytes]:
    data = Bytes(raw)
    while data.position < len(raw):
        yield data.take(data.packed())


def _numbers(raw: bytes) -> Iterator[int]:
    data = Bytes(raw)
    while data.position < len(raw):
        yield data.packed()


def _label_lists(raw: bytes) -> Iterator[list[bytes]]:
    data = Bytes(raw)
    while data.position < len(raw):
        yield [data.take(data.packed()) for _ in range(data.packed())]


def _bits_high_first(raw: bytes) -> Iterator[bool]:
    for byte in raw:
        yield from (bool(byte >> bit & 1) for bit in range(7, -1, -1))


def _collations(facts: Mapping[int, bytes], default: int, listed: int, count: int) -> list[int]:
    """The collations of columns: each one's, or a default and those that differ from it."""
    if listed in facts:
        return list(_numbers(facts[listed]))
    if default not in facts:
        return [_BINARY] * count
    usual, *pairs = _numbers(facts[default])
    others = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return [others.get(i, usual) for i in range(count)]
