"""A case: a piece of a stream, its format, and the order in which a consumer gets the messages; also as a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

import yaml

from simulator.errors import UsageError
from simulator.run.request import Subject
from simulator.run.scenario import Draft
from simulator.stream.scenario.yaml_text import YamlError, parse

# The key of a row as texts, and the keys of rows by table (`shop.orders`).
Key: TypeAlias = tuple[str | None, ...]
Rows: TypeAlias = tuple[tuple[str, tuple[Key, ...]], ...]

# The name of a scenario in a case, in errors.
INLINE: Final = "scenario of the case.yaml"


@dataclass(frozen=True, slots=True)
class Case:
    """The turns [first_turn, first_turn + turns) of a scenario, in a format.

    `scenario` is a shipped scenario's name, a file, or the text of one (of several lines); `settings` are those of
    `--set`, `faults` those of `--faults`. A consumer gets the messages in stream order, unless `arrival` is a seed:
    then partitions run ahead of each other, each in its own order. `rows` are the only rows whose changes are sent, as
    a connector with a filter would send them; None: all.
    """

    scenario: str
    format: str
    source: str | None = None
    seed: int | None = None
    settings: tuple[str, ...] = ()
    first_turn: int = 0
    turns: int = 100
    snapshot: bool = False
    partitions: int = 1
    arrival: int = 0
    faults: str = "none"
    rows: Rows | None = None

    @property
    def loaded_from(self) -> str | Draft:
        """The scenario's name or file, or its text."""
        return Draft(self.scenario, INLINE) if "\n" in self.scenario else self.scenario

    @property
    def subject(self) -> Subject:
        """The scenario and the format, as all commands take them."""
        return Subject(self.loaded_from, self.format, self.source, self.seed, self.settings, faults=self.faults)

    def as_yaml(self, sentence: str, command: tuple[str, ...] = ()) -> str:
        """The text of a file that replays the case; `sentence` says what it found."""
        inline = "\n" in self.scenario
        facts: dict[str, Any] = {
            "found": sentence,
            **({"command": list(command)} if command else {}),
            "format": self.format,
            **({"source": self.source} if self.source else {}),
            **({"seed": self.seed} if self.seed is not None else {}),
            **({"set": list(self.settings)} if self.settings else {}),
            "first_turn": self.first_turn,
            "turns": self.turns,
            **({"snapshot": True} if self.snapshot else {}),
            **({"partitions": self.partitions} if self.partitions > 1 else {}),
            **({"arrival": self.arrival} if self.arrival else {}),
            **({"faults": self.faults} if self.faults != "none" else {}),
            **({"rows": {table: list(keys) for table, keys in self.rows}} if self.rows else {}),
            "scenario": parse(self.scenario) if inline else self.scenario,
        }
        return yaml_of(facts)


def read_case(path: Path) -> tuple[Case, tuple[str, ...]]:
    """The case in a file, and the command that it was found with. Raises UsageError."""
    try:
        facts = parse(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from None
    except (YamlError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: it is no YAML: {error}.") from None
    try:
        return _case_of(facts), tuple(str(word) for word in facts.get("command", ()))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{path}: it is no case, as `cdcsim hunt --to FOLDER` writes them.") from None


def _case_of(facts: Mapping[str, Any]) -> Case:
    scenario = facts["scenario"]
    if isinstance(scenario, Mapping):
        scenario = yaml_of(scenario)
    rows = facts.get("rows")
    return Case(
        str(scenario),
        str(facts["format"]),
        facts.get("source"),
        None if (seed := facts.get("seed")) is None else int(seed),
        tuple(str(setting) for setting in facts.get("set", ())),
        int(facts["first_turn"]),
        int(facts["turns"]),
        facts.get("snapshot", "no") == "yes",
        int(facts.get("partitions", 1)),
        int(facts.get("arrival", 0)),
        facts.get("faults", "none"),
        rows if rows is None else tuple((table, tuple(map(tuple, keys))) for table, keys in rows.items()),
    )


class _Plain(yaml.SafeDumper):
    """Writes texts without quotes wherever the language of scenarios reads them as texts: it knows no other scalars."""

    yaml_implicit_resolvers: ClassVar = {  # type: ignore[misc]
        first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith(":null")]
        for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
    }


def yaml_of(data: Any) -> str:
    """Mappings, lists and scalars as YAML in the language of scenarios."""
    return yaml.dump(_texts(data), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=110)


def _texts(data: Any) -> Any:
    match data:
        case Mapping():
            return {str(name): _texts(value) for name, value in data.items()}
        case list() | tuple():
            return [_texts(value) for value in data]
        case bool():
            return "yes" if data else "no"
    return data if data is None else str(data)
