"""A scenario resolved for a source and a seed: the input of a stream, with a fingerprint. `resolve` makes it once, in
the process that drives a run. Other processes get a pickled copy with its pools, so they open the same stream, whatever
version of Faker they have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

import orjson

from simulator.model import Column, ColumnType, Table, TableId
from simulator.sources.source import Source
from simulator.stream.scenario import lines
from simulator.stream.scenario.language.tables import ColumnSpec
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import Applied
from simulator.values.pools import Pool, shipped


@dataclass(frozen=True)
class Field:
    """A column of a table at any time; `name` is permanent through renames. A schema change adds it at turn `since`,
    and rows last set before that have `added_default`; another drops it at turn `until`.
    """

    table: str
    column: Column
    spec: ColumnSpec
    path: Key
    since: int | None = None
    until: int | None = None
    added_default: str | None = None

    @property
    def name(self) -> str:
        return self.column.field

    @property
    def type(self) -> ColumnType:
        return self.column.type


@dataclass(frozen=True)
class Change:
    """A schema change of a generated stream, at the first transaction border at or after turn `at`."""

    at: int
    table: str
    applied: Applied

    @property
    def after(self) -> Table:
        assert self.applied.after is not None
        return self.applied.after


@dataclass(frozen=True, eq=False)
class Scenario(Loaded):
    """A checked scenario with its source and seed. Two are equal if their fingerprints are.

    `first_tables` are the tables before the first schema change, `fields` all their columns at any time, `changes` the
    schema changes in the order in which they happen; a script has only tables. `each_type` has the type of each table
    made by `each: type`. `pools` holds the texts from Faker, and None for a shipped pool, which is read on use. A copy
    from another process does not know lines of the file.
    """

    source: Source
    first_tables: tuple[Table, ...]
    fields: Mapping[str, Mapping[str, Field]]
    changes: tuple[Change, ...]
    pools: Mapping[Pool, tuple[str, ...] | None]
    each_type: Mapping[TableId, str] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits, the same in every process. They depend on everything that affects a byte of the
        stream, but not on the file's name, comments and layout.
        """
        facts: list[Any] = [
            # faults affect messages only; the mix is in the tables
            self.spec.model_dump_json(exclude={"faults", "mix"}),
            str(self.source),
            self.first_tables,
            self.changes,
            sorted((*pool, self.texts(pool)) for pool in self.pools),
        ]
        text = orjson.dumps(facts, default=asdict, option=orjson.OPT_PASSTHROUGH_DATACLASS)
        return blake2b(text, digest_size=16).hexdigest()

    @property
    def seed(self) -> int:
        return self.spec.seed

    @property
    def row_image(self) -> str:
        """Row image in the source's log: one of its `row_images`."""
        return self.spec.row_images.get(self.source.row_image_setting) or self.source.row_images[0]

    def texts(self, pool: Pool) -> tuple[str, ...]:
        """The texts of a pool."""
        return self.pools[pool] or shipped(pool) or ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "data": lines.Mapping()}
