"""Names of topics: the rules of the page `api_datajob_mapping`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from simulator.delivery.routing import Topics
from simulator.model import TableId

# The default topic of a job without one.
DEFAULT_TOPIC: Final = "cloudcanal"
Case: TypeAlias = Literal["kept", "lower", "upper"]

# Pattern and case; {schema} and the separator after it are left out for sources without schemas.
RULES: Final[Mapping[str, tuple[str, Case]]] = {
    "SOURCE_INS_DB_TABLE_BY_DOT": ("{instance}.{database}.{table}", "kept"),
    "SOURCE_INS_DB_SCHEMA_TABLE_BY_DOT": ("{instance}.{database}.{schema}.{table}", "kept"),
    "SOURCE_INS_DB_BY_DOT": ("{instance}.{database}", "kept"),
    "SOURCE_INS_DB_TABLE_BY_PERCENT": ("{instance}%{database}%{table}", "kept"),
    "SOURCE_INS_DB_SCHEMA_TABLE_BY_PERCENT": ("{instance}%{database}%{schema}%{table}", "kept"),
    "SOURCE_INS_DB_BY_PERCENT": ("{instance}%{database}", "kept"),
    "SOURCE_INS_DB_TABLE_BY_DOUBLE_UNDERLINE": ("{instance}__{database}__{table}", "kept"),
    "MIRROR": ("{table}", "kept"),
    "TO_LOWER_CASE": ("{table}", "lower"),
    "TO_UPPER_CASE": ("{table}", "upper"),
    "SOURCE_DB_TABLE_BY_COLON": ("{database}:{table}", "kept"),
    "SOURCE_DB_SCHEMA_TABLE_BY_COLON": ("{database}:{schema}:{table}", "kept"),
    "SOURCE_DB_TABLE_BY_UNDERLINE": ("{database}_{table}", "kept"),
    "SOURCE_DB_TABLE_BY_UNDERLINE_LOWER_CASE": ("{database}_{table}", "lower"),
    "DEFAULT_TOPIC": ("{default}", "kept"),
}


@dataclass(frozen=True)
class TableTopics(Topics):
    """Topics of tables; events without a table go to the `default` topic, which no table has.

    `mapped`: the tables that existed when the job was made (None: all tables); other tables go there, too."""

    default: str = ""
    mapped: frozenset[TableId] | None = None

    def mapping(self, tables: Collection[TableId]) -> Topics:
        return self if self.mapped is None else replace(self, mapped=frozenset(tables))

    def named(self, pattern: str | None) -> Topics:
        """The topics by the pattern of `--to`, which applies to all tables."""
        return replace(self, pattern=pattern, case="kept", mapped=None) if pattern else self

    def of(self, table_id: TableId, pattern: str | None = None) -> str:
        pattern = pattern or self.pattern
        if "{table}" in pattern and (not table_id.name or (self.mapped is not None and table_id not in self.mapped)):
            return self.default
        return super().of(table_id, pattern)


def default_rule(*, schemas: bool, dots: bool) -> str:
    """The rule of new jobs. RocketMQ allows no dots in names, so `%` separates them there (a decision)."""
    return f"SOURCE_INS_DB_{'SCHEMA_' if schemas else ''}TABLE_BY_{'DOT' if dots else 'PERCENT'}"


def topics(rule: str, *, schemas: bool, instance: str, default: str | None) -> Topics:
    """Topics named by a rule; `default` is the topic of DEFAULT_TOPIC and, if given, of new tables."""
    pattern, case = RULES[rule]
    if not schemas:
        pattern = re.sub(r"\{schema\}[.%:]", "", pattern)
    topic = DEFAULT_TOPIC if default is None else default
    pattern = pattern.replace("{instance}", instance).replace("{default}", topic)
    return TableTopics(pattern, case, default=topic, mapped=None if default is None else frozenset())
