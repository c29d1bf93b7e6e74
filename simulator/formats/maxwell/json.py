"""maxwell-json: Zendesk's Maxwell 1.44.0 on MySQL and MariaDB. One JSON object for each row.

Source: zendesk/maxwell `row/RowMap.java`, `row/RowIdentity.java`, `schema/ddl/DDLMap.java`,
`bootstrap/SynchronousBootstrapper.java`, docs/config.md, and messages captured from 1.44.0 on MySQL 8.0.31.

`ts` is in seconds, of DDL in milliseconds. `commit` is on the last row of a transaction alone, `xoffset` on all others.
Rows of a bootstrap have neither. Heartbeats and transaction marks are not sent.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.steps.documents import typed_documents
from simulator.delivery.steps.queries import with_queries
from simulator.errors import NotOffered
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.maxwell.cells import cell
from simulator.formats.maxwell.definitions import STATEMENTS
from simulator.formats.maxwell.names import naming
from simulator.formats.maxwell.options import MaxwellOptions
from simulator.formats.maxwell.routing import routing
from simulator.formats.maxwell.writer import Keys, MaxwellWriter
from simulator.formats.members import DATABASE, TABLE, by_row, key_names, per_entry, query_texts
from simulator.formats.redelivery import MAXWELL
from simulator.formats.writing import opens_snapshot
from simulator.model import ABSENT, BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Column
from simulator.sources.mysql.log import SERVER_ID, MysqlLog
from simulator.sources.mysql.source import MysqlSource
from simulator.text.columns import looked_up
from simulator.text.json_style import JACKSON_BYTES
from simulator.text.template import Piece
from simulator.wire.by_kind import ByKind
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, InRows, PerChange, PerTable, Rows

MaxwellSettings: TypeAlias = Settings[MaxwellOptions]


def ends_transaction(batch: ChangeBatch) -> Any:
    """Marks the last change of each transaction."""
    return batch.envelope.seq == batch.envelope.size


def has_query(batch: ChangeBatch) -> Any:
    """Marks the changes whose statement is known."""
    queries = batch.envelope.query
    if queries is None:  # no step has set the texts of statements
        return np.zeros(len(batch), dtype=bool)
    return np.array([query is not None for query in queries], dtype=bool)


# The fraction of a second behind each millisecond: `.0`, `.001`, `.5`.
FRACTIONS: Final = [f".{number:03}".rstrip("0") if number else ".0" for number in range(1000)]


def push_seconds(batch: ChangeBatch) -> list[Piece]:
    """The time at which a message was sent, in seconds: `1714550400.123`."""
    seconds, milliseconds = np.divmod(batch.envelope.write_ms, 1000)
    return [pa.array(seconds), looked_up(FRACTIONS, milliseconds, None)]


def fields(settings: MaxwellSettings, keys: Keys) -> tuple[Field, ...]:
    """The members of a row's message in wire order."""
    options, log, name = settings.options, settings.source.log, naming(settings.options.output_naming_strategy)
    assert isinstance(log, MysqlLog)
    commit_info, nulls = options.output_commit_info, options.output_nulls

    def logged(member: str, value: Any, shown: bool) -> Field:
        """A member of rows that come from the log."""
        return Field(name(member), dict.fromkeys((INSERT, UPDATE, DELETE), value) if shown else ABSENT)

    def query(batch: ChangeBatch) -> pa.Array:
        return query_texts(batch, options.row_query_max_length)

    before_last = InRows(
        lambda batch: np.logical_not(ends_transaction(batch)), PerChange(lambda batch: batch.envelope.seq - 1)
    )
    return (
        Field(name("database"), by_row(DATABASE)),
        Field(name("table"), by_row(TABLE)),
        logged("query", InRows(has_query, PerChange(query)), options.output_row_query),
        Field(
            name("type"),
            {
                READ: "bootstrap-insert" if options.bootstrap else "insert",
                INSERT: "insert",
                UPDATE: "update",
                DELETE: "delete",
            },
        ),
        Field(name("ts"), by_row(PerChange(lambda batch: batch.envelope.event_ms // 1000))),
        logged("xid", PerChange(lambda batch: batch.envelope.txn), commit_info),
        logged("xoffset", before_last, commit_info and options.output_xoffset),
        logged("commit", InRows(ends_transaction, True), commit_info),
        logged("position", per_entry(log.position), options.output_binlog_position),
        logged("gtid", per_entry(log.gtid_set), options.output_gtid_position),
        logged("server_id", SERVER_ID, options.output_server_id),
        logged("thread_id", per_entry(log.thread), options.output_thread_id),
        Field(
            name("schema_id"),
            by_row(PerTable(lambda table, style: str(table.version + 1))) if options.output_schema_id else ABSENT,
        ),
        Field(name("push_ts"), by_row(PerChange(push_seconds)) if options.output_push_timestamp else ABSENT),
        Field(name("primary_key"), by_row(PerChange(keys.values)) if options.output_primary_keys else ABSENT),
        Field(
            name("primary_key_columns"),
            by_row(PerTable(key_names)) if options.output_primary_key_columns else ABSENT,
        ),
        Field(
            name("data"),
            {
                **by_row(Rows("after", array=False, skip_nulls=not nulls)),
                DELETE: Rows("before", array=False, skip_nulls=not nulls),
            },
        ),
        Field(name("old"), {UPDATE: Rows("changed", drop_empty=True, array=False, skip_nulls=not nulls)}),
    )


def layout(settings: MaxwellSettings) -> Layout:
    if not isinstance(settings.source, MysqlSource):
        raise NotOffered(f"-f maxwell-json: Maxwell reads MySQL's log; it has nothing for {settings.source}.")
    options = settings.options

    keys = Keys(lambda column: cell(column, settings), options.kafka_key_format)

    def encoder(*, bootstrap: bool) -> Encoder:
        def cells(column: Column) -> Cell:
            return cell(column, settings, bootstrap=bootstrap)

        return Encoder(fields(settings, keys), cells, JACKSON_BYTES, member=naming(options.output_naming_strategy))

    encoders = ByKind(encoder(bootstrap=False), {READ: encoder(bootstrap=True)})
    return Layout(
        MaxwellWriter(settings, keys, encoders),
        routing(settings),
        sends=FORMAT.sends if options.output_ddl else FORMAT.sends - {DDL},
        statements=STATEMENTS,
        omits=opens_snapshot,
        steps=(typed_documents, with_queries(settings.source)) if options.output_row_query else (typed_documents,),
        redelivery=MAXWELL,
    )


FORMAT = Format(
    id="maxwell-json",
    title="Maxwell JSON",
    product="Maxwell",
    spec="zendesk/maxwell 1.44.0, RowMap",
    sources=("mariadb", "mysql"),
    brokers=("kafka", "rabbitmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=MaxwellOptions,
    layout=layout,
)
