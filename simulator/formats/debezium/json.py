"""debezium-json: the envelope of Debezium's connectors, as Kafka Connect's JSON converter writes it.

Debezium 3.6 (documentation of the connectors; code of 3.6.3.Final; messages captured from it). A message about a row
has the row before and after, where it stands in the source's log, and an operation:

* the row has columns as Connect's types (`time.precision.mode`, `decimal.handling.mode` and others choose them), and a
  null is written as the column's default where it has one;
* the schema of key and value stands beside each (`key.converter.schemas.enable`, `value.converter.schemas.enable`);
* a delete is followed by a tombstone; an update of the key is a delete and a create, whose headers have the other key;
* DDL goes to a topic of its own with the tables after it; the begin and end of transactions to another, where
  `provide.transaction.metadata` asks for it; heartbeats to a third;
* a message that a session puts into PostgreSQL's log (`pg_logical_emit_message()`) goes to a fourth.

Documents of MongoDB have an envelope of their own (`connectors/mongodb`).

2.7 has no version of `source`, 2.5 no times below milliseconds, and `transaction` as the last member.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from simulator.delivery.policies.client import ByClient
from simulator.delivery.routing import Routing
from simulator.delivery.steps.counts import counted_by_table
from simulator.delivery.steps.documents import typed_documents
from simulator.errors import UsageError
from simulator.formats.debezium.connectors.connector import Connector, DdlConnector
from simulator.formats.debezium.connectors.mongodb import MongodbConnector
from simulator.formats.debezium.connectors.mongodb.envelope import DocumentEnvelopes
from simulator.formats.debezium.connectors.mongodb.unwrap import DocumentUnwrappedWriter
from simulator.formats.debezium.connectors.mysql import MariadbConnector, MysqlConnector
from simulator.formats.debezium.connectors.mysql.statements import is_sent
from simulator.formats.debezium.connectors.oracle import OracleConnector
from simulator.formats.debezium.connectors.postgresql import PostgresqlConnector
from simulator.formats.debezium.connectors.sqlserver import SqlserverConnector
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.images import nulls_for_gaps
from simulator.formats.debezium.keys import JsonKeys
from simulator.formats.debezium.names import Names
from simulator.formats.debezium.options import JsonOptions, unwrapping
from simulator.formats.debezium.snapshots import schema_history
from simulator.formats.debezium.unwrap import UnwrappedWriter
from simulator.formats.debezium.writer import JsonWriter
from simulator.formats.format import Format, Layout, Settings
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    STATEMENT,
    UPDATE,
    WITHOUT_TABLE,
    Event,
    Kind,
    SchemaChange,
    SchemaChangeKind,
)

# The connectors that read a source, the default one first.
CONNECTORS: Final[Mapping[str, tuple[type[Connector], ...]]] = {
    "mariadb": (MariadbConnector, MysqlConnector),
    "mongodb": (MongodbConnector,),
    "mysql": (MysqlConnector,),
    "oracle": (OracleConnector,),
    "postgresql": (PostgresqlConnector,),
    "sqlserver": (SqlserverConnector,),
}


def sends(options: Any, connector: Connector) -> frozenset[Kind]:
    """The kinds of event that the options allow."""
    kinds = {READ, *(kind for kind, letter in zip((INSERT, UPDATE, DELETE), "cud", strict=True)
                     if letter not in options.skipped_operations)}  # fmt: skip
    truncates = SchemaChangeKind.TRUNCATE_TABLE in connector.statements and (
        "t" not in options.skipped_operations or (options.transactions and connector.truncates_in_transaction)
    )
    if (options.schema_changes and isinstance(connector, DdlConnector)) or truncates:
        kinds.add(DDL)
    if options.transactions:
        kinds |= {BEGIN, COMMIT}
    if options.heartbeat_ms:
        kinds.add(HEARTBEAT)
    if isinstance(connector, PostgresqlConnector):
        kinds.add(STATEMENT)
    return frozenset(kinds)


def omits(event: Event) -> bool:
    """Tests for DDL that belongs to no table and has no message."""
    return (
        isinstance(event, SchemaChange)
        and event.kind in WITHOUT_TABLE
        and (event.kind is not SchemaChangeKind.ALTER_DATABASE and not is_sent(event))
    )


def envelopes_of(format: str, settings: Settings[Any], *, numeric: bool = False) -> Envelopes:
    """The envelopes of the connector that reads the source. Raises UsageError for a source without one. `numeric`: the
    converter writes precise decimals as numbers."""
    options = settings.options
    offered = CONNECTORS.get(settings.source.id)
    if offered is None:
        raise UsageError(f"-f {format}: no connector of Debezium for {settings.source.id} is known here.")
    chosen = next((connector for connector in offered if connector.java_class == options.connector_class), offered[0])
    connector = chosen(options, settings.source, numeric=numeric)
    kind = DocumentEnvelopes if isinstance(connector, MongodbConnector) else Envelopes
    return kind(options, connector, Names(options, connector.parts))


def layout_of(envelopes: Envelopes, writer: JsonWriter) -> Layout:
    """The layout of a connector's messages, whatever converter writes them."""
    options, connector = envelopes.options, envelopes.connector
    statements = connector.statements
    if not options.schema_changes:
        statements &= {SchemaChangeKind.TRUNCATE_TABLE}
    if "t" in options.skipped_operations and not (options.transactions and connector.truncates_in_transaction):
        statements -= {SchemaChangeKind.TRUNCATE_TABLE}
    return Layout(
        writer,
        Routing(envelopes.names.topics, {"key": ByClient()}, split=connector.key_columns),
        steps=(
            typed_documents,
            partial(nulls_for_gaps, connector.key_columns),
            schema_history,
            counted_by_table,
            *connector.steps,
        ),
        sends=sends(options, connector),
        statements=statements,
        omits=omits,
        row_images=connector.row_images,
        heartbeat_ms=options.heartbeat_ms or None,
        redelivery=connector.redelivery,
    )


def layout(settings: Settings[JsonOptions]) -> Layout:
    options = settings.options
    envelopes = envelopes_of("debezium-json", settings, numeric=options.decimal_format == "NUMERIC")
    keys = JsonKeys(envelopes, schemas=options.key_schemas)
    writer = JsonWriter(envelopes, keys, schemas=options.value_schemas)
    if options.transforms == "unwrap":
        unwrapped = DocumentUnwrappedWriter if isinstance(envelopes, DocumentEnvelopes) else UnwrappedWriter
        writer = unwrapped(envelopes, keys, unwrapping(options), schemas=options.value_schemas)
    return layout_of(envelopes, writer)


FORMAT = Format(
    id="debezium-json",
    title="Debezium JSON",
    product="Debezium",
    spec="Debezium 3.6, documentation of the connectors and their code",
    sources=tuple(CONNECTORS),
    brokers=("kafka",),
    sends=frozenset(Kind),
    silent=frozenset(),
    settings=JsonOptions,
    layout=layout,
)
