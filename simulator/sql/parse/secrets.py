"""Finds passwords in statements, which errors do not print.

Secret are: the literal after IDENTIFIED BY, PASSWORD and names that end with it (`master_password = '…'`,
`password('…')`, `OPTIONS (password '…')`), that after REPLACE in a statement about accounts, passwords of connection
strings (`password=…`) and those of URLs (`//user:…@host`).
"""

from __future__ import annotations

import re
from typing import Final

_MASK: Final = "***"
# Passwords of this length are masked wherever a text has them; shorter ones, which could be words of it, in quotes.
_LONG: Final = 8
_LITERAL: Final = r"""'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?"""
_AFTER_WORD: Final = re.compile(
    rf"""
    (?: \b identified \s+ (?: (?:with|via) \s+ (?:{_LITERAL}|[\w`]+) \s+ )? (?:by|as|using) (?:\s+password)?
      | \b \w*password \b (?:\s+ for \s+ (?:{_LITERAL}|[^\s'"=]+)+ )?
      | (?<!or\s) \b replace (?=\s*['"]) )
    [\s=(:]* (?:\bto\b \s*)? (?:[eE](?='))?
    (?P<literal> {_LITERAL} )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_INSIDE: Final = re.compile(
    r"""\bpassword\s*=\s*(?P<plain>(?:''|[^\s'"&(])+)(?!\()|://[^\s:/@'"]*:(?P<url>(?:''|[^\s@'"])+)@""", re.IGNORECASE
)


def secrets_of(statement: str) -> list[str]:
    """Passwords in a statement without their quotes, the longest first."""
    secrets = {match["literal"][1:].removesuffix(match["literal"][0]) for match in _AFTER_WORD.finditer(statement)}
    secrets |= {match["plain"] or match["url"] for match in _INSIDE.finditer(statement)}
    return sorted(filter(None, secrets), key=len, reverse=True)


def masked(text: str, statement: str) -> str:
    """A text about a statement, such as its error, without the statement's passwords: `identified by '***'`.

    >>> masked("near 'by 'secr' at line 1", "create user a identified by 'secret' x")
    "near 'by '***' at line 1"
    """
    for secret in secrets_of(statement):
        if len(secret) >= _LONG:
            text = text.replace(secret, _MASK)
        # a server cuts the statement that it cites, within a password perhaps
        begun = "(?:".join(map(re.escape, secret[:80])) + ")?" * (min(len(secret), 80) - 1)
        text = re.sub(
            rf"""(['"=:])(?:{re.escape(secret)}(?=['"@&\s]|\Z)|{begun}(?=' at line |\.\.\.))""", rf"\1{_MASK}", text
        )
    return text
