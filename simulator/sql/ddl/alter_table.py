"""ALTER TABLE: applies the items one by one to a copy of the definition, and converts the rows when all succeeded."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulator.model import SchemaChangeKind, TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Field, Key
from simulator.sql.catalog.servers import default_collation
from simulator.sql.ddl import altered_rows, tables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.table_plans import check_definition
from simulator.sql.parse.column_types import Context, check_charset
from simulator.sql.parse.table_definitions import Items, column, constraint, finished, table_options
from simulator.sql.parse.words import Reader
from simulator.sql.store.rows import Data
from simulator.sql.store.session import Session

K = SchemaChangeKind


def alter_table(session: Session, words: Reader, sql: str) -> None:
    data = session.table(*words.qualified())
    change = _Alter(session, data, words)
    before = data.table
    change.read()
    change.apply()
    if data.definition.temporary:
        return
    kind = change.kinds[0] if change.kinds else K.TABLE_OPTIONS
    after = data.table
    if change.new_id is not None:
        _, after = tables.renamed(session, data.definition.id, change.new_id)
    database = before.id.database if kind is not K.RENAME_TABLE else ""
    tables.log(session, kind, before, after, sql, database, kinds=tuple(change.kinds))


# Operations on single partitions, which are not supported.
_PARTITION_WORDS: Final = (
    "TRUNCATE", "EXCHANGE", "REORGANIZE", "COALESCE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REPAIR", "DISCARD",
    "IMPORT",
)  # fmt: skip


class _Alter:
    def __init__(self, session: Session, data: Data, words: Reader) -> None:
        self.session, self.data, self.words = session, data, words
        self.definition = data.definition
        # The old position of each column, -1 for a new one.
        self.origin = list(range(len(data.definition.fields)))
        self.kinds: list[K] = []
        self.new_id: TableId | None = None
        self.auto: int | None = None
        self.items = Items()
        self.defined: list[str] = []
        self.touched: set[str] = set()
        self.null_fails = False  # a primary key is added
        d = data.definition
        self.context = Context(
            session.server, d.id.database, d.charset, d.collation, bool(session.settings["old_timestamps"])
        )

    def read(self) -> None:
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
            self._convert(charset, collation or default_collation(charset, self.session.server))
        elif words.take("ORDER", "BY"):
            words.name()
            while words.take(","):
                words.name()
            self.kinds.append(K.ALTER_TABLE)
        elif clause := words.one_of("REMOVE PARTITIONING", "PARTITION BY"):
            words.skip_all()
            if clause == "PARTITION BY":
                self.session.warnings.append(tables.PARTITIONED)
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
            if charset or collation:
                charset = charset or self.definition.charset
                collation = collation or default_collation(charset, self.session.server)
                self.definition = replace(self.definition, charset=charset, collation=collation)
            self.kinds.append(K.TABLE_OPTIONS)

    # ------------------------------------------------------------------------------------------------------------ items

    def _add(self) -> None:
        words, items = self.words, Items()
        if words.peek("PARTITION"):
            words.skip_all()
            self.kinds.append(K.ALTER_TABLE)
            return
        if constraint(words, self.context, items):
            self.definition = finished(self.definition, items, mariadb=self.session.server.mariadb)
            self.null_fails = any(key.kind == "primary" for key in items.keys)
            constraint_only = bool(items.foreign or items.checks)
            self.kinds.append(K.ADD_CONSTRAINT if constraint_only else K.CREATE_INDEX)
            return
        words.take("COLUMN")
        if self.session.server.mariadb and words.take("IF", "NOT", "EXISTS"):
            existing = self.definition.position(words.words[words.at].value) if not words.done else None
            if existing is not None:
                raise Unsupported("ADD COLUMN IF NOT EXISTS of a column that is there")
        several = words.take("(")
        while True:
            if several and constraint(words, self.context, items):
                pass
            else:
                field = column(words, self.context, items)
                at = len(self.definition.fields)
                if not several:
                    at = self._new_position(at)
                self._insert(at, field, -1)
                self.touched.add(field.name.lower())
            if not several or words.take(")"):
                break
            words.need(",")
        self.defined += items.types
        self.definition = finished(self.definition, items, mariadb=self.session.server.mariadb)
        self.kinds.append(K.ADD_COLUMN)

    def _new_position(self, at: int) -> int:
        words = self.words
        if words.take("FIRST"):
            return 0
        if words.take("AFTER"):
            return self._find(words.name()) + 1
        return at

    def _insert(self, at: int, field: Field, origin: int) -> None:
        fields = list(self.definition.fields)
        fields.insert(at, field)
        self.origin.insert(at, origin)
        self.definition = replace(self.definition, fields=tuple(fields))

    def _find(self, name: str) -> int:
        position = self.definition.position(name)
        if position is None:
            raise SqlError(1054, name, self.definition.id.name)
        return position

    def _next_column(self) -> int:
        """The position of the column whose name comes next; the reader stays before the name."""
        position = self._find(self.words.name())
        self.words.at -= 1
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
        origin = self.origin.pop(position)
        keys = tuple(_renamed_key(key, old.name, new.name) for key in self.definition.keys)
        self.definition = replace(self.definition, fields=tuple(fields), keys=keys)
        self._insert(self._new_position(position), new, origin)
        self.touched.add(new.name.lower())
        self.definition = finished(self.definition, items, mariadb=self.session.server.mariadb)
        self.defined += items.types
        self.kinds.append(K.ALTER_COLUMN_TYPE if old.name == new.name else K.RENAME_COLUMN)

    def _drop(self) -> None:
        words = self.words
        if words.take("PRIMARY", "KEY"):
            if self.definition.primary is None:
                raise SqlError(1091, "PRIMARY", "INDEX")
            keys = tuple(key for key in self.definition.keys if key.kind != "primary")
            unkeyed = tuple(replace(field, inline_key=False, retyped=False) for field in self.definition.fields)
            self.definition = replace(self.definition, keys=keys, fields=unkeyed)
            self.kinds.append(K.ALTER_TABLE)
        elif words.take("FOREIGN", "KEY"):
            name = words.name()
            remaining = tuple(key for key in self.definition.foreign if key.name.lower() != name.lower())
            if len(remaining) == len(self.definition.foreign):
                raise SqlError(1091, name, "FOREIGN KEY")
            self.definition = replace(self.definition, foreign=remaining)
            self.kinds.append(K.DROP_FOREIGN_KEY)
        elif words.one_of("INDEX", "KEY"):
            self.definition = tables.without_key(self.definition, words.name())
            self.kinds.append(K.DROP_INDEX)
        elif words.upper in ("CHECK", "CONSTRAINT") and self.session.server.checks:
            if words.next().upper == "CHECK" and self.session.server.mariadb:
                raise words.problem()
            self._drop_constraint(words.name())
        else:
            if words.peek("PARTITION"):
                raise Unsupported("DROP PARTITION")
            words.take("COLUMN")
            if self.session.server.mariadb and words.take("IF", "EXISTS"):
                if self.definition.position(words.words[words.at].value) is None:
                    words.name()
                    self.kinds.append(K.DROP_COLUMN)
                    return
            elif words.peek("IF", "EXISTS"):
                raise words.problem()
            position = self._find_dropped(words.name())
            name = self.definition.fields[position].name
            fields = list(self.definition.fields)
            del fields[position], self.origin[position]
            if not fields:
                raise SqlError(1090)
            remaining_keys = [_without_column(key, name) for key in self.definition.keys]
            self.definition = replace(
                self.definition, fields=tuple(fields), keys=tuple(key for key in remaining_keys if key.columns)
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
            self.definition = tables.without_key(definition, name)
        self.kinds.append(K.DROP_INDEX)

    def _alter_column(self) -> None:
        words = self.words
        if words.peek("CHECK") or words.peek("CONSTRAINT"):
            raise Unsupported(f"ALTER {words.upper}")
        if words.take("INDEX"):  # the embedded engine ignores whether queries see an index
            words.name()
            server = self.session.server
            states = ("IGNORED", "NOT IGNORED") if server.mariadb else ("VISIBLE", "INVISIBLE") if server.modern else ()
            if not words.one_of(*states):
                raise words.problem()
            self.kinds.append(K.ALTER_TABLE)
            return
        position = self._find(words.name())
        field = self.definition.fields[position]
        if words.take("SET", "DEFAULT"):
            start = words.at
            if words.peek("("):
                words.brackets()
            else:
                words.one_of("-", "+")
                words.next()
            changed = replace(field, default=words.between(start, words.at), default_dropped=False)
        elif words.take("DROP", "DEFAULT"):
            changed = replace(field, default=None, default_dropped=not self.session.server.mariadb)
        elif self.session.server.modern and (visibility := words.one_of("SET INVISIBLE", "SET VISIBLE")):
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
            if not self.session.server.modern:
                raise words.problem()
            words.next()
            position = self._find(words.name())
            words.need("TO")
            old, new = self.definition.fields[position].name, words.name()
            if self.definition.position(new) not in (None, position):
                raise SqlError(1060, new)
            self._replace(position, replace(self.definition.fields[position], name=new))
            keys = tuple(_renamed_key(key, old, new) for key in self.definition.keys)
            self.definition = replace(self.definition, keys=keys)
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
            self.new_id = self.session.table_id(*words.qualified())
            if self.session.find_table(self.new_id) is not None:
                raise SqlError(1050, self.new_id.name)
            self.kinds.append(K.RENAME_TABLE)

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

    # ------------------------------------------------------------------------------------------------------------ apply

    def apply(self) -> None:
        """Convert the rows and take the new definition. An error leaves the table as it was. Raises SqlError."""
        session, data = self.session, self.data
        # columns that this statement defined; the other columns keep their types as typed
        types = tuple(self.defined)
        fields = tuple(
            replace(field, typed_in=types) if field.name.lower() in self.touched else field
            for field in self.definition.fields
        )
        if self.new_id is not None and len(self.kinds) > 1:
            # readers of the log classify the statement by its first item and do not learn the new name (captured)
            fields = tuple(replace(field, typed_in=()) for field in fields)
        definition = replace(self.definition, fields=fields)
        old = data.definition, data.rows, data.next_auto
        try:
            data.rows = altered_rows.converted(session, data, fields, self.origin, null_fails=self.null_fails)
            data.define(session.with_next_version(definition))
            check_definition(data, session)
            altered_rows.fill(session, data, self.origin)
        except (SqlError, Unsupported):
            data.rows = old[1]
            data.define(old[0])
            data.next_auto = old[2]
            raise
        if self.auto is not None:
            data.next_auto = max(self.auto, data.next_auto if data.rows else 1)


def _renamed_key(key: Key, old: str, new: str) -> Key:
    columns = tuple((new if name.lower() == old.lower() else name, length) for name, length in key.columns)
    return replace(key, columns=columns)


def _without_column(key: Key, name: str) -> Key:
    return replace(key, columns=tuple(part for part in key.columns if part[0].lower() != name.lower()))
