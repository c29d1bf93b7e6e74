"""Tables kept by AutoCDC, of Spark's declarative pipelines, from a topic of Debezium's or Canal's.

What makes them right when messages come again is `sequence`: the place of a change in the database's log, or in its
partition of the topic. No member that says when something was written orders the changes of a row: many have the same
time, what comes again has a new one, and clocks go back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, Final

# Members of Debezium's messages that rise with the log: of MySQL and MariaDB; of PostgreSQL.
BINLOG: Final = ("source.file", "source.pos", "source.row")
WAL: Final = ("source.lsn",)


def debezium(
    messages: Any, columns: Mapping[str, str], place: Sequence[str] = BINLOG, *, kept: Sequence[str] = ()
) -> Any:
    """Changes of a table: its `columns`, `deleted` and `sequence`, of messages of `debezium-json` without schemas.

    `messages` is a stream with a column `value`, as Spark's source of Kafka has it, of the table's topic; `columns` are
    Spark's types by name; `place` are the members that order the changes; `kept` are columns of `messages`, such as the
    `topic` where several make one table. Another key of a row is a delete and an insert already. Tombstones are left
    out: before each comes a delete that has its place. So is TRUNCATE, which AutoCDC cannot apply.
    """
    from pyspark.sql import functions as f

    row = ", ".join(f"`{name}`: {type}" for name, type in columns.items())
    source = "source struct<file: string, pos: bigint, row: int, lsn: bigint, ts_ms: bigint>"
    schema = f"op string, ts_ms bigint, before struct<{row}>, after struct<{row}>, {source}"
    change = f.from_json(f.col("value").cast("string"), schema).alias("change")
    changes = messages.select(*kept, change).select(*kept, "change.*").where("op in ('r', 'c', 'u', 'd')")
    row_of = f.coalesce("after", "before").alias("row")
    deleted, sequence = (f.col("op") == "d").alias("deleted"), f.struct(*place).alias("sequence")
    return changes.select(*kept, row_of, deleted, sequence).select(*kept, "row.*", "deleted", "sequence")


def canal(messages: Any, columns: Mapping[str, str], key: Sequence[str], *, kept: Sequence[str] = ()) -> Any:
    """Changes of a table: its `columns`, `deleted` and `sequence`, of messages of `canal-json`.

    `messages` is a stream with the columns `offset` and `value`, as Spark's source of Kafka has it, of messages about
    the table; `columns` are Spark's types by name, `key` is what Canal hashes to the partition, and `kept` are columns
    of `messages`. Canal writes no place in the log, but sends a stretch again in its old order and up to where it was:
    the last message of a row is its last change. Another key of a row is a delete of the old one and a row.
    """
    from pyspark.sql import functions as f

    schema = "type string, data array<map<string, string>>, old array<map<string, string>>"
    change = f.from_json(f.col("value").cast("string"), schema).alias("change")
    changes = messages.select(*kept, "offset", change)
    pairs = f.arrays_zip(f.col("change.data").alias("data"), f.coalesce("change.old", f.array()).alias("old"))
    rows = changes.where("change.type in ('INSERT', 'UPDATE', 'DELETE')").select(
        *kept, "change.type", "offset", f.posexplode(pairs).alias("number", "pair")
    )
    data, old = f.col("pair.data"), f.col("pair.old")

    def image(value: Callable[[str], Any], deleted: Any) -> Any:
        cells = (value(name).cast(type).alias(name) for name, type in columns.items())
        return f.struct(*cells, deleted.alias("deleted"))

    moved = reduce(or_, (old[name].isNotNull() for name in key)) & (f.col("type") == "UPDATE")
    left = image(lambda name: f.coalesce(old[name], data[name]), f.lit(True))
    now = image(lambda name: data[name], f.col("type") == "DELETE")
    changed = f.explode(f.when(moved, f.array(left, now)).otherwise(f.array(now)))
    sequence = f.struct("offset", "number").alias("sequence")
    return rows.select(*kept, changed.alias("row"), sequence).select(*kept, "row.*", "sequence")


def keep(table: str, changes: Callable[[], Any], key: Sequence[str]) -> None:
    """Define a table of the pipeline that holds the last row of each key; `changes` makes the stream of its changes."""
    from pyspark import pipelines

    pipelines.temporary_view(name=f"{table}_changes")(changes)
    pipelines.create_streaming_table(table)
    pipelines.create_auto_cdc_flow(
        target=table,
        source=f"{table}_changes",
        keys=list(key),
        sequence_by="sequence",
        apply_as_deletes="deleted",
        except_column_list=["deleted", "sequence"],
        stored_as_scd_type=1,
    )
