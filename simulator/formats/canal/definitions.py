"""Column definitions in Canal's store of tables, and the errors that they cause (captured).

The store has types as typed in the statements that Canal read; the others are as SHOW CREATE TABLE printed them. Canal
decides by a type's text whether a column holds text or bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from simulator.formats.canal.options import CanalOptions
from simulator.formats.format import Settings
from simulator.model import Column
from simulator.sources.mysql.source import MysqlSource
from simulator.sources.mysql.type_table import family

# Spellings of TEXT types that Canal reads as text; others, such as `text(30)` typed in DDL, are bytes to it.
TEXT_SPELLINGS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext"})

# Types that Canal's parser does not know in a CREATE or ALTER TABLE, and version comments at the start of a column's
# definition; it ignores such a statement completely.
_UNREAD: Final = re.compile(
    r"(national\s+char|nchar|national\s+character|char)\s+varying\b|national\s+character\b|nchar\s+varchar\b"
    r"|long\s+var|.*\sbyte$|/\*!",
    re.IGNORECASE,
)


def readable(types: Sequence[str]) -> bool:
    """Tests whether Canal's parser reads a statement with columns of these types, as typed."""
    return not any(_UNREAD.match(text) for text in types)


def type_text(column: Column, settings: Settings[CanalOptions]) -> str:
    """`mysqlType`: as typed in the statement, else as the server prints it."""
    style = settings.options.mysql_type_style
    if style is None:
        typed = column.typed_in and readable(column.typed_in)
        style = "ddl_text" if typed else None
    return settings.source.type_text(column.type, style=style)


def checked_text(column: Column, settings: Settings[CanalOptions]) -> bool:
    """Tests for a JSON column of a server that stores JSON as checked text, which Canal reads as bytes."""
    source = settings.source
    return column.type.name == "json" and isinstance(source, MysqlSource) and source.json_is_text


def misread(column: Column, settings: Settings[CanalOptions]) -> bool:
    """Tests for a TEXT column that Canal reads as bytes, since its type was typed as `text(30)` or `long`."""
    lob = family(column.type) == "text" and column.type.name not in ("char", "varchar")
    return lob and type_text(column, settings).lower() not in TEXT_SPELLINGS


def read_as_text(column: Column, settings: Settings[CanalOptions]) -> str:
    """The text type that Canal assumes for a column of bytes typed as `varchar(10) character set binary`; else ""."""
    name = type_text(column, settings).lower().partition("(")[0]
    typed_as_text = family(column.type) == "binary" and name in ("char", "varchar", *TEXT_SPELLINGS)
    return name if typed_as_text else ""
