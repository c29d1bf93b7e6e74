"""ALTER TABLE: applies the items of a statement one by one to a copy of the table's definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulator.model import SchemaChangeKind, TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Definition, Field, Key
from simulator.sql.catalog.servers import Server, default_collation
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.column_types import Context, check_charset
from simulator.sql.parse.table_definitions import (
    Items,
    column,
    constraint,
    finished,
    partition_word,
    table_options,
    without_key,
)
from simulator.sql.parse.words import Reader

K = SchemaChangeKind

# Operations on single partitions, which are not supported.
_PARTITION_WORDS: Final = (
    "TRUNCATE", "EXCHANGE", "REORGANIZE", "COALESCE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REPAIR", "DISCARD",
    "IMPORT",
)  # fmt: skip


class Alteration:
    """The items of an ALTER TABLE. `definition` is the table's new definition, still under its old name.

    `origins` are the old positions of its columns, -1 for new ones; `database` is the current one of the session.
    Raises SqlError, Unsupported.
    """

    def __init__(self, definition: Definition, words: Reader, server: Server, database: str, timestamps: bool) -> None:
        self.words, self.server, self.database = words, server, database
        self.definition = replace(definition, text_key=definition.known_text_key)
        self.origins = list(range(len(definition.fields)))
        self.kinds: list[K] = []
        self.new_id: TableId | None = None
        self.auto: int | None = None
        self.null_fails = False  # a primary key is added
        self._types: list[str] = []
        self._touched: set[str] = set()
        self.context = Context(server, definition.id.database, definition.charset, definition.collation, timestamps)
        self._read()

    def _read(self) -> None:
        words = self.words
        while not words.done:
            self._item()
            if not words.take(",") and not words.done:
                raise words.problem()

    def _item(self) -> None:
        words = self.words
        if words.take("ADD"):
            self._add()
        elif words.take("DROP"):
            self._drop()
        elif words.one_of("MODIFY COLUMN", "MODIFY"):
            position = self._next_column()
            self._redefine(position)
        elif words.one_of("CHANGE COLUMN", "CHANGE"):
            position = self._find(words.name())
            self._redefine(position)
        elif words.one_of("ALTER COLUMN", "ALTER"):
            self._alter_column()
        elif words.take("RENAME"):
            self._rename()
        elif words.take("CONVERT", "TO"):
            words.one_of("CHARACTER SET", "CHARSET")
            charset = words.next().value.lower()
            collation = words.next().value.lower() if words.take("COLLATE") else ""
            self._convert(charset, collation or default_collation(charset, self.server))
        elif words.take("ORDER", "BY"):
            words.name()
            while words.take(","):
                words.name()
            self.kinds.append(K.ALTER_TABLE)
        elif clause := words.one_of("REMOVE PARTITIONING", "PARTITION BY"):
            partitioned = partition_word(words)
            self.definition = replace(self.definition, partitioned=partitioned if clause == "PARTITION BY" else "")
            self.kinds.append(K.ALTER_TABLE)
        elif words.upper in ("DISCARD", "IMPORT") and words.peek(words.upper, "TABLESPACE"):
            raise Unsupported(f"{words.upper} TABLESPACE")
        elif words.upper in _PARTITION_WORDS and words.peek(words.upper, "PARTITION"):
            raise Unsupported(f"{words.upper} PARTITION")
        elif words.one_of("ENABLE KEYS", "DISABLE KEYS", "FORCE"):
            self.kinds.append(K.TABLE_OPTIONS)
        elif words.one_of("ALGORITHM", "LOCK"):
            words.take("=")
            words.next()
        else:
            options = table_options(words, self.context)
            charset, collation = options.charset, options.collation
            if not options.present:
                raise words.problem()
            self.auto = options.auto if options.auto is not None else self.auto
            if options.transactional is not None:
                self.definition = replace(self.definition, transactional=options.transactional)
            if options.comment is not None:
                self.definition = replace(self.definition, comment=options.comment)
            if charset or collation:
                charset = charset or self.definition.charset
                collation = collation or default_collation(charset, self.server)
                self.definition = replace(self.definition, charset=charset, collation=collation)
            self.kinds.append(K.TABLE_OPTIONS)

    # ------------------------------------------------------------------------------------------------------------ items

    def _add(self) -> None:
        words, items, before = self.words, Items(), self.definition
        if words.peek("PARTITION"):
            words.skip_all()
            self.kinds.append(K.ALTER_TABLE)
            return
        if constraint(words, self.context, items):
            self._type_keys(before, items.keys)
            self.definition = finished(self.definition, items, mariadb=self.server.mariadb)
            self.null_fails = any(key.kind == "primary" for key in items.keys)
            constraint_only = bool(items.foreign or items.checks)
            self.kinds.append(K.ADD_CONSTRAINT if constraint_only else K.CREATE_INDEX)
            return
        words.take("COLUMN")
        if self.server.mariadb and words.take("IF", "NOT", "EXISTS"):
            existing = self.definition.position(words.words[words.position].value) if not words.done else None
            if existing is not None:
                raise Unsupported("ADD COLUMN IF NOT EXISTS of a column that is there")
        several = words.take("(")
        while True:
            first_key = len(items.keys)
            if several and constraint(words, self.context, items):
                self._type_keys(before, items.keys[first_key:])
            else:
                field = column(words, self.context, items)
                position = len(self.definition.fields)
                if not several:
                    position = self._new_position(position)
                self._insert(position, field, -1)
                self._touched.add(field.name.lower())
                self._type_keys(before, items.keys[first_key:], with_column=True, several=several)
            if not several or words.take(")"):
                break
            words.need(",")
        self._types += items.types
        self.definition = finished(self.definition, items, mariadb=self.server.mariadb)
        self.kinds.append(K.ADD_COLUMN)

    def _type_keys(
        self, before: Definition, keys: list[Key], *, with_column: bool = False, several: bool = False
    ) -> None:
        """Takes typed keys into the one that Debezium's parser knows. That of MySQL passes over UNIQUE with a column,
        and over all keys with columns that are added together; constraints of these may name columns that were there
        `before`."""
        if with_column and not self.server.mariadb:
            keys = [] if several else [key for key in keys if key.kind == "primary"]
        known = replace(before, text_key=self.definition.text_key).with_text_keys(keys, typed_with_column=with_column)
        self.definition = replace(self.definition, text_key=known.text_key)

    def _new_position(self, position: int) -> int:
        words = self.words
        if words.take("FIRST"):
            return 0
        if words.take("AFTER"):
            return self._find(words.name()) + 1
        return position

    def _insert(self, position: int, field: Field, origin: int) -> None:
        fields = list(self.definition.fields)
        fields.insert(position, field)
        self.origins.insert(position, origin)
        self.definition = replace(self.definition, fields=tuple(fields))

    def _find(self, name: str) -> int:
        position = self.definition.position(name)
        if position is None:
            raise SqlError(1054, name, self.definition.id.name)
        return position

    def _next_column(self) -> int:
        """The position of the column whose name comes next; the reader stays before the name."""
        position = self._find(self.words.name())
        self.words.position -= 1
        return position

    def _redefine(self, position: int) -> None:
        old = self.definition.fields[position]
        items = Items()
        new = column(self.words, self.context, items)
        primary = self.definition.primary
        if primary is not None and old.name in primary.names:
            new = replace(new, nullable=False, retyped=not new.inline_key and (old.inline_key or old.retyped))
        fields = list(self.definition.fields)
        del fields[position]
        origin = self.origins.pop(position)
        self._rename_in_keys(old.name, new.name)
        self.definition = replace(self.definition, fields=tuple(fields))
        self._insert(self._new_position(position), new, origin)
        self._type_keys(self.definition, items.keys, with_column=True)
        self._touched.add(new.name.lower())
        self.definition = finished(self.definition, items, mariadb=self.server.mariadb)
        self._types += items.types
        self.kinds.append(K.ALTER_COLUMN_TYPE if old.name == new.name else K.RENAME_COLUMN)

    def _drop(self) -> None:
        words = self.words
        if words.take("PRIMARY", "KEY"):
            if self.definition.primary is None:
                raise SqlError(1091, "PRIMARY", "INDEX")
            keys = tuple(key for key in self.definition.keys if key.kind != "primary")
            unkeyed = tuple(replace(field, inline_key=False, retyped=False) for field in self.definition.fields)
            self.definition = replace(self.definition, keys=keys, fields=unkeyed, text_key=())
            self.kinds.append(K.ALTER_TABLE)
        elif words.take("FOREIGN", "KEY"):
            name = words.name()
            remaining = tuple(key for key in self.definition.foreign if key.name.lower() != name.lower())
            if len(remaining) == len(self.definition.foreign):
                raise SqlError(1091, name, "FOREIGN KEY")
            self.definition = replace(self.definition, foreign=remaining)
            self.kinds.append(K.DROP_FOREIGN_KEY)
        elif words.one_of("INDEX", "KEY"):
            self.definition = without_key(self.definition, words.name())
            self.kinds.append(K.DROP_INDEX)
        elif words.upper in ("CHECK", "CONSTRAINT") and self.server.checks:
            if words.next().upper == "CHECK" and self.server.mariadb:
                raise words.problem()
            self._drop_constraint(words.name())
        else:
            if words.peek("PARTITION"):
                raise Unsupported("DROP PARTITION")
            words.take("COLUMN")
            if self.server.mariadb and words.take("IF", "EXISTS"):
                if self.definition.position(words.words[words.position].value) is None:
                    words.name()
                    self.kinds.append(K.DROP_COLUMN)
                    return
            elif words.peek("IF", "EXISTS"):
                raise words.problem()
            position = self._find_dropped(words.name())
            name = self.definition.fields[position].name
            fields = list(self.definition.fields)
            del fields[position], self.origins[position]
            if not fields:
                raise SqlError(1090)
            remaining_keys = [_without_column(key, name) for key in self.definition.keys]
            self.definition = replace(
                self.definition,
                fields=tuple(fields),
                keys=tuple(key for key in remaining_keys if key.columns),
                text_key=tuple(part for part in self.definition.known_text_key if part.lower() != name.lower()),
            )
            self.kinds.append(K.DROP_COLUMN)

    def _find_dropped(self, name: str) -> int:
        position = self.definition.position(name)
        if position is None:
            raise SqlError(1091, name, "COLUMN")
        return position

    def _drop_constraint(self, name: str) -> None:
        definition = self.definition
        checks = tuple(check for check in definition.checks if check[0].lower() != name.lower())
        if len(checks) < len(definition.checks):
            self.definition = replace(definition, checks=checks)
        elif any(key.name.lower() == name.lower() for key in definition.foreign):
            remaining = tuple(key for key in definition.foreign if key.name.lower() != name.lower())
            self.definition = replace(definition, foreign=remaining)
        else:
            self.definition = without_key(definition, name)
        self.kinds.append(K.DROP_INDEX)

    def _alter_column(self) -> None:
        words = self.words
        if words.peek("CHECK") or words.peek("CONSTRAINT"):
            raise Unsupported(f"ALTER {words.upper}")
        if words.take("INDEX"):  # the embedded engine ignores whether queries see an index
            words.name()
            server = self.server
            states = ("IGNORED", "NOT IGNORED") if server.mariadb else ("VISIBLE", "INVISIBLE") if server.modern else ()
            if not words.one_of(*states):
                raise words.problem()
            self.kinds.append(K.ALTER_TABLE)
            return
        position = self._find(words.name())
        field = self.definition.fields[position]
        if words.take("SET", "DEFAULT"):
            start = words.position
            if words.peek("("):
                words.brackets()
            else:
                words.one_of("-", "+")
                words.next()
            changed = replace(field, default=words.between(start, words.position), default_dropped=False)
        elif words.take("DROP", "DEFAULT"):
            changed = replace(field, default=None, default_dropped=not self.server.mariadb)
        elif self.server.modern and (visibility := words.one_of("SET INVISIBLE", "SET VISIBLE")):
            changed = replace(field, invisible=visibility == "SET INVISIBLE")
        else:
            raise words.problem()
        self._replace(position, changed)
        self.kinds.append(K.ALTER_TABLE)

    def _replace(self, position: int, field: Field) -> None:
        fields = list(self.definition.fields)
        fields[position] = field
        self.definition = replace(self.definition, fields=tuple(fields))

    def _rename(self) -> None:
        words = self.words
        if words.upper == "COLUMN":
            if not self.server.modern:
                raise words.problem()
            words.next()
            position = self._find(words.name())
            words.need("TO")
            old, new = self.definition.fields[position].name, words.name()
            if self.definition.position(new) not in (None, position):
                raise SqlError(1060, new)
            self._replace(position, replace(self.definition.fields[position], name=new))
            self._rename_in_keys(old, new)
            self.kinds.append(K.RENAME_COLUMN)
        elif words.one_of("INDEX", "KEY"):
            name = words.name()
            words.need("TO")
            new = words.name()
            if not any(key.name.lower() == name.lower() for key in self.definition.keys):
                raise SqlError(1176, name, self.definition.id.name)
            keys = tuple(
                replace(key, name=new) if key.name.lower() == name.lower() else key for key in self.definition.keys
            )
            self.definition = replace(self.definition, keys=keys)
            self.kinds.append(K.ALTER_TABLE)
        else:
            words.one_of("TO", "AS")
            database, name = words.qualified()
            self.new_id = TableId(database or self.database, name)
            self.kinds.append(K.RENAME_TABLE)

    def _rename_in_keys(self, old: str, new: str) -> None:
        keys = tuple(_renamed_key(key, old, new) for key in self.definition.keys)
        text_key = tuple(new if name.lower() == old.lower() else name for name in self.definition.known_text_key)
        self.definition = replace(self.definition, keys=keys, text_key=text_key)

    def _convert(self, charset: str, collation: str) -> None:
        check_charset(charset)
        fields = tuple(
            replace(field, type=replace(field.type, charset=charset), collation=collation)
            if mysql_table.family(field.type) in ("text", "enum", "set")
            else replace(field, collation=collation)
            if field.type.name == "json"
            else field
            for field in self.definition.fields
        )
        self.definition = replace(self.definition, fields=fields, charset=charset, collation=collation)
        self.kinds.append(K.ALTER_TABLE)

    def typed(self) -> Definition:
        """The new definition with the types as this statement spells them."""
        # columns that this statement defined; the other columns keep their types as typed
        types = tuple(self._types)
        fields = tuple(
            replace(field, typed_in=types) if field.name.lower() in self._touched else field
            for field in self.definition.fields
        )
        if self.new_id is not None and len(self.kinds) > 1:
            # readers of the log classify the statement by its first item and do not learn the new name (captured)
            fields = tuple(replace(field, typed_in=()) for field in fields)
        return replace(self.definition, fields=fields)

    @property
    def kind(self) -> K:
        return self.kinds[0] if self.kinds else K.TABLE_OPTIONS


def _renamed_key(key: Key, old: str, new: str) -> Key:
    columns = tuple((new if name.lower() == old.lower() else name, length) for name, length in key.columns)
    return replace(key, columns=columns)


def _without_column(key: Key, name: str) -> Key:
    return replace(key, columns=tuple(part for part in key.columns if part[0].lower() != name.lower()))
