"""What a product says about packing, splitting and partitions, as data: formats declare it, delivery follows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.model import Column, Event

Policy = Literal["single", "table", "key", "columns", "schema", "rules"]
POLICIES: tuple[Policy, ...] = ("single", "table", "key", "columns", "schema", "rules")


@dataclass(frozen=True)
class Packing:
    """Rows of one statement share a message while `header + Σ row bytes` stays within `max_bytes` (or `max_rows`).

    `row_bytes(columns, arrays)` gives the bytes of each row image; `header(columns, images)` those of an event without
    rows, for that many columns and images (two for updates). Without `row_bytes` only rows are counted.

    * `scope`: what may share a message: rows of a statement, or rows of one table and kind that follow each other in a
      transaction.
    * `rows_of`: `max_rows` counts the rows of an event, before it is cut apart by partition, or those of a message;
      then which columns count as changed is not settled for the event, but row by row.
    * `distinct`: an update that leaves a row as an earlier one of the same event left it begins an event of its own.
    * `full_load`: rows of a snapshot that follow each other share messages, too, whatever the scope.
    """

    row_bytes: Callable[[Sequence[Column], Sequence[pa.Array]], npt.NDArray[np.int64]] | None = None
    header: Callable[[int, int], int] = lambda columns, images: 0
    max_bytes: int = 0
    max_rows: int | None = None
    scope: Literal["statement", "transaction"] = "statement"
    rows_of: Literal["event", "message"] = "event"
    distinct: bool = False
    full_load: bool = False


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
    * `renamed`: the statement that renames a table goes where the `new` name leads, or the `old` one.
    * `fixed`: the partition that all messages go to under the single policy.
    * `topic_case`: the product's own topics are written in lower or upper case, or as the pattern says.
    * `policies`: what `--route` may say, the default first.
    * `combine`: the hashed text of a row is each value's hash, XORed (`xor`), or the values put together (`concat`)
      with `separator` between, nulls as `null_text`.
    * `hash`: Java's String.hashCode, or Kafka's murmur2 over UTF-8.
    * `database_hash`: the hash of the database takes part in the XOR.
    * `reduce`: `abs` is |hash mod n| with Java's signs, `mask` is (hash & 0x7fffffff) mod n.
    * `table_text`: what the table policy hashes, a pattern like `topic`; `schema_text`: what the schema policy does.
    * `image`: an update is routed by its `before` or `after` image.
    * `keyless`: rows without key columns go to partition 0 (`zero`), by what is left to hash (`database`), or as under
      the table policy (`table`).
    * `ddl`: DDL goes to partition 0, where its table's rows go under the table policy (`table`), or to every partition
      under the policies that hash (`all`); `rows`: wherever rows of its table may go, to every partition under the
      policies that hash rows and where it names no table, and to where rows went before and go now where it renames
      one.
    * `ddl_of`: topic and key of DDL are its table's, or those of the `schema` it is in: as if the table had no name.
    * `ddl_topic`: a topic that all DDL goes to.
    * `split`: an update of a routing column becomes DELETE + INSERT under the key and columns policies; `always`: an
      update of the key does so under any policy; `every`: every update does.
    * `key`: the message's key is the text that was hashed (`hashed`), the values of the row's primary key put together
      whatever was hashed (`primary`; the table policy's text for rows without one and for DDL), or there is none.
    * `key_as`: the key as it is, or as a JSON string.
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
    schema_text: str = "{database}"
    hash: Literal["string_hash", "murmur2"] = "string_hash"
    separator: str = ""
    null_text: str = ""
    database_hash: bool = False
    keyless: Literal["zero", "database", "table"] = "zero"
    ddl: Literal["zero", "table", "all", "rows"] = "zero"
    ddl_of: Literal["table", "schema"] = "table"
    ddl_topic: str = ""
    split: bool | Literal["always", "every"] = False
    fixed: int = 0
    key: Literal["none", "hashed", "primary"] = "none"
    key_as: Literal["text", "json"] = "text"
    renamed: Literal["new", "old"] = "new"
    topic_case: Literal["kept", "lower", "upper"] = "kept"
    rules: tuple[TableRule, ...] = ()
    topics: Callable[[str, str], str] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    event_table: Callable[[Event], tuple[str, str, str]] | None = None


def fill(pattern: str, *, database: str, schema: str, table: str) -> str:
    """A topic pattern with its names put in. Statements about no table are filed under `ddl`."""
    return (
        pattern.replace("{database}", database or "ddl").replace("{schema}", schema).replace("{table}", table or "ddl")
    )


def without(pattern: str, name: str) -> str:
    """A pattern without one of its names, and without the separator that would be left at either end.

    >>> without("{database}-{table}", "table"), without("{table}.{schema}.x", "table"), without("{table}", "table")
    ('{database}', '{schema}.x', '')
    """
    return re.sub(rf"[-._:]*\{{{name}\}}$|^\{{{name}\}}[-._:]*|\{{{name}\}}", "", pattern)
