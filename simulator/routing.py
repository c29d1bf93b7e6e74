"""What a product says about packing, splitting and partitions, as data: formats declare it, delivery follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.model import Column, Event

Policy = Literal["single", "table", "key", "columns", "rules"]
POLICIES: tuple[Policy, ...] = ("single", "table", "key", "columns", "rules")


@dataclass(frozen=True)
class Packing:
    """Rows of one statement share a message while `header + Σ row bytes` stays within `max_bytes` (or `max_rows`).

    `row_bytes(columns, arrays)` gives the bytes of each row image; `header(columns, images)` those of an event without
    rows, for that many columns and images (two for updates).
    """

    row_bytes: Callable[[Sequence[Column], Sequence[pa.Array]], npt.NDArray[np.int64]]
    header: Callable[[int, int], int]
    max_bytes: int
    max_rows: int | None = None


@dataclass(frozen=True)
class TableRule:
    """A rule of the policy `rules`: the tables (by database and name) that it is for, and what holds for them."""

    matches: Callable[[str, str], bool]
    policy: Policy
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Routing:
    """How a product chooses topic and partition.

    * `topic`: the product's own default topic, a pattern of {database}, {schema}, {table}.
    * `policies`: what `--route` may say, the default first.
    * `combine`: the hashed text of a row is each value's hash, XORed (`xor`), or the values put together (`concat`).
    * `database_hash`: the hash of the database takes part in the XOR.
    * `reduce`: `abs` is |hash mod n| with Java's signs, `mask` is (hash & 0x7fffffff) mod n.
    * `table_text`: what the table policy hashes, a pattern like `topic`.
    * `image`: an update is routed by its `before` or `after` image.
    * `keyless`: partition of rows without key columns: 0, or by what is left to hash (`database`).
    * `ddl_with_table`: DDL goes where its table's rows go under the table policy; otherwise to partition 0.
    * `split`: an update of a routing column becomes DELETE + INSERT under the key and columns policies.
    * `rules`: what the policy `rules` means, the first that matches a table; rows of others go to partition 0.
    * `topics`: the topic of a database and table where the product has rules for it; "" for the default one.
    * `counts`: partitions of topics for which the product's own configuration says so.
    * `event_table`: (database, schema, table) that a single event is filed under, where the product has its own idea.
    """

    topic: str
    policies: tuple[Policy, ...]
    combine: Literal["xor", "concat"]
    reduce: Literal["abs", "mask"]
    table_text: str
    image: Literal["before", "after"]
    database_hash: bool = False
    keyless: Literal["zero", "database"] = "zero"
    ddl_with_table: bool = False
    split: bool = False
    rules: tuple[TableRule, ...] = ()
    topics: Callable[[str, str], str] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    event_table: Callable[[Event], tuple[str, str, str]] | None = None


def fill(pattern: str, *, database: str, schema: str, table: str) -> str:
    """A topic pattern with its names put in. Statements about no table are filed under `ddl`."""
    return (
        pattern.replace("{database}", database or "ddl").replace("{schema}", schema).replace("{table}", table or "ddl")
    )
