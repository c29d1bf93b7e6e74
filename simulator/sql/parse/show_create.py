"""The text of a table as SHOW CREATE TABLE prints it.

A definition does not know comments of tables, partitions, or engines beyond whether they are transactional; expressions
are printed as they were typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Context, Decimal
from typing import Final

from simulator.model import TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sql.catalog.definitions import Definition, Field, ForeignKey, Key
from simulator.sql.catalog.servers import Server, default_collation
from simulator.sql.parse.words import quoted

# Of a DECIMAL.
MAX_DIGITS: Final = 65
_NOW: Final = re.compile(r"(?:NOW|CURRENT_TIMESTAMP|LOCALTIME|LOCALTIMESTAMP)\s*(?:\(\s*(\d*)\s*\))?", re.IGNORECASE)
_KEYS: Final = {"primary": "PRIMARY KEY", "unique": "UNIQUE KEY", "index": "KEY", "fulltext": "FULLTEXT KEY"}


def show_create(definition: Definition, server: Server, next_auto: int = 1) -> str:
    """The statement, on several lines."""
    lines = [f"{quoted(field.name)} {_column(field, definition, server)}" for field in definition.fields]
    lines += [_key(key) for key in definition.keys if all(key.names)]
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


def _column_text(field: Field, charset: str, server: Server) -> str:
    """A column's type, character set, NOT NULL and default."""
    text = mysql_types.type_text(field.type, style=server.type_style)
    if field.type.charset and field.type.charset != charset:
        text += f" CHARACTER SET {field.type.charset}"
        if server.mariadb and field.collation:
            text += f" COLLATE {field.collation}"
    large = mysql_table.family(field.type) in ("json", "geometry") or field.type.name.endswith(("text", "blob"))
    if not field.nullable:
        text += " NOT NULL"
        if field.auto:
            return text + (" DEFAULT '0'" if server.quotes_numbers else " DEFAULT 0")
    if field.default is not None and field.default.upper() != "NULL":
        default_text = field.default.strip("'")
        if mysql_table.family(field.type) == "decimal":
            unit = Decimal(1).scaleb(-mysql_table.precision_scale(field.type)[1])
            default_text = format(Decimal(default_text).quantize(unit, context=Context(prec=MAX_DIGITS)), "f")
        if field.type.name == "bit":
            value = int(default_text[2:], 2) if default_text[:2].lower() == "b'" else int(default_text)
            return f"{text} DEFAULT b'{value:b}'"
        if field.type.name == "binary":
            default_text += r"\0" * ((field.type.length or 1) - len(default_text))
        if field.default.startswith("(") or field.default.upper().startswith(("CUR", "NOW")):
            return f"{text} DEFAULT {field.default}"
        number = mysql_table.family(field.type) in ("integer", "decimal", "float") and not server.quotes_numbers
        return f"{text} DEFAULT {default_text if number else f'{chr(39)}{default_text}{chr(39)}'}"
    return text + (" DEFAULT NULL" if field.nullable and not large else "")


def _column(field: Field, definition: Definition, server: Server) -> str:
    text = _uncommented(field, definition, server)
    return f"{text} COMMENT {mysql_types.quote(field.comment)}" if field.comment else text


def _uncommented(field: Field, definition: Definition, server: Server) -> str:
    text = _column_text(field, definition.charset, server)
    usual = definition.collation or default_collation(definition.charset, server)
    if field.type.charset == definition.charset and field.collation not in ("", usual):
        type = mysql_types.type_text(field.type, style=server.type_style)
        charset = "" if server.id == "mysql-5.7" else f" CHARACTER SET {field.type.charset}"
        text = f"{type}{charset} COLLATE {field.collation}{text.removeprefix(type)}"
    if field.auto:
        return re.sub(r"DEFAULT '?0'?$", "AUTO_INCREMENT", text)
    if field.generated is not None:
        text = text.removesuffix(" DEFAULT NULL").removesuffix(" NOT NULL")
        text += f" GENERATED ALWAYS AS ({field.generated}) {'STORED' if field.stored else 'VIRTUAL'}"
        return text if field.nullable else text + " NOT NULL"
    if field.default is not None and (now := _NOW.fullmatch(field.default)):
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


def _key(key: Key) -> str:
    parts = ",".join(quoted(name) + ("" if length is None else f"({length})") for name, length in key.columns)
    return f"{_KEYS[key.kind]} {'' if key.kind == 'primary' else quoted(key.name) + ' '}({parts})"


def _foreign(link: ForeignKey, at: TableId) -> str:
    columns, parents = (",".join(map(quoted, names)) for names in (link.columns, link.parent_columns))
    parent = quoted(link.parent.name)
    if link.parent.database != at.database:
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
