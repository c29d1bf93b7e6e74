"""Whether the scenario language takes some values for a column: its checks are asked, with a table of that column."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources.source import Source
from simulator.stream.engine.compiled import highest
from simulator.stream.scenario.checks.column import holds
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.lines import Mapping
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.resolve import resolve

# A sequence in a column that holds fewer numbers is full before a long run ends.
LASTING: Final = 8_000_000
_CHANGING: Final = (
    "faker", "range", "choices", "pattern", "uuid", "sequence", "version", "walk", "lognormal", "sentence",
)  # fmt: skip
_PERSON: Final = ("email", "city")


@dataclass
class Fitting:
    """Cached checks of values against a source's types. `portable`: columns have portable types."""

    source: Source
    portable: bool = False
    known: dict[str, bool] = field(default_factory=dict)

    def type(self, text: str) -> ColumnType:
        return self.source.from_portable(text) if self.portable else self.source.parse_type(text)

    @property
    def integers(self) -> str:
        return "int64" if self.portable else self.source.portable_types["int64"]

    def holds(self, text: str) -> str:
        return holds(self.type(text), self.source)

    def takes(self, column: dict[str, Any], key: dict[str, Any] | None = None) -> bool:
        """`column` as the language has it, `key` the key column that its values are made of."""
        question = repr((column, key))
        if question not in self.known:
            columns = {
                **(key or {"id": {"type": self.integers, "values": "sequence"}}),
                "the column": column,
            }
            table = {"key": [next(iter(columns))], "columns": columns, "rows": "10"}
            try:
                source = None if self.portable else str(self.source)
                spec = ScenarioSpec.model_validate({"source": source, "tables": {"t": table}})
                resolve(Loaded(spec, "draft", "draft", Mapping()), self.source)
                self.known[question] = True
            except (UsageError, ValueError):
                self.known[question] = False
        return self.known[question]

    def numbers(self, text: str) -> int:
        """Count of sequence numbers that a column can hold."""
        type = self.type(text)
        family = self.source.family(type)
        if family in ("integer", "decimal"):
            return highest(self.source, type)
        if family == "bit":
            return int(2 ** (type.length or 1) - 1)
        if self.holds(text) == "text":
            return int(10 ** min(type.length or 20, 20) - 1)
        return 1 << 62

    def type_text(self, type: ColumnType) -> str:
        """A type as a scenario has it: as the source prints it; an enum of PostgreSQL has its name, too."""
        if self.portable:
            return type.spelled
        text = re.sub(r"\s+collate\s+\S+", "", self.source.ddl.type_name(type), flags=re.IGNORECASE)
        if type.labels and text.startswith("enum(") and not type.spelled.lower().startswith("enum"):
            return f"{type.spelled} {text}".strip()
        try:
            return text if self.type(text).name == type.name else type.spelled
        except UsageError:
            return type.spelled

    def changes(self, column: dict[str, Any]) -> bool:
        """Whether an update that sets the column is certain to change it."""
        values = column.get("values", "default")
        kind, arguments = next(iter(values.items())) if isinstance(values, dict) else (values, None)
        if kind == "default":
            kind, arguments = self.source.default_values(self.type(column["type"]))
        if kind in ("range", "choices") and len(set(arguments or ())) < 2:
            return False
        changing = arguments in _PERSON if kind == "person" else kind in _CHANGING
        return changing and column.get("changes") != "no" and float(column.get("nulls", 0)) < 0.3
