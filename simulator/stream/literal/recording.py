"""Histories in files: an Arrow IPC stream of transactions and their entries, with the tables in its header.

A record is a transaction, an entry of the last transaction, or a row that a table holds: before the first transaction,
or after the DDL statement above it. Cells are literals of the source.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from simulator.errors import UsageError
from simulator.model import (
    Column,
    ColumnType,
    Header,
    Kind,
    LogPositions,
    SchemaChangeKind,
    StatementKind,
    Table,
    TableId,
    TransactionHeader,
    UniqueKey,
)
from simulator.stream.literal.transactions import Ddl, Entry, Row, RowChange, TableRows, Text, Transaction

# Version 1 marked types in documents by blanks.
VERSION: Final = 2
_KEY: Final = b"cdcsim"
_CELLS: Final = pa.list_(pa.string())
_POSITIONS: Final = pa.list_(pa.int32())
_SCHEMA: Final = pa.schema(
    [
        ("what", pa.string()),  # transaction, row, ddl, text, or held (an existing row)
        ("table", pa.int32()),
        ("kind", pa.int8()),
        ("before", _CELLS),
        ("after", _CELLS),
        ("logged_before", _POSITIONS),
        ("logged_after", _POSITIONS),
        ("number", pa.int64()),
        ("run", pa.int64()),
        ("ms", pa.int64()),
        ("facts", pa.string()),  # JSON
    ]
)
_BATCH_RECORDS: Final = 20_000

# Rows of a table as literals.
Literals = Callable[[Table, Sequence[Row]], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Facts:
    """The header of a recording. `fingerprint` is the script's; `snapshot`: a run begins with the rows before the first
    transaction; `partial_setting`, `steps`: as of HistoryStream."""

    source: str
    database: str
    start_ms: int
    fingerprint: str
    snapshot: bool = False
    partial_setting: str = ""
    steps: Sequence[tuple[str, int]] = ()
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Recorded:
    """Contents of a recording: its header, the rows before the first transaction, and the transactions."""

    facts: Facts
    before: Sequence[TableRows]
    transactions: Sequence[Transaction]


# --------------------------------------------------------------------------------------------------------------- write


def write(path: Path, recorded: Recorded, literals: Literals) -> None:
    """Writes the file completely or not at all. Raises OSError."""
    tables: dict[Table, int] = {}
    records = _records(recorded, tables)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        batches = [_batch(chunk, literals) for chunk in iter(lambda: list(islice(records, _BATCH_RECORDS)), [])]
        header = {**asdict(recorded.facts), "tables": [asdict(table) for table in tables]}
        header["before"] = [[tables[state.table], state.text] for state in recorded.before]
        header["records"] = sum(len(batch) for batch in batches)
        schema = _SCHEMA.with_metadata({_KEY: json.dumps(header)})
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with scratch.open("wb") as file, pa.ipc.new_stream(file, schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch.replace_schema_metadata(schema.metadata))
        scratch.replace(path)
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()


_Record = tuple[dict[str, Any], Table | None]


def _records(recorded: Recorded, tables: dict[Table, int]) -> Iterator[_Record]:
    """Records, each with its table; `tables` gets a number for each table version."""

    def number(table: Table | None) -> int | None:
        return None if table is None else tables.setdefault(table, len(tables))

    def row_records(state: TableRows) -> Iterator[_Record]:
        table = number(state.table)
        for row_number, row in state.rows.items():
            yield {"what": "held", "table": table, "number": row_number, "after": row}, state.table

    for state in recorded.before:
        number(state.table)
        yield from row_records(state)
    for transaction in recorded.transactions:
        header = None if transaction.header is None else asdict(transaction.header)
        yield _facts_record("transaction", transaction.ms, {"header": header, "heartbeat": transaction.heartbeat})
        for entry in transaction.entries:
            match entry:
                case RowChange():
                    yield {
                        "what": "row", "table": number(entry.table), "kind": int(entry.kind), "before": entry.before,
                        "after": entry.after, "logged_before": entry.logged_before, "logged_after": entry.logged_after,
                        "number": entry.number, "run": entry.run, "ms": entry.ms,
                    }, entry.table  # fmt: skip
                case Ddl():
                    facts = {
                        "kind": entry.kind.name, "database": entry.database, "before": number(entry.before),
                        "after": number(entry.after), "sql": entry.sql, "kinds": [kind.name for kind in entry.kinds],
                        "more": [[number(old), number(new)] for old, new in entry.more],
                        "rows": [number(state.table) for state in entry.rows],
                    }  # fmt: skip
                    yield _facts_record("ddl", entry.ms, facts)
                    for state in entry.rows:
                        yield from row_records(state)
                case Text():
                    facts = {
                        "kind": entry.kind.name, "database": entry.database, "table": entry.table, "sql": entry.sql,
                    }  # fmt: skip
                    yield _facts_record("text", entry.ms, facts)


def _facts_record(kind: str, ms: int, facts: Mapping[str, Any]) -> _Record:
    return {"what": kind, "ms": ms, "facts": json.dumps(facts)}, None


def _batch(records: Sequence[_Record], literals: Literals) -> pa.RecordBatch:
    """Records as columns; all rows of a table become literals in one call."""
    images: dict[Table, list[tuple[dict[str, Any], str]]] = {}
    for record, table in records:
        for name in ("before", "after"):
            if table is not None and record.get(name) is not None:
                images.setdefault(table, []).append((record, name))
    for table, records_of_table in images.items():
        rows = literals(table, [record[name] for record, name in records_of_table])
        for (record, name), row in zip(records_of_table, rows, strict=True):
            record[name] = row
    arrays = [pa.array([record.get(field.name) for record, _ in records], field.type) for field in _SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


# ---------------------------------------------------------------------------------------------------------------- read


def facts_of(path: str) -> Facts:
    """The header of a recording. Raises UsageError."""
    return _facts(_header(path))


def _facts(header: Mapping[str, Any]) -> Facts:
    steps = tuple((name, turn) for name, turn in header["steps"])
    return Facts(**{**{name: header[name] for name in Facts.__dataclass_fields__}, "steps": steps})


def _header(path: str) -> dict[str, Any]:
    try:
        with pa.OSFile(path) as file:
            metadata = pa.ipc.open_stream(file).schema.metadata or {}
    except FileNotFoundError:
        raise UsageError(f"there is no recording {path!r}: check the path, or write it with `cdcsim record`.") from None
    except (OSError, pa.ArrowInvalid):
        metadata = {}
    if _KEY not in metadata:
        raise UsageError(f"{path!r} is no recording: write one with `cdcsim record`.")
    header: dict[str, Any] = json.loads(metadata[_KEY])
    if header["version"] != VERSION:
        raise UsageError(f"{path}: the recording has version {header['version']}, not {VERSION}: record it again.")
    return header


def read(path: str) -> Recorded:
    """A whole recording. Raises UsageError."""
    header = _header(path)
    tables = [_table(item) for item in header["tables"]]
    before = [TableRows(tables[index], {}, text) for index, text in header["before"]]
    transactions: list[Transaction] = []
    rows_by_table = {item.table: item.rows for item in before}
    entries: list[Entry] = []
    ended: dict[str, Any] | None = None
    for record in _read(path, header["records"]):
        match record["what"]:
            case "held":
                rows_by_table[tables[record["table"]]][record["number"]] = tuple(record["after"])
            case "transaction":
                if ended is not None:
                    transactions.append(_transaction(ended, entries))
                ended, entries = record, []
            case "row":
                entries.append(_row(record, tables))
            case "ddl":
                ddl = _ddl(record, tables)
                rows_by_table = {item.table: item.rows for item in ddl.rows}
                entries.append(ddl)
            case "text":
                text = json.loads(record["facts"])
                kind = StatementKind[text["kind"]]
                entries.append(Text(kind, text["database"], text["table"], text["sql"], record["ms"]))
    if ended is not None:
        transactions.append(_transaction(ended, entries))
    return Recorded(_facts(header), before, transactions)


def _read(path: str, count: int) -> Iterator[dict[str, Any]]:
    """The records; their number must be `count`. Raises UsageError."""
    try:
        with pa.OSFile(path) as file:
            for batch in pa.ipc.open_stream(file):
                count -= len(batch)
                yield from batch.to_pylist()
    except (OSError, pa.ArrowInvalid):
        pass
    if count:
        raise UsageError(f"{path}: the recording is incomplete: copy it again, or record it again.")


def _transaction(record: Mapping[str, Any], entries: Iterable[Entry]) -> Transaction:
    facts = json.loads(record["facts"])
    header: Header | None = None
    if facts["header"] is not None:
        fields = facts["header"]
        header = LogPositions(fields["xid"], tuple(fields["lsns"])) if "lsns" in fields else TransactionHeader(**fields)
    return Transaction(tuple(entries), record["ms"], facts["heartbeat"], header)


def _row(record: Mapping[str, Any], tables: Sequence[Table]) -> RowChange:
    def row(name: str) -> Any:
        return None if record[name] is None else tuple(record[name])

    images = row("before"), row("after"), record["number"], record["run"], record["ms"]
    return RowChange(tables[record["table"]], Kind(record["kind"]), *images, row("logged_before"), row("logged_after"))


def _ddl(record: Mapping[str, Any], tables: Sequence[Table]) -> Ddl:
    facts = json.loads(record["facts"])

    def table(index: int | None) -> Table | None:
        return None if index is None else tables[index]

    return Ddl(
        SchemaChangeKind[facts["kind"]],
        facts["database"],
        table(facts["before"]),
        table(facts["after"]),
        facts["sql"],
        record["ms"],
        tuple(SchemaChangeKind[kind] for kind in facts["kinds"]),
        tuple((table(old), table(new)) for old, new in facts["more"]),
        tuple(TableRows(tables[index], {}) for index in facts["rows"]),
    )


def _table(facts: Mapping[str, Any]) -> Table:
    columns = [
        Column(**{**item, "type": _type(item["type"]), "typed_in": tuple(item["typed_in"])})
        for item in facts["columns"]
    ]
    keys = tuple(UniqueKey(item["name"], tuple(item["columns"])) for item in facts["unique_keys"])
    text_key = facts.get("text_key")
    return Table(
        TableId(**facts["id"]),
        tuple(columns),
        tuple(facts["primary_key"]),
        facts["version"],
        keys,
        facts.get("charset", ""),
        facts.get("comment", ""),
        None if text_key is None else tuple(text_key),
    )


def _type(facts: Mapping[str, Any]) -> ColumnType:
    return ColumnType(**{**facts, "labels": tuple(facts["labels"])})
