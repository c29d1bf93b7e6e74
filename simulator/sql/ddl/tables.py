"""CREATE, DROP, RENAME and TRUNCATE of databases, tables and indexes, with the texts that a server logs for them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from simulator.model import SchemaChangeKind, Table, TableId, TableVersions
from simulator.sql.catalog.definitions import Database, Definition, Key
from simulator.sql.catalog.servers import default_collation
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.table_plans import check_definition
from simulator.sql.parse.column_types import Context
from simulator.sql.parse.table_definitions import Items, finished, table_options, without_key
from simulator.sql.parse.words import Reader, quoted
from simulator.sql.store import foreign_keys
from simulator.sql.store.rows import Data
from simulator.sql.store.session import Session
from simulator.stream.literal.transactions import Ddl

K = SchemaChangeKind


def log(
    session: Session,
    kind: K,
    before: Table | None,
    after: Table | None,
    sql: str,
    database: str = "",
    *,
    kinds: tuple[K, ...] = (),
    more: tuple[TableVersions, ...] = (),
) -> None:
    table = after or before
    database = database or (table.id.database if table else "")
    session.log_ddl(Ddl(kind, database, before, after, sql, session.now_ms, kinds, more))


def warn_of_partitions(session: Session, definition: Definition) -> None:
    """Partitions are not simulated: HASH and KEY have one for each row, RANGE and LIST may have none."""
    if definition.partitioned in ("RANGE", "LIST"):
        session.statement.warnings.append(
            "a server refuses a row for which this table has no partition; here it does not"
        )


def name_only(id: TableId) -> Table:
    """A table of which only the name is known."""
    return Table(id, ())


# ----------------------------------------------------------------------------------------------------------- databases


def create_database(session: Session, words: Reader, sql: str) -> None:
    exists = words.take("IF", "NOT", "EXISTS")
    name = words.name()
    options = table_options(words, context_of(session, name))
    charset, collation = options.charset, options.collation
    words.need_end()
    if name in session.objects.databases:
        if not exists:
            raise SqlError(1007, name)
    else:
        charset = charset or session.server.charset
        session.objects.databases[name] = Database(
            name, charset, collation or default_collation(charset, session.server)
        )
    log(session, K.CREATE_DATABASE, None, None, sql, name)


def drop_database(session: Session, words: Reader, sql: str) -> None:
    exists = words.take("IF", "EXISTS")
    name = words.name()
    database = session.objects.databases.get(name)
    if database is None:
        if not exists:
            raise SqlError(1008, name)
        log(session, K.DROP_DATABASE, None, None, sql, name)
        return
    if session.connection.settings["foreign_key_checks"]:
        for data in list(database.tables.values()):
            _check_no_children(session, data, except_database=name)
    del session.objects.databases[name]
    session.objects.triggers = [trigger for trigger in session.objects.triggers if trigger.database != name]
    if session.connection.database == name:
        session.connection.database = ""
    log(session, K.DROP_DATABASE, None, None, sql, name)


def alter_database(session: Session, words: Reader, sql: str) -> None:
    name = (
        session.connection.database if words.upper in ("CHARACTER", "CHARSET", "DEFAULT", "COLLATE") else words.name()
    )
    if name not in session.objects.databases:
        raise SqlError(1049, name)
    options = table_options(words, context_of(session, name))
    charset, collation = options.charset, options.collation
    words.need_end()
    database = session.objects.databases[name]
    database.charset = charset or database.charset
    database.collation = collation or default_collation(database.charset, session.server)
    log(session, K.ALTER_DATABASE, None, None, sql, name)


def context_of(session: Session, database: str) -> Context:
    owner = session.objects.databases.get(database)
    charset = owner.charset if owner else session.server.charset
    collation = owner.collation if owner else session.server.collation
    return Context(session.server, database, charset, collation, bool(session.connection.settings["old_timestamps"]))


# -------------------------------------------------------------------------------------------------------------- tables


# Collations whose order of ASCII texts is that of their letters without case, or of their codes.
_ORDERED: Final = re.compile(
    r"(utf8(mb[34])?|ucs2|utf16|utf16le|utf32)_(bin|general_ci|unicode_ci|unicode_520_ci|0900_ai_ci)|binary"
    r"|(?!utf8|ucs|utf|latin7_general)(?!.*(nopad|turkish|thai|lithuanian|estonian|czech)).*(_ci|_bin)"
)


def check_keys(session: Session, definition: Definition, old: Definition | None = None) -> None:
    """Raises Unsupported for a collation that is not simulated, and for a dropped index that a foreign key needs."""
    for collation in {definition.collation, *(field.collation for field in definition.fields)}:
        if collation and _ORDERED.fullmatch(collation) is None:
            raise Unsupported(f"the collation {collation}")
    if old is None or old.keys == definition.keys or not session.connection.settings["foreign_key_checks"]:
        return
    links = [link.columns for link in definition.foreign if link in old.foreign]
    for data in session.all_tables():
        links += [link.parent_columns for link in data.definition.foreign if link.parent == old.id]
    for columns in links:
        if _is_indexed(old, columns) and not _is_indexed(definition, columns):
            raise Unsupported("dropping an index that a foreign key needs")


def _is_indexed(definition: Definition, columns: tuple[str, ...]) -> bool:
    lowered = [name.lower() for name in columns]
    return any([name.lower() for name in key.names[: len(columns)]] == lowered for key in definition.keys)


def add_table(session: Session, definition: Definition, sql: str, temporary: bool, next_auto: int = 1) -> Data:
    """Add a new table and log it."""
    check_keys(session, definition)
    foreign_keys.check_foreign_keys(session, definition)
    data = Data(session.with_next_version(definition))
    check_definition(data, session)
    data.next_auto = next_auto
    if temporary:
        session.connection.temporary[definition.id] = data
    else:
        session.objects.databases[definition.id.database].tables[definition.id.name] = data
        log(session, K.CREATE_TABLE, None, data.table, sql)
    return data


def drop_table(session: Session, words: Reader, *, temporary: bool) -> None:
    exists = words.take("IF", "EXISTS")
    ids: list[tuple[str, TableId]] = []
    while True:
        typed, name = words.qualified()
        ids.append((typed, session.table_id(typed, name)))
        if not words.take(","):
            break
    words.one_of("RESTRICT", "CASCADE")
    words.need_end()
    temporary_ids = [id for _, id in ids if id in session.connection.temporary]
    permanent = [(typed, id) for typed, id in ids if id not in session.connection.temporary]
    if temporary and permanent and not exists:
        raise SqlError(1051, ",".join(str(id) for _, id in permanent))
    missing = [id for _, id in permanent if session.find_table(id) is None]
    failure = SqlError(1051, ",".join(map(str, missing))) if missing and not exists else None
    if failure is not None and (not session.server.drops_existing or len(missing) == len(permanent)):
        raise failure
    for _, id in permanent:
        data = session.find_table(id)
        if data is not None:
            _check_no_children(session, data, except_database="", dropped=[other for _, other in permanent])
    for id in temporary_ids:
        del session.connection.temporary[id]
    dropped = temporary_ids + ([id for _, id in permanent] if temporary and exists else [])
    if dropped and session.server.logs_temporary_drop:
        names = ",".join(logged_name(session, id) for id in dropped)
        text = f"DROP TEMPORARY TABLE IF EXISTS {names} /* generated by server */"
        log(session, K.DROP_TABLE, name_only(dropped[0]), None, text)
    if temporary or not permanent:
        return
    versions: list[TableVersions] = []
    for _, id in permanent:
        data = session.find_table(id)
        versions.append((name_only(id) if data is None else data.table, None))
    for _, id in permanent:
        if session.find_table(id) is not None:
            del session.objects.databases[id.database].tables[id.name]
            session.objects.triggers = [trigger for trigger in session.objects.triggers if trigger.table != id]
    if not session.server.drops_existing:  # existing tables come first
        permanent = [pair for pair in permanent if pair[1] not in missing] + [
            pair for pair in permanent if pair[1] in missing
        ]
    if session.server.text_per_table:
        for (_, id), (version, _) in zip(permanent, versions, strict=True):
            if id not in missing:
                text = f"DROP TABLE {quoted(id.database)}.{quoted(id.name)}"
                log(session, K.DROP_TABLE, version, None, text)
        return
    names = ",".join(logged_name(session, id) for _, id in permanent)
    text = f"DROP TABLE {'IF EXISTS ' if exists else ''}{names} /* generated by server */"
    log(session, K.DROP_TABLE, *versions[0], text, more=tuple(versions[1:]))
    if failure is not None:
        raise failure


def logged_name(session: Session, id: TableId) -> str:
    """The back-quoted name, with the database unless it is the current one."""
    return quoted(id.name) if id.database == session.connection.database else f"{quoted(id.database)}.{quoted(id.name)}"


def _check_no_children(
    session: Session, data: Data, *, except_database: str, dropped: list[TableId] | None = None, truncates: bool = False
) -> None:
    if not session.connection.settings["foreign_key_checks"]:
        return
    for child in session.all_tables():
        id = child.definition.id
        for key in child.definition.foreign:
            refers = key.parent == data.definition.id and id != key.parent
            if refers and id.database != except_database and id not in (dropped or ()):
                if truncates:
                    names = f"`{id.database}`.`{id.name}`, CONSTRAINT `{key.name}`"
                    raise SqlError(
                        1701, names if session.server.id == "mysql-8.0" else foreign_keys.constraint_text(child, key)
                    )
                if session.server.id != "mysql-8.0":
                    raise SqlError(14510 if session.server.mariadb else 1217)
                raise SqlError(3730, data.definition.id.name, key.name, id.name)


def truncate(session: Session, words: Reader, sql: str) -> None:
    words.take("TABLE")
    data = session.table(*words.qualified())
    words.need_end()
    _check_no_children(session, data, except_database="", truncates=True)
    data.clear()
    if not data.definition.temporary:
        log(session, K.TRUNCATE_TABLE, data.table, data.table, sql)


def rename(session: Session, words: Reader, sql: str) -> None:
    pairs: list[tuple[TableId, TableId]] = []
    while True:
        old = session.table_id(*words.qualified())
        exists = session.find_table(old) is not None or old in [new for _, new in pairs]
        if not exists and session.server.id == "mysql-5.7":
            raise SqlError(1017, f"./{old.database}/{old.name}.frm", 2, "No such file or directory")
        words.need("TO")
        pairs.append((old, session.table_id(*words.qualified())))
        if not words.take(","):
            break
    words.need_end()
    first, *more = [renamed(session, old, new) for old, new in pairs]
    log(session, K.RENAME_TABLE, *first, sql, more=tuple(more))


def renamed(session: Session, old: TableId, new: TableId) -> tuple[Table, Table]:
    """Rename a table; returns the table before and after."""
    data = session.table(old.database, old.name)
    if new.database not in session.objects.databases:
        raise SqlError(1049, new.database)
    if session.find_table(new) is not None:
        raise SqlError(1050, new.name)
    before = data.table
    del session.objects.databases[old.database].tables[old.name]
    data.define(session.with_next_version(replace(data.definition, id=new)))
    session.objects.databases[new.database].tables[new.name] = data
    for other in session.all_tables():
        if any(key.parent == old for key in other.definition.foreign):
            keys = tuple(replace(k, parent=new) if k.parent == old else k for k in other.definition.foreign)
            other.definition = replace(other.definition, foreign=keys)
    for trigger in session.objects.triggers:
        if trigger.table == old:
            trigger.table = new
    return before, data.table


# ------------------------------------------------------------------------------------------------------------- indexes


def create_index(session: Session, words: Reader, sql: str, kind: str) -> None:
    name = words.name()
    if words.take("USING"):
        words.next()
    words.need("ON")
    data = session.table(*words.qualified())
    items = Items(keys=[Key(name, kind, tuple(words.names_in_brackets()))])
    if any(not part for part, _ in items.keys[0].columns) and not session.server.expression_keys:
        raise SqlError(1064, sql[-80:])
    before, definition = data.table, data.definition.with_text_keys(items.keys)
    redefine(session, data, finished(definition, items, mariadb=session.server.mariadb))
    log(session, K.CREATE_INDEX, before, data.table, sql)


def drop_index(session: Session, words: Reader, sql: str) -> None:
    name = words.name()
    words.need("ON")
    data = session.table(*words.qualified())
    redefine(session, data, without_key(data.definition, name))
    log(session, K.DROP_INDEX, data.table, data.table, sql)


def redefine(session: Session, data: Data, definition: Definition) -> None:
    """Change the definition of a table without changing its rows. An error leaves the definition as it was."""
    old = data.definition
    check_keys(session, definition, old)
    try:
        data.define(session.with_next_version(definition))
        check_definition(data, session)
    except SqlError:
        data.define(old)
        raise
