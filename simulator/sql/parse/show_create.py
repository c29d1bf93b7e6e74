"""The text of a table as SHOW CREATE TABLE prints it.

A definition does not know what partitions a table has, or engines beyond whether they are transactional; expressions
are printed as they were typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from simulator.model import TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sql.catalog.definitions import Definition, Field, ForeignKey, Key
from simulator.sql.catalog.servers import Server, default_collation
from simulator.sql.parse.printed_defaults import NOW, printed_default
from simulator.sql.parse.words import quoted

_KEYS: Final = {"primary": "PRIMARY KEY", "unique": "UNIQUE KEY", "index": "KEY", "fulltext": "FULLTEXT KEY"}


def show_create(definition: Definition, server: Server, next_auto: int = 1) -> str:
    """The statement, on several lines."""
    lines = [f"{quoted(field.name)} {_column(field, definition, server)}" for field in definition.fields]
    lines += [_key(key) for key in _sorted_keys(definition) if all(key.names)]
    lines += [_foreign(link, definition.id) for link in definition.foreign]
    lines += [f"CONSTRAINT {quoted(name)} CHECK ({text})" for name, text in definition.checks]
    body = ",\n".join(f"  {line}" for line in lines)
    return f"CREATE TABLE {quoted(definition.id.name)} (\n{body}\n) {' '.join(_options(definition, server, next_auto))}"


def selected_column(field: Field, definition: Definition, server: Server) -> str:
    """The column that a server derives from a selected one; unusual character sets and collations are written out."""
    default = "0" if field.auto else field.default
    field = replace(
        field,
        auto=False,
        default=default,
        generated=None,
        invisible=False,
        default_dropped=field.default_dropped and not server.mariadb,
    )
    text = _column(field, definition, server)
    type = mysql_types.type_text(field.type, style=server.type_style)
    if server.json_is_text and field.type.name == "json":
        if field.collation not in ("", "utf8mb4_bin"):  # converted by a later ALTER TABLE
            return f"longtext{text.removeprefix(type)}"
        return f"longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin{text.removeprefix(type)}"
    usual = default_collation(field.type.charset, server) if field.type.charset else ""
    is_default_collation = field.collation in ("", usual)
    if field.type.charset and (field.type.charset != definition.charset or not is_default_collation):
        collation = (
            ""
            if is_default_collation and not (server.modern or server.mariadb)
            else f" COLLATE {field.collation or usual}"
        )
        remainder = re.sub(r" CHARACTER SET \w+| COLLATE \w+", "", text.removeprefix(type), count=2)
        text = f"{type} CHARACTER SET {field.type.charset}{collation}{remainder}"
    return text if server.id == "mysql-5.7" else re.sub(r"(?<=SET |ATE )utf8(?=_| |$)", "utf8mb3", text)


def as_printed(definition: Definition) -> Definition:
    """The definition as the server keeps it: without typed spellings, with defaults as it prints them."""
    definition = definition.without_spellings()
    fields = tuple(
        replace(field, default=printed_default(field), comment=_printed_comment(field.comment))
        for field in definition.fields
    )
    return replace(definition, fields=fields, comment=_printed_comment(definition.comment))


def _printed_comment(literal: str) -> str:
    """A comment as the server prints it; "" for an empty one."""
    text = mysql_types.unquote(literal) if literal else ""
    return mysql_types.quote(text) if text else ""


def _column_text(field: Field, definition: Definition, server: Server) -> str:
    """A column's type, character set, NOT NULL and default."""
    text = mysql_types.type_text(field.type, style=server.type_style) + _charset_text(field, definition, server)
    large = mysql_table.family(field.type) in ("json", "geometry") or field.type.name.endswith(("text", "blob"))
    if not field.nullable:
        text += " NOT NULL"
        if field.auto:
            return text + (" DEFAULT '0'" if server.quotes_numbers else " DEFAULT 0")
    default = printed_default(field)
    if default is not None:
        number = mysql_table.family(field.type) in ("integer", "decimal", "float") and not server.quotes_numbers
        return f"{text} DEFAULT {default.strip(chr(39)) if number else default}"
    return text + (" DEFAULT NULL" if field.nullable and not large else "")


def _charset_text(field: Field, definition: Definition, server: Server) -> str:
    """Character set and collation, where they are not those of the table."""
    charset = field.type.charset
    if not charset:
        return ""
    usual, of_charset = definition.collation or default_collation(definition.charset, server), ""
    of_charset = default_collation(charset, server)
    collation = field.collation or (usual if charset == definition.charset else of_charset)
    if server.mariadb:
        if charset != definition.charset:
            return f" CHARACTER SET {charset}" + (f" COLLATE {field.collation}" if field.collation else "")
        return f" CHARACTER SET {charset} COLLATE {collation}" if collation != usual else ""
    text = f" CHARACTER SET {charset}" if (charset, collation) != (definition.charset, usual) else ""
    if collation != of_charset or (text and server.modern):
        text += f" COLLATE {collation}"
    return text if server.id == "mysql-5.7" else re.sub(r"(?<=SET |ATE )utf8(?=_| |$)", "utf8mb3", text)


def _column(field: Field, definition: Definition, server: Server) -> str:
    text = _uncommented(field, definition, server)
    comment = _printed_comment(field.comment)
    return f"{text} COMMENT {comment}" if comment else text


def _uncommented(field: Field, definition: Definition, server: Server) -> str:
    text = _column_text(field, definition, server)
    if field.auto:
        return re.sub(r"DEFAULT '?0'?$", "AUTO_INCREMENT", text)
    if field.generated is not None:
        text = text.removesuffix(" DEFAULT NULL").removesuffix(" NOT NULL")
        text += f" GENERATED ALWAYS AS ({field.generated}) {'STORED' if field.stored else 'VIRTUAL'}"
        return text if field.nullable else text + " NOT NULL"
    if field.default is not None and (now := NOW.fullmatch(field.default)):
        text = text.removesuffix(field.default) + _current_timestamp(now[1], server)
    if field.type.name == "timestamp" and field.nullable:
        text = text.replace(" DEFAULT", " NULL DEFAULT", 1)
    if field.nullable and not field.default_dropped and " DEFAULT" not in text:
        # unlike AS SELECT; in MySQL only JSON and geometry columns lack it
        text += " DEFAULT NULL" if server.mariadb or mysql_table.family(field.type) in ("json", "geometry") else ""
    if field.default_dropped:
        text = text.removesuffix(" DEFAULT NULL")
    if field.on_update:
        text += f" ON UPDATE {_current_timestamp(str(field.type.length or ''), server)}"
    if field.invisible:
        text += " INVISIBLE" if server.mariadb else " /*!80023 INVISIBLE */"
    return text


def _current_timestamp(digits: str | None, server: Server) -> str:
    if server.mariadb:
        return f"current_timestamp({digits or ''})"
    return "CURRENT_TIMESTAMP" + (f"({digits})" if digits else "")


def _sorted_keys(definition: Definition) -> list[Key]:
    """The primary key, unique keys without nulls, those with nulls, other keys."""
    nullable = {field.name.lower() for field in definition.fields if field.nullable}

    def rank(key: Key) -> int:
        if key.kind != "unique":
            return {"primary": 0, "index": 3}.get(key.kind, 4)
        return 1 if nullable.isdisjoint(name.lower() for name in key.names) else 2

    return sorted(definition.keys, key=rank)


def _key(key: Key) -> str:
    parts = ",".join(quoted(name) + ("" if length is None else f"({length})") for name, length in key.columns)
    return f"{_KEYS[key.kind]} {'' if key.kind == 'primary' else quoted(key.name) + ' '}({parts})"


def _foreign(link: ForeignKey, table_id: TableId) -> str:
    columns, parents = (",".join(map(quoted, names)) for names in (link.columns, link.parent_columns))
    parent = quoted(link.parent.name)
    if link.parent.database != table_id.database:
        parent = f"{quoted(link.parent.database)}.{parent}"
    text = f"CONSTRAINT {quoted(link.name)} FOREIGN KEY ({columns}) REFERENCES {parent} ({parents})"
    for when, does in (("DELETE", link.on_delete), ("UPDATE", link.on_update)):
        text += "" if does == "restrict" else f" ON {when} {does.upper()}"
    return text


def _options(definition: Definition, server: Server, next_auto: int) -> Iterator[str]:
    yield f"ENGINE={'InnoDB' if definition.transactional else 'MyISAM'}"
    if next_auto > 1 and any(field.auto for field in definition.fields):
        yield f"AUTO_INCREMENT={next_auto}"
    yield f"DEFAULT CHARSET={definition.charset}"
    usual = default_collation(definition.charset, server)
    collation = definition.collation or usual
    if collation != usual or server.mariadb or (server.modern and definition.charset == "utf8mb4"):
        yield f"COLLATE={collation}"
    if comment := _printed_comment(definition.comment):
        yield f"COMMENT={comment}"
