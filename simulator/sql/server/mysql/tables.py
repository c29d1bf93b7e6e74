"""The tables of a server as its log is read: definitions, spellings of types, and the rows that the log has shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from simulator.errors import UsageError
from simulator.model import ColumnType, SchemaChangeKind, Table, TableId
from simulator.sources.mysql import type_table
from simulator.sources.mysql.types import type_text
from simulator.sql.catalog.definitions import Definition
from simulator.sql.catalog.servers import Server
from simulator.sql.errors import Unsupported
from simulator.sql.parse.show_create import as_printed
from simulator.sql.server.mysql import binlog, metadata
from simulator.sql.server.mysql.catalog import Catalog
from simulator.sql.server.mysql.ddl import Change, Known, TableChange, change_of
from simulator.sql.store.rows import index_value
from simulator.stream.literal.transactions import Ddl, Positions, Row, TableRows


class TrackedRows:
    """Rows by number, and the definition of their table. Rows that no statement of the log inserted are unknown."""

    def __init__(self, definition: Definition) -> None:
        self.rows: dict[int, Row] = {}
        self._last_number = 0
        self.layout: tuple[Any, ...] | None = None  # what the log says of the columns, as last read
        self.define(definition, self.rows)

    def define(self, definition: Definition, rows: dict[int, Row]) -> None:
        """Change the definition, and the rows with it."""
        self.definition, self.table, self.rows = definition, definition.table(), rows
        names = next(
            (
                key.names
                for key in sorted(definition.keys, key=lambda key: key.kind != "primary")
                if key.unique and all(key.names) and not any(self._nullable(name) for name in key.names)
            ),
            (),
        )
        positions = [definition.position(name) for name in names]
        self._key = tuple(position for position in positions if position is not None)
        self._numbers: dict[Row, list[int]] = {}
        for number, row in rows.items():
            self._numbers.setdefault(self._identity(row), []).append(number)

    def _nullable(self, name: str) -> bool:
        position = self.definition.position(name)
        return position is None or self.definition.fields[position].nullable

    def _identity(self, row: Row) -> Row:
        return tuple([row[i] for i in self._key]) if self._key else row

    def apply(self, before: Row | None, after: Row | None, logged: Positions) -> int:
        """Apply a change; `logged` are the columns of its after image. Returns the row's number, 0 if it is unknown and
        gone."""
        number, old = None, None
        if before is not None:
            identity = self._identity(before)
            numbers = self._numbers.get(identity)
            if numbers:
                number = numbers.pop(0)
                old = self.rows[number]
                if not numbers:
                    del self._numbers[identity]
        if after is None:
            if number is not None:
                del self.rows[number]
            return number or 0
        if number is None:
            number = self._last_number = self._last_number + 1
        if old is not None and logged is not None:
            after = tuple([after[i] if i in logged else cell for i, cell in enumerate(old)])
        self.rows[number] = after
        self._numbers.setdefault(self._identity(after), []).append(number)
        return number

    def sorted(self) -> dict[int, Row]:
        """The rows in the order of their key, as a server reads them; without a key in the order of their numbers."""
        items: Iterable[tuple[int, Row]] = sorted(self.rows.items())
        if self._key:
            fields = [(position, self.definition.fields[position]) for position in self._key]

            def order(item: tuple[int, Row]) -> list[Any]:
                return [index_value(item[1][position], field, None) for position, field in fields]

            with suppress(Unsupported):  # letters whose order only the server knows
                items = sorted(items, key=order)
        return dict(items)

    def clear(self) -> None:
        self.define(self.definition, {})


K = SchemaChangeKind
_SAME_CHARSET: Final = {"utf8mb3": "utf8"}
_INTEGERS: Final = frozenset(("tinyint", "smallint", "mediumint", "int", "bigint"))


class Tables:
    """Tables by name. Their definitions are the server's own; what it does not keep, the spelling of types, is read
    from the texts of DDL statements.

    `catalog` is asked for the columns of a table that the log does not say.
    """

    def __init__(self, server: Server, catalog: Catalog) -> None:
        self.server, self.catalog = server, catalog
        self.tracked: dict[TableId, TrackedRows] = {}
        self._databases: dict[str, tuple[str, str]] = {}
        self._versions: dict[TableId, int] = {}

    # -------------------------------------------------------------------------------------------------------------- DDL

    def ddl(self, event: binlog.Query, modes: Set[str], *, is_last: bool) -> Ddl | None:
        """Apply a DDL statement. None: it is about temporary tables, which the log has no rows of.

        `is_last`: the server has run no later DDL, so its catalogue shows the tables as this statement left them.
        """
        definitions = {id: tracked.definition for id, tracked in self.tracked.items()}
        change = change_of(event.sql, event.database, modes, Known(self.server, definitions, self._databases))
        if change.charset is not None:
            self._databases[change.database] = change.charset
        if change.kind is K.DROP_DATABASE:
            self._databases.pop(change.database, None)
            for id in [id for id in self.tracked if id.database == change.database]:
                del self.tracked[id]
        if change.temporary and change.kind is K.CREATE_TABLE:
            return None
        reshaped: list[TableRows] = []
        pairs = [self._apply(change, item, reshaped, is_last=is_last) for item in change.tables] or [(None, None)]
        (before, after), *more = pairs
        return Ddl(
            change.kind,
            change.database,
            before,
            after,
            event.sql,
            event.at_s * 1000,
            change.kinds,
            tuple(more),
            tuple(reshaped),
        )

    def _apply(
        self, change: Change, item: TableChange, reshaped: list[TableRows], *, is_last: bool
    ) -> tuple[Table | None, Table | None]:
        """Apply a statement to one of its tables; returns the table before and after."""
        old = self.tracked.get(item.before) if item.before is not None else None
        before = None if item.before is None else Table(item.before, ()) if old is None else old.table
        if item.after is None:
            if item.before is not None and not change.temporary:
                self.tracked.pop(item.before, None)
            return before, None
        if change.kept:
            kept = self.tracked[item.after].table
            return kept, kept
        if change.kind is K.TRUNCATE_TABLE:
            if old is not None:
                old.clear()
            return before, before
        definition = self._defined(item, old, is_last=is_last, renamed=change.kind is K.RENAME_TABLE)
        if item.before is not None:
            self.tracked.pop(item.before, None)
        if definition is None:  # rows of the table will say its columns
            return before, Table(item.after, ())
        definition = self._with_next_version(definition)
        tracked = old or TrackedRows(definition)
        if old is not None:
            rows = old.rows
            if rows and [field.column() for field in definition.fields] != list(old.table.columns):
                rows = self._reshaped(old, definition, item.origins, is_last=is_last)
                reshaped.append(TableRows(definition.table(), rows))
            tracked.define(definition, rows)
        self.tracked[item.after] = tracked
        return (tracked.table if change.kind is K.DROP_INDEX else before), tracked.table

    def _defined(
        self, item: TableChange, old: TrackedRows | None, *, is_last: bool, renamed: bool
    ) -> Definition | None:
        """The definition of a table after a statement: the server's with the spellings of the text."""
        assert item.after is not None
        previous = None if old is None else replace(old.definition, id=item.after)
        by_text = previous if renamed else item.definition
        reported = self.catalog.definition(item.after) if is_last else None
        if reported is None:
            return by_text
        return spelled(reported, [one for one in (by_text, previous) if one is not None], self.server)

    def _with_next_version(self, definition: Definition) -> Definition:
        version = self._versions.get(definition.id, -1) + 1
        self._versions[definition.id] = version
        return replace(definition, version=version)

    # ------------------------------------------------------------------------------------------------------------- rows

    def of(self, map: binlog.TableMap) -> TrackedRows:
        """The table of rows in the log. Raises UsageError if nothing says its columns."""
        id = TableId(map.database, map.table)
        tracked = self.tracked.get(id)
        layout = (map.types, map.meta, map.nullable, map.metadata)
        if tracked is not None and tracked.layout == layout:
            return tracked
        logged = metadata.definition_of(map, self.catalog.charsets, mariadb=self.server.mariadb)
        if logged is not None and (tracked is None or not self._agree(tracked.definition, logged)):
            reported = self.catalog.definition(id) if tracked is None else None
            known = [one for one in (None if tracked is None else tracked.definition, reported) if one is not None]
            tracked = self._track(spelled(logged, known, self.server), tracked)
        elif tracked is None:
            reported = self.catalog.definition(id)
            if reported is None:
                raise UsageError(
                    f"the log has rows of {id}, which the server no longer has, so its columns are unknown: begin "
                    "before its CREATE TABLE, leave its database out of --databases, or log with "
                    "binlog_row_metadata=FULL."
                )
            tracked = self._track(reported, None)
        if len(tracked.table.columns) != len(map.types):
            raise UsageError(
                f"{id} has {len(tracked.table.columns)} columns, and its rows in the log have {len(map.types)}: begin "
                "after the statement that changed the table, or log with binlog_row_metadata=FULL."
            )
        tracked.layout = layout
        return tracked

    def _track(self, definition: Definition, tracked: TrackedRows | None) -> TrackedRows:
        definition = self._with_next_version(definition)
        self.tracked[definition.id] = TrackedRows(definition)
        if tracked is not None:
            rows = self._reshaped(tracked, definition, None, is_last=False)
            self.tracked[definition.id].define(definition, rows)
        return self.tracked[definition.id]

    def _agree(self, known: Definition, logged: Definition) -> bool:
        return [field.name for field in known.fields] == [field.name for field in logged.fields] and all(
            is_same_type(pair[0].type, pair[1].type, self.server)
            for pair in zip(known.fields, logged.fields, strict=True)
        )

    def current_rows(self) -> list[TableRows]:
        """The rows of all tables, by name, and their CREATE TABLE as the server prints it."""
        return [
            TableRows(tracked.table, tracked.sorted(), self.catalog.create_table(id))
            for id, tracked in sorted(self.tracked.items(), key=lambda item: (item[0].database, item[0].name))
        ]

    def take(self) -> list[Table]:
        """All tables; their rows are dropped."""
        for tracked in self.tracked.values():
            tracked.clear()
        return [tracked.table for tracked in self.tracked.values()]

    def forget_spellings(self) -> None:
        for tracked in self.tracked.values():
            tracked.define(as_printed(tracked.definition), tracked.rows)

    def _reshaped(
        self, old: TrackedRows, definition: Definition, origins: Sequence[int] | None, *, is_last: bool
    ) -> dict[int, Row]:
        """The rows under a new definition. Cells of changed and new columns are the server's; if it has changed the
        table since, they are null until the log shows them."""
        if origins is None or len(origins) != len(definition.fields):
            positions = [old.definition.position(field.name) for field in definition.fields]
            origins = [-1 if position is None else position for position in positions]
        kept = [
            i
            for i, (field, origin) in enumerate(zip(definition.fields, origins, strict=True))
            if origin >= 0 and is_same_type(old.definition.fields[origin].type, field.type, self.server)
        ]
        rows = {
            number: tuple([row[origins[i]] if i in kept else None for i in range(len(origins))])
            for number, row in old.rows.items()
        }
        if len(kept) == len(origins) or not is_last:
            return rows
        key = [] if definition.primary is None else [definition.position(name) for name in definition.primary.names]
        if not key or not set(key) <= set(kept):
            key = [i for i in kept if type_table.family(definition.fields[i].type) not in ("json", "float")]
        read = [*(i for i in key if i is not None), *(i for i in range(len(origins)) if i not in kept)]
        columns = [(definition.fields[i].name, definition.fields[i].type) for i in read]
        with suppress(ValueError):  # a value that the connection's character set cannot hold
            return _completed(rows, read, len(key), self.catalog.cells(definition.id, columns))
        return rows


def _completed(rows: Mapping[int, Row], read: Sequence[int], keys: int, stored: Sequence[Row]) -> dict[int, Row]:
    """Rows with cells of the server: `stored` has the columns at the positions `read`, the first of which, `keys` many,
    say to which row they belong."""
    by_key: dict[Row, list[Row]] = {}
    for cells in reversed(stored):
        by_key.setdefault(cells[:keys], []).append(cells)
    completed = {}
    for number, row in rows.items():
        candidates = by_key.get(tuple([row[i] for i in read[:keys]]))
        known = dict(zip(read, candidates.pop(), strict=True)) if candidates else {}
        completed[number] = tuple([known.get(i, cell) for i, cell in enumerate(row)])
    return completed


def spelled(reported: Definition, known: Sequence[Definition], server: Server) -> Definition:
    """A definition of the server with the spellings of known ones; the first that has a column of the same name and
    type counts. The log names only the primary key: other keys are those of the first known definition."""
    fields = []
    for field in reported.fields:
        for definition in known:
            position = definition.position(field.name)
            if position is not None and is_same_type(definition.fields[position].type, field.type, server):
                # a text has the default as it was typed
                field = replace(definition.fields[position], name=field.name, nullable=field.nullable)
                break
        fields.append(field)
    first = known[0] if known else None
    charset, keys = reported.charset, reported.keys
    if first is not None and (not reported.collation or _same_charset(first.charset) == _same_charset(charset)):
        charset = first.charset
    if not reported.collation and first is not None and _names(first.primary) == _names(reported.primary):
        keys = first.keys
    return replace(
        reported,
        fields=tuple(fields),
        keys=keys,
        charset=charset,
        collation=reported.collation or ("" if first is None else first.collation),
        comment=reported.comment if reported.collation or first is None else first.comment,
        text_key=None if first is None else _known_key(first, reported),
        foreign=() if first is None else first.foreign,
        checks=() if first is None else first.checks,
    )


def _known_key(known: Definition, reported: Definition) -> tuple[str, ...] | None:
    """The key that readers of the texts know, if the table has its columns."""
    is_there = known.text_key is not None and all(reported.position(name) is not None for name in known.text_key)
    return known.text_key if is_there else None


def _same_charset(name: str) -> str:
    """One name for character sets that have two."""
    return _SAME_CHARSET.get(name, name)


def _names(key: Any) -> tuple[str, ...]:
    return () if key is None else key.names


def is_same_type(known: ColumnType, other: ColumnType, server: Server) -> bool:
    """Whether two types hold the same values; widths of integers, which the log does not have, do not count."""
    return _essence(known, server) == _essence(other, server)


def _essence(type: ColumnType, server: Server) -> tuple[str, str]:
    if type.name == "json" and server.json_is_text:
        return "longtext", "utf8mb4"
    charset = _same_charset(type.charset or "")
    if type.name in _INTEGERS or type_table.family(type) in ("float", "year", "geometry"):
        return type.name + (" unsigned" if type.unsigned or type.zerofill else ""), ""
    return type_text(replace(type, zerofill=False, length=type.length or None), style="show_create_80"), charset
