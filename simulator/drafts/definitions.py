"""Tables that statements of PostgreSQL, Oracle or SQL Server define, as `pg_dump`, `DBMS_METADATA` and SSMS write them.

What a scenario cannot have gets a note of one line; statements about other things are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from simulator.drafts.words import ORACLE, POSTGRESQL, SQLSERVER, Reader, Statement, plain_text, statements
from simulator.errors import ScenarioError, UsageError
from simulator.model import ColumnType, TableId
from simulator.sources.source import Source
from simulator.sql.catalog.definitions import Definition, Field, ForeignKey, Key
from simulator.sql.parse.cursor import Word

# Words that end the type, or the default, of a column.
_BEHIND_TYPE: Final = frozenset({
    "NOT", "NULL", "DEFAULT", "PRIMARY", "UNIQUE", "REFERENCES", "CHECK", "CONSTRAINT", "GENERATED",
    "IDENTITY", "COLLATE", "AS", "VISIBLE", "INVISIBLE", "ENABLE", "DISABLE", "SPARSE", "ROWGUIDCOL",
    "MASKED", "PERSISTED", "STORAGE", "COMPRESSION", "ENCRYPT", "VIRTUAL", "DEFERRABLE", "INITIALLY", "USING",
    "FOR",
})  # fmt: skip
_KEYS: Final = (("PRIMARY", "KEY"), ("UNIQUE",), ("FOREIGN", "KEY"), ("CHECK",))
# What begins a constraint of a table.
_CONSTRAINTS: Final = {
    POSTGRESQL: (*_KEYS, ("EXCLUDE",), ("LIKE",)),
    ORACLE: (*_KEYS, ("PERIOD", "FOR"), ("SUPPLEMENTAL", "LOG")),
    SQLSERVER: (*_KEYS, ("INDEX",), ("PERIOD", "FOR")),
}
_SERIAL: Final = re.compile(r"(?:small|big)?serial[248]?", re.IGNORECASE)
_PASSED: Final = ("COMMENT", "GRANT", "REVOKE", "ALTER", "CREATE", "DROP")


@dataclass
class Made:
    """A table while the file is read; `links` have names as typed."""

    id: TableId
    fields: dict[str, Field] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    links: list[tuple[tuple[str, ...], tuple[str, str], tuple[str, ...]]] = field(default_factory=list)
    checks: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Definitions:
    """Tables in their order; `said` of the file, `notes` of each table; `choices` are the labels to which a CHECK keeps
    a column."""

    tables: tuple[Definition, ...]
    notes: Mapping[TableId, tuple[str, ...]]
    choices: Mapping[tuple[TableId, str], tuple[str, ...]]
    said: tuple[str, ...]


def read_definitions(path: str, text: str, source: Source, dialect: str, database: str) -> Definitions:
    """Definitions in a file's text. Raises ScenarioError for a definition that cannot be read."""
    reading = _Reading(path, source, dialect, database)
    for statement in statements(text, dialect):
        try:
            reading.statement(statement)
        except (UsageError, ValueError) as error:
            problem = f"{statement.text} cannot be read as {source}'s ({str(error).rstrip('.')})"
            raise ScenarioError(path, statement.line, "", f"{problem}; change or remove the statement.") from None
    return reading.finished()


class _Reading:
    def __init__(self, path: str, source: Source, dialect: str, database: str) -> None:
        self.path, self.source, self.dialect, self.database = path, source, dialect, database
        self.tables: dict[tuple[str, str], Made] = {}
        self.types: dict[str, tuple[str, ColumnType, bool]] = {}  # enums and domains: as typed, the type, NOT NULL
        self.passed: Counter[str] = Counter()
        self.folded: list[str] = []

    # ------------------------------------------------------------------------------------------------------ statements

    def statement(self, statement: Statement) -> None:
        read = Reader(statement.file, statement.words)
        if read.take("USE") and read.next is not None:
            self.database = read.next.value
        elif read.take("CREATE"):
            self._create(read)
        elif read.take("ALTER", "TABLE"):
            self._alter(read)
        elif read.take("ALTER", "TYPE"):
            self._alter_type(read)
        elif (first := statement.words[0].upper) in _PASSED:
            self.passed[first] += 1

    def _create(self, read: Reader) -> None:
        read.take("OR", "REPLACE")
        unique = False
        while word := read.one_of(
            "GLOBAL",
            "LOCAL",
            "TEMPORARY",
            "TEMP",
            "PRIVATE",
            "UNLOGGED",
            "UNIQUE",
            "CLUSTERED",
            "NONCLUSTERED",
            "BITMAP",
        ):
            if word in ("TEMPORARY", "TEMP"):
                return
            unique |= word == "UNIQUE"
        if read.take("TABLE"):
            self._table(read)
        elif read.take("INDEX"):
            self._index(read, unique=unique)
        elif read.take("TYPE"):
            self._type(read)
        elif read.take("DOMAIN"):
            name = self._name(read)[1]
            read.take("AS")
            self._domain(name, read)
        elif read.take("DATABASE") and read.next is not None:
            self.database = read.next.value
        else:
            self.passed[f"CREATE {read.next.upper if read.next else ''}".strip()] += 1

    def _table(self, read: Reader) -> None:
        read.take("IF", "NOT", "EXISTS")
        names = self._name(read)
        if read.take("PARTITION", "OF"):
            self.passed["PARTITION"] += 1
            return
        if read.one_of("AS", "OF") or names[1].startswith("#"):  # of a query, of a type; a temporary table
            self.passed["CREATE TABLE"] += 1
            return
        if not read.peek("("):
            raise UsageError("a list of columns is expected behind the name")
        table = Made(self._id(names))
        self.tables[self._known(names)] = table
        for part in read.group().parts():
            self._element(table, part)
        if read.skip_to("INHERITS") and read.take("INHERITS"):
            table.notes.append(f"The columns that it inherits of {read.group().text()} are left out.")

    def _element(self, table: Made, read: Reader) -> None:
        constraint = ""
        if read.take("CONSTRAINT"):
            constraint = self._word(read)
        if self._is_constraint(read):
            self._constraint(table, read, constraint)
        elif read.next is not None:
            self._column(table, read)

    def _is_constraint(self, read: Reader) -> bool:
        """Columns may be called like a word that begins a constraint of some system."""
        return any(read.peek(*words) for words in _CONSTRAINTS[self.dialect])

    # --------------------------------------------------------------------------------------------------------- columns

    def _column(self, table: Made, read: Reader) -> None:
        name = self._column_name(read)
        typed = "" if read.next is None or read.next.upper in _BEHIND_TYPE else self._type_text(read)
        if not typed:
            table.notes.append(
                f"The column {name} is left out: {'the server computes it' if read.next else 'no type'}."
            )
            return
        type, nullable = self._typed(typed)
        if type is None:
            table.notes.append(f"The column {name} is left out: no scenario has the type {typed}.")
            return
        serial = self.dialect == POSTGRESQL and bool(_SERIAL.fullmatch(typed))
        table.fields[name] = Field(name, type, nullable and not serial, auto=serial)
        self._properties(table, name, read)

    def _properties(self, table: Made, name: str, read: Reader) -> None:
        """Reads the words behind a column's type."""
        column, constraint = table.fields[name], ""
        while read.next is not None:
            if read.take("NOT", "NULL"):
                column = replace(column, nullable=False)
            elif read.take("CONSTRAINT"):
                constraint = self._word(read)
            elif read.take("DEFAULT"):
                read.take("ON", "NULL")
                column = self._with_default(column, read.until(_BEHIND_TYPE))
            elif read.take("GENERATED") or read.take("AS"):
                read.skip_to("(", "IDENTITY")
                if read.peek("("):
                    column = replace(column, generated=read.group().text())
                read.take("IDENTITY")
                column = column if column.generated else replace(column, auto=True, nullable=False)
            elif read.take("IDENTITY"):
                column = replace(column, auto=True, nullable=False)
            elif read.peek("PRIMARY") or read.peek("UNIQUE"):
                kind = read.one_of("PRIMARY", "UNIQUE").lower()
                self._add_key(table, kind, constraint or name, [name])
                column = replace(column, nullable=column.nullable and kind != "primary")
            elif read.take("REFERENCES"):
                self._references(table, read, (name,))
            elif read.take("CHECK"):
                table.checks.append((constraint, read.group().text()))
            elif read.peek("("):
                read.group()
            else:
                read.skip()
        table.fields[name] = column

    def _with_default(self, column: Field, default: str) -> Field:
        if re.match(r"\W*nextval\W|.*\.nextval\W*$", default, re.IGNORECASE):
            return replace(column, auto=True)
        return column if default.strip("()").upper() == "NULL" else replace(column, default=default)

    def _type_text(self, read: Reader) -> str:
        """A column's type as typed, without the quotes and the schema that a name may have."""
        start = read.position
        while read.next is not None and read.next.upper not in _BEHIND_TYPE:
            read.group() if read.peek("(") else read.skip()
        words = read.words[start : read.position]
        while len(words) > 2 and words[1].value == ".":
            words = words[2:]
        name = (
            '"char"'
            if self.dialect == POSTGRESQL and words[0].value == "char" and words[0].kind == "name"
            else words[0].value
        )
        typed = name + read.file[words[0].end : words[-1].end]
        return " ".join(typed.split()).replace(" (", "(")

    def _typed(self, typed: str) -> tuple[ColumnType | None, bool]:
        """The type, None for one that the source does not have, and whether a column of it may be null."""
        if typed.lower() in self.types:
            _, type, strict = self.types[typed.lower()]
            return type, not strict
        try:
            return self.source.parse_type(typed), True
        except UsageError:
            return None, True

    def _type(self, read: Reader) -> None:
        """`CREATE TYPE mood AS ENUM ('sad')`, `CREATE TYPE code FROM varchar(9) NOT NULL`; others are unknown."""
        name = self._name(read)[1]
        if read.take("AS", "ENUM") and read.peek("("):
            self._enum(name, [plain_text(word.value) for word in read.group().words if word.kind == "text"])
        elif read.take("FROM"):
            self._domain(name, read)

    def _enum(self, name: str, labels: Sequence[str]) -> None:
        quoted = ",".join("'" + label.replace("'", "''") + "'" for label in labels)
        try:
            self.types[name.lower()] = (name, self.source.parse_type(f"{name} enum({quoted})"), False)
        except UsageError:
            self.passed["CREATE TYPE"] += 1

    def _alter_type(self, read: Reader) -> None:
        name = self._name(read)[1]
        if read.take("ADD", "VALUE") and name.lower() in self.types:
            read.take("IF", "NOT", "EXISTS")
            labels = list(self.types[name.lower()][1].labels)
            label = plain_text(self._word(read))
            where = read.one_of("BEFORE", "AFTER")
            position = labels.index(plain_text(self._word(read))) + (where == "AFTER") if where else len(labels)
            self._enum(name, [*labels[:position], label, *labels[position:]])

    def _domain(self, name: str, read: Reader) -> None:
        typed = self._type_text(read)
        type, _ = self._typed(typed)
        if type is not None:
            words = [word.upper for word in read.words]
            self.types[name.lower()] = (name, type, ("NOT", "NULL") in pairwise(words))

    # ------------------------------------------------------------------------------------------------- keys, references

    def _constraint(self, table: Made, read: Reader, name: str) -> None:
        kind = read.one_of(*(words[0] for words in _CONSTRAINTS[self.dialect]))
        if kind == "CHECK" and read.peek("("):
            table.checks.append((name, read.group().text()))
        elif kind in ("PRIMARY", "UNIQUE", "FOREIGN"):
            read.skip_to("(")
            columns = self._columns(read)
            if kind == "FOREIGN":
                read.skip_to("REFERENCES")
                read.skip()
                self._references(table, read, columns)
            else:
                self._add_key(table, kind.lower(), name or "_".join(columns), columns)
        elif kind == "EXCLUDE":
            table.notes.append(f"The exclusion constraint {name} is left out.")
        elif kind == "LIKE":
            table.notes.append(f"The columns of LIKE {read.text()} are left out.")

    def _columns(self, read: Reader) -> tuple[str, ...]:
        """Names between brackets; "" for an expression."""
        if not read.peek("("):
            return ()
        return tuple(
            "" if any(word.upper in ("(", "::") for word in part.words) else self._column_name(part)
            for part in read.group().parts()
        )

    def _add_key(self, table: Made, kind: str, name: str, columns: Sequence[str]) -> None:
        if not columns:  # USING INDEX, which CREATE INDEX has defined
            return
        name = name if kind == "unique" else "PRIMARY"
        table.keys.append(Key(name[:64], kind, tuple((column, None) for column in columns)))

    def _references(self, table: Made, read: Reader, columns: tuple[str, ...]) -> None:
        parent = self._known(self._name(read))
        table.links.append((columns, parent, self._columns(read)))

    def _index(self, read: Reader, *, unique: bool) -> None:
        read.take("CONCURRENTLY")
        read.take("IF", "NOT", "EXISTS")
        name = self._name(read)[1]
        read.take("ON")
        read.take("ONLY")
        table = self.tables.get(self._known(self._name(read)))
        if not unique or table is None:
            return
        read.skip_to("(")
        columns = self._columns(read)
        if not all(columns) or read.skip_to("WHERE"):
            table.notes.append(
                f"The unique index {name} is left out: it is of {'some rows' if all(columns) else 'expressions'}."
            )
        else:
            self._add_key(table, "unique", name, columns)

    # ----------------------------------------------------------------------------------------------------------- alter

    def _alter(self, read: Reader) -> None:
        read.take("IF", "EXISTS")
        read.take("ONLY")
        table = self.tables.get(self._known(self._name(read)))
        if table is None:
            return
        if read.take("WITH"):  # CHECK, NOCHECK
            read.skip()
        for part in read.parts():
            self._action(table, part)

    def _action(self, table: Made, read: Reader) -> None:
        if read.take("ATTACH", "PARTITION"):
            if self.tables.pop(self._known(self._name(read)), None):
                self.passed["PARTITION"] += 1
        elif read.take("ADD") or read.take("MODIFY"):
            read.take("COLUMN")
            read.take("IF", "NOT", "EXISTS")
            for part in read.group().parts() if read.peek("(") else (read,):
                self._added(table, part)
        elif read.take("ALTER"):
            read.take("COLUMN")
            self._altered(table, read)
        elif read.take("DROP", "COLUMN"):
            read.take("IF", "EXISTS")
            table.fields.pop(self._column_name(read), None)

    def _added(self, table: Made, read: Reader) -> None:
        constraint = ""
        if read.take("CONSTRAINT"):
            constraint = self._word(read)
        if read.take("DEFAULT"):  # SQL Server's, FOR a column
            default = read.until(_BEHIND_TYPE)
            if read.take("FOR") and (column := table.fields.get(name := self._column_name(read))):
                table.fields[name] = self._with_default(column, default)
        elif self._is_constraint(read):
            self._constraint(table, read, constraint)
        elif read.next is not None:
            position = read.position
            name = self._column_name(read)
            if name in table.fields and (read.next is None or read.next.upper in _BEHIND_TYPE):
                self._properties(table, name, read)  # Oracle's MODIFY
            else:
                read.position = position
                self._column(table, read)

    def _altered(self, table: Made, read: Reader) -> None:
        name = self._column_name(read)
        if name not in table.fields:
            return
        if read.take("DROP"):
            nullable = read.take("NOT", "NULL")
            column = table.fields[name]
            table.fields[name] = (
                replace(column, nullable=True) if nullable else replace(column, default=None, auto=False)
            )
        elif read.take("TYPE") or read.take("SET", "DATA", "TYPE") or self.dialect == SQLSERVER:
            type, _ = self._typed(self._type_text(read))
            if type is not None:
                table.fields[name] = replace(table.fields[name], type=type)
                if self.dialect == SQLSERVER:
                    self._properties(table, name, read)
        elif read.take("SET") or read.take("ADD"):
            self._properties(table, name, read)

    # ----------------------------------------------------------------------------------------------------------- names

    def _word(self, read: Reader) -> str:
        word = read.skip()
        return "" if word is None else word.value

    def _spelled(self, word: Word | None) -> str:
        """A name as the server stores it."""
        if word is None or word.kind not in ("word", "name"):
            raise UsageError("a name is expected" + (f" instead of {word.value!r}" if word else " at its end"))
        if word.kind == "name" or self.dialect == SQLSERVER:
            return word.value
        return word.value.upper() if self.dialect == ORACLE else word.value.lower()

    def _name(self, read: Reader) -> tuple[str, str]:
        """The schema, "" where none is said, and the name of a table or another thing."""
        names = [self._spelled(read.skip())]
        while read.take("."):
            names.append(self._spelled(read.skip()))
        return (names[-2] if len(names) > 1 else "", names[-1])

    def _column_name(self, read: Reader) -> str:
        return self._written(self._spelled(read.skip()))

    def _written(self, name: str) -> str:
        """A name as a scenario has it: Oracle's in lower case. One that would be another one there is remembered."""
        written = name.lower() if name.isupper() and self.dialect == ORACLE else name
        if self.source.identifier(written) != name and name not in self.folded:
            self.folded.append(name)
        return written

    def _known(self, names: tuple[str, str]) -> tuple[str, str]:
        default = {POSTGRESQL: "public", SQLSERVER: "dbo"}.get(self.dialect, "")
        return (names[0] or default).lower(), names[1].lower()

    def _id(self, names: tuple[str, str]) -> TableId:
        """Oracle's schemas are the databases of scenarios."""
        if self.dialect == ORACLE:
            return TableId(self._written(names[0]) or self.database, self._written(names[1]))
        schema = self._written(names[0]) if names[0] else self._known(names)[0]
        return TableId(self.database, self._written(names[1]), schema)

    # -------------------------------------------------------------------------------------------------------- finished

    def finished(self) -> Definitions:
        choices: dict[tuple[TableId, str], tuple[str, ...]] = {}
        for table in self.tables.values():
            for name, text in table.checks:
                self._check(table, name, text, choices)
        definitions = [(table, self._definition(table)) for table in self.tables.values()]
        notes = {table.id: tuple(table.notes) for table, _ in definitions}
        return Definitions(tuple(definition for _, definition in definitions), notes, choices, tuple(self._said()))

    def _said(self) -> Iterator[str]:
        if self.passed:
            yield (
                "Passed over: "
                + ", ".join(f"{count} {statement}" for statement, count in sorted(self.passed.items()))
                + "."
            )
        if self.folded:
            yield f"Names in quotes that {self.source.title} stores without them as others: {', '.join(self.folded)}."

    def _check(self, table: Made, name: str, text: str, choices: dict[tuple[TableId, str], tuple[str, ...]]) -> None:
        """A CHECK that lists the texts of one column becomes its choices; others get a note."""
        words = [word for statement in statements(text, self.dialect) for word in statement.words]
        labels = tuple(dict.fromkeys(plain_text(word.value) for word in words if word.kind == "text"))
        columns = {
            written for word in words if word.kind in ("word", "name") for written in self._columns_like(table, word)
        }
        listed = {word.upper for word in words} & {"IN", "ANY", "OR"} and not {word.upper for word in words} & {
            "NOT", "<", ">", "AND", "~", "LIKE"
        }  # fmt: skip
        if listed and labels and len(columns) == 1:
            choices[table.id, columns.pop()] = labels
        else:
            table.notes.append(f"The check {name or 'constraint'} is left out: {text}.")

    def _columns_like(self, table: Made, word: Word) -> list[str]:
        return [name for name in table.fields if name.lower() == word.value.lower()]

    def _definition(self, table: Made) -> Definition:
        keys = []
        primary = next((set(key.names) for key in table.keys if key.kind == "primary"), set())
        for key in table.keys:
            gone = [column for column in key.names if column and column not in table.fields]
            if gone:
                table.notes.append(f"The key {key.name} is left out: it has the column {gone[0]}, which is left out.")
            elif key.kind == "primary" or set(key.names) != primary:  # not the index of the primary key
                keys.append(key)
        links = []
        for columns, parent, parent_columns in table.links:
            parent_table = self.tables.get(parent)
            id = parent_table.id if parent_table else TableId(self.database, parent[1], parent[0])
            main = next((key.names for key in parent_table.keys if key.kind == "primary"), ()) if parent_table else ()
            if set(columns) <= table.fields.keys():
                links.append(ForeignKey("", columns, id, parent_columns or main or ("?",)))
        fields = (
            replace(column, nullable=column.nullable and column.name not in primary) for column in table.fields.values()
        )
        return Definition(table.id, tuple(fields), tuple(keys), tuple(links))
