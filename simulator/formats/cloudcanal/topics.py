"""Names of topics: the rules of the page `api_datajob_mapping`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from simulator.delivery.routing import Topics
from simulator.model import TableId

Case: TypeAlias = Literal["kept", "lower", "upper"]

# Pattern and case; {schema} and the separator behind it are left out for sources without schemas.
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
    """Topics of tables; what has no table goes to the `default` one, which no table's topic is."""

    default: str = ""

    def of(self, at: TableId, pattern: str | None = None) -> str:
        if not at.name and "{table}" in (pattern or self.pattern):
            return self.default
        return super().of(at, pattern)


def default_rule(*, schemas: bool, dots: bool) -> str:
    """The rule of new jobs. RocketMQ takes no dots in names, so there it separates with `%` (a decision)."""
    return f"SOURCE_INS_DB_{'SCHEMA_' if schemas else ''}TABLE_BY_{'DOT' if dots else 'PERCENT'}"


def topics(rule: str, *, schemas: bool, instance: str, default: str) -> Topics:
    """Topics named by a rule; `default` is the topic of DEFAULT_TOPIC."""
    pattern, case = RULES[rule]
    if not schemas:
        pattern = re.sub(r"\{schema\}[.%:]", "", pattern)
    pattern = pattern.replace("{instance}", instance).replace("{default}", default)
    return TableTopics(pattern, case, default=default)
