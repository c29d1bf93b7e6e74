"""Canal's rules for topics and partitions, as its properties spell them; a semicolon may stand for the comma.

Source: alibaba/canal `MQMessageUtils.java`. A pattern without any of `* ? + | ( ) { } [ ] \\ $ ^` is a plain name and
compared without case, any other a regular expression for the whole name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

_SPECIAL: Final = re.compile(r"[*?+|(){}\[\]\\$^]")
_GTID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:1(?:-[1-9]\d*)?")


@dataclass(frozen=True)
class TableRule:
    """The tables (by database and name) that a rule is for, and what their partitions are made of: the table's name,
    or columns (None: the key)."""

    matches: Callable[[str, str], bool]
    table: bool = False
    columns: tuple[str, ...] | None = None


def _rules(text: str) -> list[str]:
    return [part.strip() for part in text.replace(",", ";").split(";") if part.strip()]


def _matcher(pattern: str) -> Callable[[str], bool]:
    if not pattern or re.search(r"\s", pattern):
        raise ValueError("it is a list of rules for databases and tables with ; between, as in Canal's properties")
    if not _SPECIAL.search(pattern):
        return lambda name: name.lower() == pattern.lower()
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"it is a list of rules, and {pattern!r} is no regular expression: {error}") from None
    return lambda name: compiled.fullmatch(name) is not None


def partition_hash(text: str) -> tuple[TableRule, ...]:
    """`shop.orders:id^region;.*\\..*:$pk$;shop.log`: columns, the key, or the whole table's name."""
    return tuple(_partition_rule(part) for part in _rules(text))


def _partition_rule(part: str) -> TableRule:
    pattern, colon, columns = part.rpartition(":")
    if not colon:
        matches = _matcher(part)
        return TableRule(lambda database, table: matches(f"{database}.{table}"), table=True)
    matches = _matcher(pattern)

    def applies(database: str, table: str) -> bool:
        return matches(f"{database}.{table}")

    if columns == "$pk$":
        return TableRule(applies)
    names = tuple(name.strip() for name in columns.split("^") if name.strip())
    if not names:
        raise ValueError(f"it is a list of rules, and columns or $pk$ belong after the colon of {part!r}")
    return TableRule(applies, columns=names)


def dynamic_topic(text: str) -> Callable[[str, str], str] | None:
    """Rules `[topic:]pattern`: tables are tried against all of them first, then databases; "" if none matches."""
    rules = []
    for part in _rules(text):
        topic, _, pattern = part.rpartition(":")
        rules.append((topic.replace(".", "_"), pattern, _matcher(pattern)))
    if not rules:
        return None

    def topic_of(database: str, table: str) -> str:
        if not database or not table:
            return ""
        for name, of_table_rules in ((f"{database}.{table}", True), (database, False)):
            for topic, pattern, matches in rules:
                of_table = "\\." in pattern or ("." in pattern and not _SPECIAL.search(pattern))
                if of_table == of_table_rules and matches(name):
                    return topic or name.lower().replace(".", "_")
        return ""

    return topic_of


def topic_partitions(text: str) -> Mapping[str, int]:
    """`orders:3;items:12`."""
    counts = {}
    for part in _rules(text):
        topic, _, number = part.rpartition(":")
        if not topic or not number.isdecimal() or not int(number):
            raise ValueError(f"it is a list such as orders:3;items:12, and {part!r} is not of that kind")
        counts[topic] = int(number)
    return counts


def gtid(text: str) -> str:
    if not _GTID.fullmatch(text):
        raise ValueError("it is a server's UUID with the numbers executed so far, UUID:1-2")
    return text


def size(text: str) -> int:
    if not text.isdecimal() or int(text) < 256:
        raise ValueError("it is a number of bytes from 256")
    return int(text)
