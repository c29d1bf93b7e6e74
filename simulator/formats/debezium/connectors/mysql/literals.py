"""Texts of a statement as the connector's parser reads them: it knows strings in single quotes only.

Its SQL grammar takes double quotes for names, so that the connector writes such strings anew before it parses
(`DdlNormalizer`).
"""

from __future__ import annotations

import re
from typing import Final

_QUOTED: Final = re.compile(
    r"""--[^\n]*|\#[^\n]*|/\*(?!!).*?\*/|'(?:''|[^'\\]|\\.)*'|"((?:[^"\\]|\\.|"")*)"|`(?:``|[^`])*`""", re.DOTALL
)


def single_quoted(sql: str) -> str:
    """A statement whose strings have single quotes.

    >>> print(single_quoted('c char(9) default "it is", `a"b` int'))
    c char(9) default 'it is', `a"b` int
    """
    return _QUOTED.sub(lambda match: match[0] if match[1] is None else _apostrophes(match[1]), sql)


def _apostrophes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def literal_text(literal: str) -> str:
    """A literal without its quotes; what is doubled or escaped inside stays so.

    >>> literal_text("'it''s'"), literal_text('"a\\\\n"'), literal_text("1.50")
    ("it''s", 'a\\\\n', '1.50')
    """
    text = single_quoted(literal)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text
