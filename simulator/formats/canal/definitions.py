"""What Canal knows of columns from its store of table definitions, and where that misleads it (captured).

The store has the types as typed in statements that Canal read, and as SHOW CREATE TABLE printed them for the rest.
Canal decides by a type's text whether a column holds text or bytes.
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

# The spellings of TEXT types that are text to Canal; others, such as `text(30)` typed in DDL, are bytes.
TEXT_SPELLINGS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext"})

# Types that Canal's parser does not know in a CREATE or ALTER TABLE, and version comments where a column's definition
# begins; it does not read such a statement at all.
_UNREAD: Final = re.compile(
    r"(national\s+char|nchar|national\s+character|char)\s+varying\b|national\s+character\b|nchar\s+varchar\b"
    r"|long\s+var|.*\sbyte$|/\*!",
    re.IGNORECASE,
)


def readable(types: Sequence[str]) -> bool:
    """Whether Canal's parser reads a statement with columns of these types, as typed."""
    return not any(_UNREAD.match(text) for text in types)


def type_text(column: Column, settings: Settings[CanalOptions]) -> str:
    """`mysqlType`: as the statement typed it, else as the server prints it."""
    style = settings.options.mysql_type_style
    if style is None:
        typed = column.typed_in and readable(column.typed_in)
        style = "ddl_text" if typed else None
    return settings.source.type_text(column.type, style=style)


def checked_text(column: Column, settings: Settings[CanalOptions]) -> bool:
    """A JSON column of a server that stores JSON as checked text: bytes to Canal."""
    source = settings.source
    return column.type.name == "json" and isinstance(source, MysqlSource) and source.json_is_text


def misread(column: Column, settings: Settings[CanalOptions]) -> bool:
    """A TEXT column that Canal takes for bytes, since its type was typed as `text(30)` or `long`."""
    lob = family(column.type) == "text" and column.type.name not in ("char", "varchar")
    return lob and type_text(column, settings).lower() not in TEXT_SPELLINGS


def read_as_text(column: Column, settings: Settings[CanalOptions]) -> str:
    """The text type that Canal takes a column of bytes for, typed as `varchar(10) character set binary`; else ""."""
    name = type_text(column, settings).lower().partition("(")[0]
    typed_as_text = family(column.type) == "binary" and name in ("char", "varchar", *TEXT_SPELLINGS)
    return name if typed_as_text else ""
