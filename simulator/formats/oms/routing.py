"""OMS's routing, the same for its five formats.

All decided here: the partition is String.hashCode of the key's values, joined with U+0001, without its sign. The key
of a message is the key's values (`kafka_key=json`: as a JSON string), in all formats as Default has them; the table's
name for rows without one or with an empty text as key, and for DDL. Of the modes that the vendor's private API
knows, MD5 takes the first four bytes of that digest of the values, ORIGINAL_VAL the number that they are. DDL goes to
all partitions that rows of its table may be in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch
from simulator.delivery.hashes import JAVA_MASK, MD5, ORIGINAL
from simulator.delivery.policies.columns import column_texts
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.texts import ByText
from simulator.delivery.routing import Address, Destination, Key, Routing, Spread, Statements, Texts, Topics
from simulator.formats.format import Settings
from simulator.formats.oms.names import names_table
from simulator.formats.oms.options import OmsOptions
from simulator.formats.oms.systems import types_of
from simulator.formats.oms.types.classes import ValueStyle
from simulator.formats.oms.types.columns import Columns
from simulator.model import Event, SchemaChange, TableId
from simulator.sources.log import Log, entries
from simulator.text.json_style import escape, quote
from simulator.text.template import join
from simulator.wire.fields import plain_text

SEPARATOR: Final = "\x01"


@dataclass(frozen=True)
class OmsStatements(Statements):
    """DDL goes to every partition that rows of its table may be in, before and after it; DDL of no table to all. A
    statement about several tables is a record for each of them, which names it. The copies of a record are alike:
    readers count them before they run the statement."""

    tables: ByName = field(kw_only=True)
    json_keys: bool = field(kw_only=True)
    keys: bool = field(kw_only=True)

    def partitions(self, event: Event, topic: str, to: Destination) -> tuple[int, ...]:
        count, table = to.count(topic), self.table(event)
        if not isinstance(event, SchemaChange) or to.route.policy == "single":
            return super().partitions(event, topic, to)
        if table is None or to.route.policy != "table" or not names_table(event):
            return tuple(range(count))
        versions = (version for version in (event.before, event.after) if version is not None)
        return tuple(sorted({self.tables.partition(version, count) for version in versions}))

    def addresses(self, event: Event, database: str, to: Destination) -> Iterator[tuple[Event, Address]]:
        """Addresses of a statement: the record of each table goes to all partitions of the table."""
        return ((part, self.address(part, database, to)) for part in self.parts(event))

    def key(self, event: Event, names: TableId) -> str | None:
        if not self.keys:
            return None
        table = self.table(event)
        key = self.tables.name(table) if table else names.database
        return quote(key) if self.json_keys else key


def row_key(tables: ByName, *, as_json: bool) -> Key:
    """The key of a row: the values of its key before the change, or its table's name if there is none or the text is
    empty; readers refuse an empty key."""

    def of(batch: ChangeBatch, spread: Spread, texts: Texts) -> pa.Array:
        values = column_texts(batch, batch.table.row_key_positions, texts, "before", "")
        pieces = [piece for value in values for piece in (SEPARATOR, value)][1:]
        name = tables.name(batch.table)
        keys = join(pieces or [name], len(batch))
        if len(values) == 1:
            keys = pc.if_else(pc.equal(keys, ""), name, keys)
        return join(['"', escape(keys), '"'], len(batch)) if as_json else keys

    return of


def transaction_key(log: Log, *, as_json: bool) -> Callable[[ChangeBatch], pa.Array]:
    """The key of a transaction mark: the transaction's id."""

    def of(batch: ChangeBatch) -> pa.Array:
        ids = log.transaction_id(entries(batch.envelope))
        return join(['"', ids, '"'], len(batch)) if as_json else ids

    return of


def routing(settings: Settings[OmsOptions]) -> Routing:
    options = settings.options
    owner = "{schema}" if settings.source.has_schemas else "{database}"
    tables = ByName(f"{owner}.{{table}}", JAVA_MASK)
    by_columns = ByText(JAVA_MASK, tables, separator=SEPARATOR, image="before", unique=True, otherwise_key=True)
    json_keys = options.kafka_key == "json"
    usual = Columns(types_of(settings), ValueStyle())
    keys = settings.broker != "rocketmq"  # no page says that messages have keys there
    return Routing(
        Topics("oms"),
        {
            "key": by_columns,
            "single": Single(options.fixed_partition),
            "table": tables,
            "columns": by_columns,
            "md5": replace(by_columns, hash=MD5),
            "original": replace(by_columns, hash=ORIGINAL),
        },
        row_key(tables, as_json=json_keys) if keys else None,
        # OceanBase's log has no update of a key; which key stands for a missing one is decided here
        "row key" if settings.source.key_is_fixed or options.split_key_update else "never",
        OmsStatements(tables=tables, json_keys=json_keys, keys=keys),
        # MqPartitionMode of the vendor's API
        aliases={"HASH": "key", "TABLE": "table", "ONE": "single", "MD5": "md5", "ORIGINAL_VAL": "original"},
        mark_key=transaction_key(settings.source.log, as_json=json_keys) if keys else None,
        texts=lambda column, array: plain_text(usual.cell(column), array),
    )
