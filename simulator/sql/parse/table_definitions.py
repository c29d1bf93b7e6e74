"""Parses column, key and constraint definitions of CREATE TABLE and ALTER TABLE."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from simulator.model import TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Definition, Field, ForeignKey, Key
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.column_types import Context, check_charset, check_collation, duplicate, read_type
from simulator.sql.parse.words import Reader

_ACTIONS: Final = {"RESTRICT": "restrict", "NO ACTION": "restrict", "CASCADE": "cascade", "SET NULL": "set null"}


@dataclass
class Items:
    """Definitions of a statement: columns in order, keys and constraints."""

    fields: list[Field] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    foreign: list[ForeignKey] = field(default_factory=list)
    checks: list[tuple[str, str]] = field(default_factory=list)
    types: list[str] = field(default_factory=list)  # as typed


def column(words: Reader, context: Context, items: Items) -> Field:
    """`qty int unsigned not null default 1 comment 'x'`; keys in the column's definition are added to the items."""
    name = words.name()
    type, collation, serial = read_type(name, words, context)
    items.types.append(type.spelled)
    field = Field(name, type, collation=collation)
    if serial:
        items.keys.append(Key("", "unique", ((name, None),)))
        field = replace(field, nullable=False, auto=True)
    said_null = False
    while not words.done and words.upper not in (",", ")", "FIRST", "AFTER"):
        said_null = said_null or words.peek("NULL")
        field = _attribute(words, context, items, field)
    if type.name == "timestamp" and context.old_timestamps and not said_null and field.generated is None:
        field = _old_timestamp(field, items)
    if field.default is not None and field.default.upper() == "NULL" and not field.nullable:
        raise SqlError(1067, name)
    if repeated := duplicate(type.labels, field.collation):
        raise SqlError(1291, name, repeated)
    large = mysql_table.family(type) in ("json", "geometry") or type.name.endswith(("text", "blob"))
    literal = field.default is not None and field.default.upper() != "NULL" and not field.default.startswith("(")
    if literal and large and not context.server.mariadb:
        raise SqlError(1101, name)
    return field


def _old_timestamp(field: Field, items: Items) -> Field:
    """explicit_defaults_for_timestamp=OFF: the column is NOT NULL, and the first one defaults to the current
    timestamp."""
    field = replace(field, nullable=False)
    if field.default is None and not field.on_update:
        is_first = not any(f.type.name == "timestamp" and (f.on_update or f.default) for f in items.fields)
        if is_first and not any(f.type.name == "timestamp" for f in items.fields):
            return replace(field, default="CURRENT_TIMESTAMP", on_update=True, implied=True)
        return replace(field, default="'0000-00-00 00:00:00'", implied=True)
    return field


def _attribute(words: Reader, context: Context, items: Items, field: Field) -> Field:
    server = context.server
    if words.take("NOT", "NULL"):
        return replace(field, nullable=False)
    if words.take("NULL"):
        return replace(field, nullable=True)
    if words.take("DEFAULT"):
        return replace(field, default=_default(words, context))
    if words.take("ON", "UPDATE"):
        _skip_now(words)
        return replace(field, on_update=True)
    if words.take("AUTO_INCREMENT"):
        return replace(field, auto=True, nullable=False)
    if words.one_of("PRIMARY KEY", "PRIMARY"):
        items.keys.append(Key("PRIMARY", "primary", ((field.name, None),)))
        return replace(field, nullable=False, inline_key=True)
    if words.one_of("UNIQUE KEY", "UNIQUE"):
        items.keys.append(Key("", "unique", ((field.name, None),)))
        return field
    if words.take("KEY"):
        items.keys.append(Key("PRIMARY", "primary", ((field.name, None),)))
        return replace(field, nullable=False, inline_key=True)
    if words.take("COMMENT"):
        return replace(field, comment=words.literal())
    if words.take("COLLATE"):
        collation = words.next().value.lower()
        typed = re.search(r"char(?:acter\s+)?set\s+(\w+)", field.type.spelled, re.IGNORECASE)
        check_collation(collation, typed[1].lower() if typed else None, context.server)
        charset = field.type.charset if (field.type.charset or "?") in collation else collation.split("_")[0]
        return replace(field, collation=collation, type=replace(field.type, charset=charset))
    if words.one_of("GENERATED ALWAYS AS", "AS"):
        text = words.brackets()
        stored = words.one_of("VIRTUAL", "STORED", "PERSISTENT") in ("STORED", "PERSISTENT")
        return replace(field, generated=text, stored=stored)
    if words.take("REFERENCES"):  # MySQL parses and ignores it
        database, parent = words.qualified()
        parents = tuple(name for name, _ in words.names_in_brackets())
        actions = _references(words)
        if server.mariadb:
            id = TableId(database or context.database, parent)
            items.foreign.append(ForeignKey("", (field.name,), id, parents, *actions))
        return field
    if words.one_of("CONSTRAINT"):
        if not words.peek("CHECK"):
            words.name()
        if not words.peek("CHECK"):
            raise words.problem()
        return field
    if words.take("CHECK"):
        items.checks.append((f".{field.name}" if server.mariadb else "", words.brackets()))
        words.one_of("NOT ENFORCED", "ENFORCED")
        return field
    if words.upper in ("INVISIBLE", "VISIBLE") and server.modern:
        return replace(field, invisible=words.next().upper == "INVISIBLE")
    if words.peek("SRID") and server.id == "mysql-8.0":
        words.next()
        words.next()
        return field
    if words.one_of("COLUMN_FORMAT", "STORAGE"):
        words.next()
        return field
    raise words.problem()


def _default(words: Reader, context: Context) -> str:
    start = words.position
    if words.peek("("):
        if not context.server.modern:
            raise words.problem()
        return f"({words.brackets()})"
    if words.upper in ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"):
        _skip_now(words)
        return words.between(start, words.position)
    if words.take("VALUE"):  # SERIAL DEFAULT VALUE
        return "NULL"
    words.one_of("-", "+")
    word = words.next()
    if word.kind == "word" and word.upper not in ("NULL", "TRUE", "FALSE") and not word.value.startswith("_"):
        if context.server.mariadb and words.peek("("):  # any expression, without parentheses
            words.brackets()
            return f"({words.between(start, words.position)})"
        words.position -= 1
        raise words.problem()
    if word.value.startswith("_"):
        words.next()
    return words.between(start, words.position)


def _skip_now(words: Reader) -> None:
    words.next()
    if words.peek("("):
        words.brackets()


def _references(words: Reader) -> tuple[str, str]:
    on_delete = on_update = "restrict"
    while True:
        if words.take("MATCH"):
            words.next()
        elif words.take("ON", "DELETE"):
            on_delete = _ACTIONS.get(words.one_of(*_ACTIONS), "") or _no_action(words)
        elif words.take("ON", "UPDATE"):
            on_update = _ACTIONS.get(words.one_of(*_ACTIONS), "") or _no_action(words)
        else:
            return on_delete, on_update


def _no_action(words: Reader) -> str:
    raise words.problem()


def constraint(words: Reader, context: Context, items: Items) -> bool:
    """Parse a key or constraint into the items; returns whether one comes next."""
    start = words.position
    name = ""
    if words.take("CONSTRAINT") and words.upper not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        name = words.name()
    if words.take("PRIMARY", "KEY"):
        _using(words)
        items.keys.append(Key("PRIMARY", "primary", _parts(words, context)))
    elif words.one_of("UNIQUE KEY", "UNIQUE INDEX", "UNIQUE"):
        name = _index_name(words) or name
        items.keys.append(Key(name, "unique", _parts(words, context)))
    elif kind := words.one_of("FULLTEXT", "SPATIAL"):
        words.one_of("KEY", "INDEX")
        name = _index_name(words) or name
        items.keys.append(Key(name, kind.lower(), _parts(words, context)))
    elif words.take("FOREIGN", "KEY"):
        if not words.peek("("):
            name = name or words.name()
        columns = tuple(column for column, _ in words.names_in_brackets())
        words.need("REFERENCES")
        database, parent = words.qualified()
        parents = tuple(column for column, _ in words.names_in_brackets())
        actions = _references(words)
        items.foreign.append(
            ForeignKey(name, columns, TableId(database or context.database, parent), parents, *actions)
        )
    elif words.take("CHECK"):
        number = 1 + sum(check_name.startswith("CONSTRAINT_") for check_name, _ in items.checks)
        unnamed = f"CONSTRAINT_{number}" if context.server.mariadb else ""
        items.checks.append((name or unnamed, words.brackets()))
        words.one_of("NOT ENFORCED", "ENFORCED")
    elif words.upper in ("KEY", "INDEX") and not name:
        words.next()
        name = _index_name(words)
        items.keys.append(Key(name, "index", _parts(words, context)))
    else:
        words.position = start
        return False
    _options(words)
    return True


def _index_name(words: Reader) -> str:
    name = ""
    if not words.peek("(") and not words.peek("USING"):
        name = words.name()
    _using(words)
    return name


def _using(words: Reader) -> None:
    if words.take("USING"):
        words.next()


def _options(words: Reader) -> None:
    """Skip the options after a key's columns."""
    while True:
        if words.one_of("USING", "COMMENT", "WITH PARSER"):
            words.next()
        elif words.take("KEY_BLOCK_SIZE"):
            words.take("=")
            words.next()
        elif not words.one_of("VISIBLE", "INVISIBLE"):
            return


def _parts(words: Reader, context: Context) -> tuple[tuple[str, int | None], ...]:
    start = words.position
    parts = tuple(words.names_in_brackets())
    if any(not name for name, _ in parts) and not context.server.expression_keys:
        words.position = start + 1
        raise words.problem()
    return parts


def finished(definition: Definition, items: Items, *, mariadb: bool) -> Definition:
    """The definition with the items added: keys are named and checked, primary key columns become NOT NULL."""
    fields = list(definition.fields)
    names = {field.name.lower() for field in fields}
    if not fields:
        raise SqlError(1113)
    if len(names) < len(fields):
        seen: set[str] = set()
        for field in fields:
            if field.name.lower() in seen:
                raise SqlError(1060, field.name)
            seen.add(field.name.lower())
    keys = list(definition.keys)
    for key in items.keys:
        for name, length in key.columns:
            if name and name.lower() not in names:
                raise SqlError(1072, name)
            if name and length is None and key.kind in ("primary", "unique", "index"):
                _needs_length(next(field for field in fields if field.name.lower() == name.lower()), key, mariadb)
        if key.kind == "primary":
            if any(other.kind == "primary" for other in keys):
                raise SqlError(1068)
            fields = [
                replace(field, nullable=False) if field.name.lower() in {n.lower() for n in key.names} else field
                for field in fields
            ]
        else:
            key = replace(key, name=key.name or _free_name(key, keys))
            if any(other.name.lower() == key.name.lower() for other in keys):
                raise SqlError(1061, key.name)
        keys.append(key)
    foreign = list(definition.foreign)
    for link in items.foreign:
        for name in link.columns:
            if name.lower() not in names:
                raise SqlError(1072, name)
        foreign.append(replace(link, name=link.name or f"{definition.id.name}_ibfk_{len(foreign) + 1}"))
    checks = list(definition.checks)
    for name, text in items.checks:
        if name.startswith("."):  # MariaDB: of a column
            name = definition.id.name + name
        checks.append((name or f"{definition.id.name}_chk_{len(checks) + 1}", text))
    result = replace(definition, fields=tuple(fields), keys=tuple(keys), foreign=tuple(foreign), checks=tuple(checks))
    autos = [field.name.lower() for field in fields if field.auto]
    if autos and (len(autos) > 1 or not any(key.names[0].lower() == autos[0] for key in keys if key.names)):
        raise SqlError(1075)
    return result


def without_key(definition: Definition, name: str) -> Definition:
    remaining = tuple(key for key in definition.keys if key.name.lower() != name.lower())
    if len(remaining) == len(definition.keys):
        if any(name.lower() in (link.name.lower(), link.columns[0].lower()) for link in definition.foreign):
            raise Unsupported("dropping the index that a foreign key implies")
        raise SqlError(1091, name, "INDEX")
    return replace(definition, keys=remaining, text_key=definition.known_text_key)


def _needs_length(field: Field, key: Key, mariadb: bool) -> None:
    """Raises SqlError 1170 for a long text or bytes in a key without a length; MariaDB shortens them."""
    lob = field.type.name.endswith(("text", "blob"))
    if lob and not (mariadb and key.kind != "primary"):
        raise SqlError(1170, field.name)


def _free_name(key: Key, keys: list[Key]) -> str:
    base = key.names[0] or "functional_index"
    names = {other.name.lower() for other in keys}
    name, number = base, 2
    while name.lower() in names:
        name, number = f"{base}_{number}", number + 1
    return name


# Storage engines without transactions.
_PLAIN_ENGINES: Final = frozenset(("myisam", "memory", "heap", "aria", "archive", "csv", "blackhole", "merge"))

# Engines treated as transactional; a server without one of them refuses it or takes its default.
_ENGINES: Final = frozenset(("innodb", "ndb", "ndbcluster", "rocksdb", "tokudb", "columnstore", "mroonga", "default"))


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of a table: "" and None if absent; `present`: there is at least one."""

    charset: str = ""
    collation: str = ""
    auto: int | None = None
    transactional: bool | None = None
    comment: str | None = None
    present: bool = False


def partition_word(words: Reader) -> str:
    """RANGE, LIST, HASH or KEY after PARTITION BY; the rest of the statement is skipped."""
    words.take("LINEAR")
    word = words.upper
    words.skip_all()
    return word


def table_options(words: Reader, context: Context) -> TableOptions:
    """Parse table options up to the first word that is none."""
    charset = collation = ""
    auto: int | None = None
    transactional: bool | None = None
    comment: str | None = None
    present = False
    while not words.done:
        start = words.position
        words.take(",")
        words.take("DEFAULT")
        if words.one_of("CHARACTER SET", "CHARSET"):
            words.take("=")
            charset = words.next().value.lower()
        elif words.take("COLLATE"):
            words.take("=")
            collation = words.next().value.lower()
            check_collation(collation, charset or None, context.server)
        elif words.take("AUTO_INCREMENT"):
            words.take("=")
            auto = words.integer()
        elif words.take("ENGINE"):
            words.take("=")
            engine = words.next().value
            if engine.lower() not in _ENGINES and engine.lower() not in _PLAIN_ENGINES:
                raise Unsupported(f"the engine {engine}")
            transactional = engine.lower() not in _PLAIN_ENGINES
        elif words.take("COMMENT"):
            words.take("=")
            comment = words.literal()
        elif words.upper in _OPTIONS:
            words.next()
            words.one_of("DIRECTORY")
            words.take("=")
            words.next()
        else:
            words.position = start
            break
        present = True
    if charset:
        check_charset(charset)
    if collation and not charset:
        charset = collation.split("_")[0]
    return TableOptions(charset, collation, auto, transactional, comment, present)


_OPTIONS: Final = frozenset((
    "ROW_FORMAT", "KEY_BLOCK_SIZE", "AVG_ROW_LENGTH", "CHECKSUM", "COMPRESSION", "CONNECTION",
    "DATA", "INDEX", "DELAY_KEY_WRITE", "ENCRYPTION", "INSERT_METHOD", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "PASSWORD",
    "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "TABLESPACE", "PAGE_CHECKSUM", "TRANSACTIONAL",
    "STORAGE",
))  # fmt: skip
