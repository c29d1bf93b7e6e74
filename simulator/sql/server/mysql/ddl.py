"""Reads a logged DDL statement: its kind, the tables that it names, and their definitions as far as the text says them.

Nothing is executed. A statement that the parser does not know keeps its kind and tables where its first words say them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from simulator.errors import UsageError
from simulator.model import SchemaChangeKind, TableId
from simulator.sql.catalog.definitions import Definition, Key
from simulator.sql.catalog.servers import Server, default_collation
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.alter_table import Alteration
from simulator.sql.parse.column_types import Context
from simulator.sql.parse.create_table import read_table
from simulator.sql.parse.server_text import by_mode, with_literal_bytes, with_version_comments
from simulator.sql.parse.table_definitions import Items, finished, table_options, without_key
from simulator.sql.parse.words import Reader

K = SchemaChangeKind
_UNREAD: Final = (SqlError, Unsupported, UsageError, RecursionError, ValueError)
# The log of MySQL 8.0 marks CREATE TABLE … AS SELECT so, anywhere among the table's options.
_AS_SELECT: Final = re.compile(r"'(?:[^'\\]|''|\\.)*'|`(?:[^`]|``)*`|\s(START TRANSACTION)\b", re.DOTALL)
# The head of a statement that cannot be cut into words.
_HEAD: Final = re.compile(
    r"\s*(CREATE|ALTER)\s+(?:OR\s+REPLACE\s+|IGNORE\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"(?:`((?:[^`]|``)+)`|([\w$]+))(?:\s*\.\s*(?:`((?:[^`]|``)+)`|([\w$]+)))?",
    re.IGNORECASE,
)
_OBJECT_KINDS: Final = {
    "VIEW": K.VIEW, "TRIGGER": K.STORED_PROGRAM, "PROCEDURE": K.STORED_PROGRAM, "FUNCTION": K.STORED_PROGRAM,
    "EVENT": K.STORED_PROGRAM, "PACKAGE": K.STORED_PROGRAM, "USER": K.ACCOUNT, "ROLE": K.ACCOUNT,
}  # fmt: skip
_OTHER_OBJECTS: Final = frozenset(("SERVER", "TABLESPACE", "SEQUENCE", "RESOURCE", "LOGFILE", "UNDO", "SPATIAL"))
_WITH_DATABASE: Final = frozenset(("VIEW", "PROCEDURE", "FUNCTION"))


@dataclass(frozen=True, slots=True)
class TableChange:
    """A table before and after a statement; None: it is created or dropped. `definition` is the new one by the text,
    `origins` are the old positions of its columns (-1: new); None if the text does not say them."""

    before: TableId | None
    after: TableId | None
    definition: Definition | None = None
    origins: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A DDL statement. `kinds` are those of all items of an ALTER TABLE; `kept`: the table exists already, and the
    statement changed nothing; `temporary`: the tables are temporary."""

    kind: K
    database: str
    tables: tuple[TableChange, ...] = ()
    kinds: tuple[K, ...] = ()
    kept: bool = False
    temporary: bool = False
    charset: tuple[str, str] | None = None  # of a database: character set and collation


@dataclass(frozen=True)
class Known:
    """Facts that reading a statement's text needs: the tables and databases before it."""

    server: Server
    definitions: Mapping[TableId, Definition]
    databases: Mapping[str, tuple[str, str]]

    def context(self, database: str) -> Context:
        charset, collation = self.databases.get(database, (self.server.charset, self.server.collation))
        return Context(self.server, database, charset, collation, self.server.old_timestamps)


def change_of(sql: str, database: str, modes: Set[str], known: Known) -> Change:
    """Read a statement, given with the current database and the sql_mode of its session."""
    text = _AS_SELECT.sub(lambda match: " " * len(match[0]) if match[1] else match[0], sql)
    with suppress(*_UNREAD):
        words = Reader(with_literal_bytes(with_version_comments(by_mode(text, modes), known.server)))
        return _Statement(words, sql, database, known).read()
    if match := _HEAD.match(sql):
        names = [(quoted or bare or "").replace("``", "`") for quoted, bare in (match.group(2, 3), match.group(4, 5))]
        id = TableId(names[0], names[1]) if names[1] else TableId(database, names[0])
        if match[1].upper() == "CREATE":
            return Change(K.CREATE_TABLE, id.database, (TableChange(None, id),))
        return Change(K.ALTER_TABLE, id.database, (TableChange(id, id),))
    return Change(K.OTHER, database)


class _Statement:
    def __init__(self, words: Reader, sql: str, database: str, known: Known) -> None:
        self.words, self.sql, self.database, self.known = words, sql, database, known

    def _id(self) -> TableId:
        database, name = self.words.qualified()
        return TableId(database or self.database, name)

    def read(self) -> Change:
        words = self.words
        verb = words.next().upper
        words.take("OR", "REPLACE")
        words.take("IGNORE")
        temporary = words.take("TEMPORARY")
        if verb in ("CREATE", "ALTER", "DROP") and words.one_of("DATABASE", "SCHEMA"):
            return self._database(verb)
        if verb in ("CREATE", "DROP") and (index := self._index(verb)):
            return index
        if verb == "CREATE" and words.take("TABLE"):
            return self._create(temporary)
        if verb == "ALTER" and words.take("TABLE"):
            return self._alter()
        if verb == "DROP" and words.one_of("TABLES", "TABLE"):
            return self._drop(temporary)
        if verb == "TRUNCATE":
            words.take("TABLE")
            id = self._id()
            return Change(K.TRUNCATE_TABLE, id.database, (TableChange(id, id),))
        if verb == "RENAME" and words.one_of("TABLES", "TABLE"):
            return self._rename()
        if verb in ("GRANT", "REVOKE", "RENAME") or (verb == "SET" and words.peek("PASSWORD")):
            return Change(K.ACCOUNT, self.database)
        if verb in ("CREATE", "ALTER", "DROP"):
            return self._object(verb)
        return Change(K.OTHER, self.database)

    def _database(self, verb: str) -> Change:
        words = self.words
        words.one_of("IF NOT EXISTS", "IF EXISTS")
        unnamed = verb == "ALTER" and words.upper in ("CHARACTER", "CHARSET", "DEFAULT", "COLLATE")
        name = self.database if unnamed else words.name()
        if verb == "DROP":
            return Change(K.DROP_DATABASE, name)
        context, charset = self.known.context(name), None
        with suppress(*_UNREAD):
            options = table_options(words, context)
            if options.charset:
                charset = (
                    options.charset,
                    options.collation or default_collation(options.charset, self.known.server),
                )
        return Change(K.CREATE_DATABASE if verb == "CREATE" else K.ALTER_DATABASE, name, charset=charset)

    def _create(self, temporary: bool) -> Change:
        words = self.words
        keeps = words.take("IF", "NOT", "EXISTS")
        id = self._id()
        definition = None
        kept = keeps and id in self.known.definitions
        with suppress(*_UNREAD):
            if words.take("LIKE") or words.take("(", "LIKE"):
                source = self.known.definitions.get(self._id())
                definition = source and replace(source, id=id, foreign=())
            elif not kept:
                new = read_table(words, id, self.known.context(id.database), self.sql)
                definition = None if new.from_query else new.definition
        return Change(K.CREATE_TABLE, id.database, (TableChange(None, id, definition),), kept=kept, temporary=temporary)

    def _alter(self) -> Change:
        id, server = self._id(), self.known.server
        definition = self.known.definitions.get(id)
        with suppress(*_UNREAD):
            old = definition or Definition(id, ())
            change = Alteration(old, self.words, server, self.database, server.old_timestamps)
            new_id = change.new_id or id
            new = None if definition is None else replace(change.typed(), id=new_id)
            database = new_id.database if change.kind is K.RENAME_TABLE else id.database
            return Change(change.kind, database, (TableChange(id, new_id, new, change.origins),), tuple(change.kinds))
        return Change(K.ALTER_TABLE, id.database, (TableChange(id, id),), (K.ALTER_TABLE,))

    def _index(self, verb: str) -> Change | None:
        words = self.words
        start = words.position
        if verb == "CREATE":
            kind = words.one_of("UNIQUE", "FULLTEXT", "SPATIAL")
            if not words.one_of("INDEX", "KEY"):
                words.position = start
                return None
        elif words.take("INDEX"):
            kind = ""
        else:
            return None
        words.one_of("IF NOT EXISTS", "IF EXISTS")
        name = words.name()
        if words.take("USING"):
            words.next()
        words.need("ON")
        id, new = self._id(), None
        old = self.known.definitions.get(id)
        with suppress(*_UNREAD):
            if old is not None and verb == "DROP":
                new = without_key(old, name)
            elif old is not None:
                key = Key(name, kind.lower() or "index", tuple(words.names_in_brackets()))
                new = finished(old.with_text_keys([key]), Items(keys=[key]), mariadb=self.known.server.mariadb)
        kinds = K.DROP_INDEX if verb == "DROP" else K.CREATE_INDEX
        return Change(kinds, id.database, (TableChange(id, id, new),))

    def _drop(self, temporary: bool) -> Change:
        words = self.words
        words.take("IF", "EXISTS")
        ids = [self._id()]
        while words.take(","):
            ids.append(self._id())
        tables = tuple(TableChange(id, None) for id in ids)
        return Change(K.DROP_TABLE, ids[0].database, tables, temporary=temporary)

    def _rename(self) -> Change:
        words, tables = self.words, list[TableChange]()
        words.take("IF", "EXISTS")
        while True:
            old = self._id()
            words.need("TO")
            tables.append(TableChange(old, self._id()))
            if not words.take(","):
                break
        assert tables[0].after is not None
        return Change(K.RENAME_TABLE, tables[0].after.database, tuple(tables))

    def _object(self, verb: str) -> Change:
        words = self.words
        while not words.done and words.upper not in _OBJECT_KINDS and words.upper not in _OTHER_OBJECTS:
            words.next()
        type = words.upper
        kind, database = _OBJECT_KINDS.get(type, K.OTHER), self.database
        if type in _WITH_DATABASE:
            words.next()
            words.one_of("IF NOT EXISTS", "IF EXISTS")
            database = words.qualified()[0] or database
        return Change(K.ALTER_VIEW if kind is K.VIEW and verb == "ALTER" else kind, database)
