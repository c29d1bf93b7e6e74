"""Subjects under which the converter registers schemas, in the order of the plan.

The converter registers a schema with the first message that has it, the key's before the value's. Here all of a plan
are registered before the first message: those of transactions, of each table as the stream finds it, of the topic of
schema changes, of each later version of a table, and of heartbeats. So any process has the same ids, wherever it
begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from simulator.formats.debezium import schema_changes, transactions
from simulator.formats.debezium.confluent.schema import AvroSchemas
from simulator.formats.debezium.connectors.connector import DdlConnector
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.options import AvroOptions
from simulator.formats.debezium.schema import Schema
from simulator.model import Table, TableId
from simulator.subjects.ids import full_name


@dataclass(frozen=True)
class AvroSubjects:
    """Subjects and schemas of a connector. `value_schema` gives the schema of a table's values."""

    options: AvroOptions
    envelopes: Envelopes
    schemas: AvroSchemas
    value_schema: Callable[[Table], Schema]

    def __call__(
        self, first: Sequence[Table], versions: Iterable[Table], topic_of: Callable[[TableId], str]
    ) -> Iterator[tuple[str, str]]:
        """Each subject and schema. `first`: the tables as the stream finds them; `versions`: all that it has. Raises
        UsageError for a schema that Avro or the strategy does not allow."""
        envelopes, options, names = self.envelopes, self.options, self.envelopes.names
        connector = envelopes.connector
        if options.transactions:
            yield from self._pair(names.transactions, transactions.KEY, transactions.VALUE)
        for table in first:
            yield from self._of_table(table, topic_of)
        if isinstance(connector, DdlConnector) and options.schema_changes:
            value = schema_changes.value_schema(connector, envelopes.source_schema())
            yield from self._pair(names.schema_changes, schema_changes.key_schema(connector), value)
        for table in versions:
            yield from self._of_table(table, topic_of)
        if options.heartbeat_ms:
            yield from self._pair(names.heartbeats, schema_changes.HEARTBEAT_KEY, schema_changes.HEARTBEAT)

    def _of_table(self, table: Table, topic_of: Callable[[TableId], str]) -> Iterator[tuple[str, str]]:
        has_key = self.envelopes.connector.key_columns(table)
        key = self.envelopes.key_schema(table) if has_key else None
        yield from self._pair(topic_of(table.id), key, self.value_schema(table))

    def _pair(self, topic: str, key: Schema | None, value: Schema) -> Iterator[tuple[str, str]]:
        if key is not None:
            yield self._subject(topic, "key", self.options.key_subjects, key)
        yield self._subject(topic, "value", self.options.value_subjects, value)

    def _subject(self, topic: str, part: str, strategy: str, schema: Schema) -> tuple[str, str]:
        text = self.schemas.text(schema)
        if strategy == "TopicNameStrategy":
            return f"{topic}-{part}", text
        name = full_name(text)
        return name if strategy == "RecordNameStrategy" else f"{topic}-{name}", text
