"""The text of a table as SHOW CREATE TABLE prints it, as far as a definition knows it: it knows no comments of tables,
partitions and engines but whether rows are transactional, and has expressions as they were typed."""

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
from simulator.sql.ddl.tables import quoted

# Of a DECIMAL.
MOST_DIGITS: Final = 65
_NOW: Final = re.compile(r"(?:NOW|CURRENT_TIMESTAMP|LOCALTIME|LOCALTIMESTAMP)\s*(?:\(\s*(\d*)\s*\))?", re.IGNORECASE)
_KEYS: Final = {"primary": "PRIMARY KEY", "unique": "UNIQUE KEY", "index": "KEY", "fulltext": "FULLTEXT KEY"}


def show_create(definition: Definition, server: Server, next_auto: int = 1) -> str:
    """The statement, on several lines."""
    lines = [f"{quoted(one.name)} {_column(one, definition, server)}" for one in definition.fields]
    lines += [_key(key) for key in definition.keys if all(key.names)]
    lines += [_foreign(link, definition.id) for link in definition.foreign]
    lines += [f"CONSTRAINT {quoted(name)} CHECK ({text})" for name, text in definition.checks]
    body = ",\n".join(f"  {line}" for line in lines)
    return f"CREATE TABLE {quoted(definition.id.name)} (\n{body}\n) {' '.join(_options(definition, server, next_auto))}"


def selected_column(one: Field, definition: Definition, server: Server) -> str:
    """The column that a server makes of a selected one; unusual character sets and collations are named."""
    default = "0" if one.auto else one.default
    one = replace(
        one, auto=False, default=default, generated=None, invisible=False, bare=one.bare and not server.mariadb
    )
    text = _column(one, definition, server)
    type = mysql_types.type_text(one.type, style=server.type_style)
    if server.json_is_text and one.type.name == "json":
        if one.collation not in ("", "utf8mb4_bin"):  # converted since
            return f"longtext{text.removeprefix(type)}"
        return f"longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin{text.removeprefix(type)}"
    usual = default_collation(one.type.charset, server) if one.type.charset else ""
    plain = one.collation in ("", usual)
    if one.type.charset and (one.type.charset != definition.charset or not plain):
        collation = "" if plain and not (server.modern or server.mariadb) else f" COLLATE {one.collation or usual}"
        rest = re.sub(r" CHARACTER SET \w+| COLLATE \w+", "", text.removeprefix(type), count=2)
        text = f"{type} CHARACTER SET {one.type.charset}{collation}{rest}"
    return text if server.id == "mysql-5.7" else re.sub(r"(?<=SET |ATE )utf8(?=_| |$)", "utf8mb3", text)


def _column_text(one: Field, charset: str, server: Server) -> str:
    """A column's type, character set, NOT NULL and default."""
    text = mysql_types.type_text(one.type, style=server.type_style)
    if one.type.charset and one.type.charset != charset:
        text += f" CHARACTER SET {one.type.charset}"
        if server.mariadb and one.collation:
            text += f" COLLATE {one.collation}"
    large = mysql_table.family(one.type) in ("json", "geometry") or one.type.name.endswith(("text", "blob"))
    if not one.nullable:
        text += " NOT NULL"
        if one.auto:
            return text + (" DEFAULT '0'" if server.quotes_numbers else " DEFAULT 0")
    if one.default is not None and one.default.upper() != "NULL":
        plain = one.default.strip("'")
        if mysql_table.family(one.type) == "decimal":
            last = Decimal(1).scaleb(-mysql_table.precision_scale(one.type)[1])
            plain = format(Decimal(plain).quantize(last, context=Context(prec=MOST_DIGITS)), "f")
        if one.type.name == "bit":
            value = int(plain[2:], 2) if plain[:2].lower() == "b'" else int(plain)
            return f"{text} DEFAULT b'{value:b}'"
        if one.type.name == "binary":
            plain += r"\0" * ((one.type.length or 1) - len(plain))
        if one.default.startswith("(") or one.default.upper().startswith(("CUR", "NOW")):
            return f"{text} DEFAULT {one.default}"
        number = mysql_table.family(one.type) in ("integer", "decimal", "float") and not server.quotes_numbers
        return f"{text} DEFAULT {plain if number else f'{chr(39)}{plain}{chr(39)}'}"
    return text + (" DEFAULT NULL" if one.nullable and not large else "")


def _column(one: Field, definition: Definition, server: Server) -> str:
    text = _uncommented(one, definition, server)
    return f"{text} COMMENT {mysql_types.quote(one.comment)}" if one.comment else text


def _uncommented(one: Field, definition: Definition, server: Server) -> str:
    text = _column_text(one, definition.charset, server)
    usual = definition.collation or default_collation(definition.charset, server)
    if one.type.charset == definition.charset and one.collation not in ("", usual):
        type = mysql_types.type_text(one.type, style=server.type_style)
        charset = "" if server.id == "mysql-5.7" else f" CHARACTER SET {one.type.charset}"
        text = f"{type}{charset} COLLATE {one.collation}{text.removeprefix(type)}"
    if one.auto:
        return re.sub(r"DEFAULT '?0'?$", "AUTO_INCREMENT", text)
    if one.generated is not None:
        text = text.removesuffix(" DEFAULT NULL").removesuffix(" NOT NULL")
        text += f" GENERATED ALWAYS AS ({one.generated}) {'STORED' if one.stored else 'VIRTUAL'}"
        return text if one.nullable else text + " NOT NULL"
    if one.default is not None and (now := _NOW.fullmatch(one.default)):
        text = text.removesuffix(one.default) + _now(now[1], server)
    if one.type.name == "timestamp" and one.nullable:
        text = text.replace(" DEFAULT", " NULL DEFAULT", 1)
    if one.nullable and not one.bare and " DEFAULT" not in text:
        # unlike AS SELECT; of MySQL only texts and bytes have none
        text += " DEFAULT NULL" if server.mariadb or mysql_table.family(one.type) in ("json", "geometry") else ""
    if one.bare:
        text = text.removesuffix(" DEFAULT NULL")
    if one.on_update:
        text += f" ON UPDATE {_now(str(one.type.length or ''), server)}"
    if one.invisible:
        text += " INVISIBLE" if server.mariadb else " /*!80023 INVISIBLE */"
    return text


def _now(digits: str | None, server: Server) -> str:
    if server.mariadb:
        return f"current_timestamp({digits or ''})"
    return "CURRENT_TIMESTAMP" + (f"({digits})" if digits else "")


def _key(key: Key) -> str:
    parts = ",".join(quoted(name) + ("" if length is None else f"({length})") for name, length in key.columns)
    return f"{_KEYS[key.kind]} {'' if key.kind == 'primary' else quoted(key.name) + ' '}({parts})"


def _foreign(link: ForeignKey, at: TableId) -> str:
    columns, others = (",".join(map(quoted, names)) for names in (link.columns, link.parent_columns))
    parent = quoted(link.parent.name)
    if link.parent.database != at.database:
        parent = f"{quoted(link.parent.database)}.{parent}"
    text = f"CONSTRAINT {quoted(link.name)} FOREIGN KEY ({columns}) REFERENCES {parent} ({others})"
    for when, does in (("DELETE", link.on_delete), ("UPDATE", link.on_update)):
        text += "" if does == "restrict" else f" ON {when} {does.upper()}"
    return text


def _options(definition: Definition, server: Server, next_auto: int) -> Iterator[str]:
    yield f"ENGINE={'InnoDB' if definition.transactional else 'MyISAM'}"
    if next_auto > 1 and any(one.auto for one in definition.fields):
        yield f"AUTO_INCREMENT={next_auto}"
    yield f"DEFAULT CHARSET={definition.charset}"
    usual = default_collation(definition.charset, server)
    collation = definition.collation or usual
    if collation != usual or server.mariadb or (server.modern and definition.charset == "utf8mb4"):
        yield f"COLLATE={collation}"
