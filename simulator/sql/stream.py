"""A SQL script as literal transactions: the log of its run is the stream; or a recording of such a log."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, Envelope
from simulator.errors import UsageError
from simulator.model import Table
from simulator.sources.mysql import typed_json
from simulator.sources.source import Source
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.memory import give_back
from simulator.sql.script import POSTGRESQL, START_MS, MysqlSession, Script, run, run_on_postgresql
from simulator.sql.store.rows import carrier
from simulator.stream.literal import recording
from simulator.stream.literal.history import HistoryStream
from simulator.stream.literal.recording import Facts, Recorded
from simulator.stream.literal.transactions import Row, RowChange, TableRows

_PARTIAL_ROW_IMAGES: Final = "binlog_row_image is not FULL in turn {turn}; set it to FULL"


def stream_of(script: Script, source: Source, *, force: bool = False) -> HistoryStream:
    """The stream of a script's changes. `failure` is the error that ended the script: the caller raises it after the
    changes before it are delivered."""
    if script.is_recording:
        recorded = recording.read(script.file)
        facts, kind = recorded.facts, MysqlHistory if str(source) in SERVERS else HistoryStream
        return kind(
            script.file,
            source,
            facts.database,
            recorded.transactions,
            before=recorded.before,
            start_ms=facts.start_ms,
            partial_setting=facts.partial_setting,
            steps=facts.steps,
        )
    return SqlStream(script, source, force=force) if source.id != POSTGRESQL else _on_postgresql(script, source, force)


def record(script: Script, source: Source, to: Path, *, force: bool = False) -> HistoryStream:
    """Write a script's history to a file; replaying it needs no server. Raises the error that ended the script."""
    stream = stream_of(script, source, force=force)
    if stream.failure is not None:
        raise stream.failure
    facts = Facts(
        str(source),
        stream.database,
        stream.start_ms,
        script.fingerprint,
        script.spec.snapshot,
        stream.partial_setting,
        stream.steps,
    )
    recording.write(to, Recorded(facts, stream.before, stream.transactions), stream.literals)
    return stream


def _on_postgresql(script: Script, source: Source, force: bool) -> HistoryStream:
    before: list[TableRows] = []
    outcome = run_on_postgresql(
        script, source, force=force, at_snapshot=lambda session: before.extend(session.current_rows())
    )
    session = outcome.session
    stream = HistoryStream(
        script.file,
        source,
        session.database,
        session.log.transactions,
        before=before,
        after=session.current_rows(),
        start_ms=START_MS,
        partial_setting="REPLICA IDENTITY is not FULL in turn {turn}; run ALTER TABLE … REPLICA IDENTITY FULL before",
        steps=outcome.steps,
    )
    stream.failure, stream.errors, stream.warnings = outcome.failure, tuple(outcome.errors), tuple(outcome.warnings)
    return stream


def record_log(url: str, start: str, end: str | None, databases: Collection[str], to: Path) -> LogStream:
    """Write part of a MySQL or MariaDB server's binlog, from one position to another, to a file. Raises UsageError."""
    from simulator.sql.server.mysql.existing import ExistingLog, position_of
    from simulator.sql.server.url import engine_of

    engine = engine_of(url)
    if engine.system == POSTGRESQL:
        raise UsageError(
            "--from: PostgreSQL keeps no log that can be read later; name a MySQL or MariaDB server, or a script."
        )
    first_position, last_position = position_of(start), None if end is None else position_of(end)
    log = ExistingLog(engine, databases)
    try:
        log.read(first_position, last_position)
    finally:
        log.connection.close()
    transactions = log.transactions
    first_ms = transactions[0].ms if transactions else START_MS
    stream = LogStream(
        str(to), log.source, "", transactions, before=(), start_ms=first_ms, partial_setting=_PARTIAL_ROW_IMAGES
    )
    fingerprint = blake2b(repr((start, end, log.session.log.executed, len(transactions))).encode(), digest_size=16)
    facts = Facts(str(log.source), "", first_ms, fingerprint.hexdigest(), False, _PARTIAL_ROW_IMAGES)
    recording.write(to, Recorded(facts, (), transactions), stream.literals)
    return stream


class MysqlHistory(HistoryStream):
    """The history of a MySQL or MariaDB server. JSON documents are cells as in the log, which keeps their types."""

    def column(self, table: Table, position: int, cells: Sequence[Any]) -> pa.Array:
        if position in self._documents(table):
            return pa.array(cells, pa.string())
        return super().column(table, position, cells)

    def _images(self, changes: Sequence[RowChange], envelope: Envelope) -> ChangeBatch:
        """A batch of changes; documents as the server prints them, and with types where that differs."""
        batch = super()._images(changes, envelope)
        documents = self._documents(changes[0].table)
        images = [image for change in changes for image in (change.before, change.after) if image is not None]
        if not any(image[i] is not None and typed_json.is_typed(image[i]) for i in documents for image in images):
            return batch
        printed = [
            replace(change, before=_printed(change.before, documents), after=_printed(change.after, documents))
            for change in changes
        ]
        return replace(super()._images(printed, envelope), typed_json=batch)

    def printed(self, table: Table, rows: Sequence[Row]) -> Sequence[Row]:
        documents = self._documents(table)
        return [_printed(row, documents) for row in rows] if documents else rows

    def _documents(self, table: Table) -> list[int]:
        """The columns that hold binary JSON documents; MariaDB's JSON is text."""
        if SERVERS[str(self.source)].json_is_text:
            return []
        return [position for position, column in enumerate(table.columns) if column.type.name == "json"]


class LogStream(MysqlHistory):
    """The history of an embedded session: cells are stored values, not literals."""

    def column(self, table: Table, position: int, cells: Sequence[Any]) -> pa.Array:
        return carrier(cells, table.columns[position].type)

    def literals(self, table: Table, rows: Sequence[Row]) -> Sequence[Row]:
        documents = self._documents(table)
        columns = [
            [row[i] for row in rows]
            if i in documents
            else self.source.format_values(self.column(table, i, [row[i] for row in rows]), column.type)
            for i, column in enumerate(table.columns)
        ]
        return list(zip(*columns, strict=True))


class SqlStream(LogStream):
    """The changes of a SQL script; turn i is its transaction i. The script is run once, when the stream is created."""

    block_bytes = 8 << 20  # all rows are in memory as well

    def __init__(self, script: Script, source: Source, *, force: bool = False) -> None:
        self.script, self.force = script, force
        before: list[TableRows] = []

        def keep_rows(session: MysqlSession) -> None:
            session.forget_spellings()
            before.extend(session.current_rows())

        outcome = run(script, source, force=force, at_snapshot=keep_rows)
        tables = outcome.session.take_tables()
        give_back()
        self.failure = outcome.failure
        self.errors, self.warnings = tuple(outcome.errors), tuple(outcome.warnings)
        super().__init__(
            script.file,
            source,
            outcome.session.database,
            outcome.session.log.transactions,
            before=before,
            tables=tables,
            start_ms=START_MS,
            partial_setting=_PARTIAL_ROW_IMAGES,
            steps=outcome.steps,
        )

    def rows_before(self, turn: int) -> Sequence[TableRows]:
        """The rows before a turn: the script is run up to it. At turn 0 they are the rows of `-- @snapshot`."""
        if not turn:
            return self.before
        rows: list[TableRows] = []
        run(
            self.script,
            self.source,
            force=self.force,
            until=turn,
            at_snapshot=lambda session: session.forget_spellings(),
            at_end=lambda session: rows.extend(session.current_rows()),
        )
        return rows


def _printed(row: Any, documents: Sequence[int]) -> Any:
    """A row with its documents as the server prints them."""
    if row is None:
        return None
    cells = list(row)
    for position in documents:
        if cells[position] is not None:
            cells[position] = typed_json.printed(cells[position])
    return tuple(cells)
