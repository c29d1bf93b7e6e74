"""Statements as a user types them, with the database and schema selected: DDL, and changes of single rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from simulator.model import Column, ColumnType, Table, TableId, UniqueKey

# Whether a change from the first type to the second widens it: keeps all values and allows more. Both are of one
# family.
Rule: TypeAlias = Callable[[ColumnType, ColumnType], bool]
# An image of a row: literals, as `Source.format_values` writes them, by column name; None is null.
Literals: TypeAlias = Mapping[str, str | None]


def wider_bounds(old: tuple[int, int], new: tuple[int, int]) -> bool:
    return new[0] <= old[0] and old[1] <= new[1] and old != new


def wider_decimal(old: tuple[int, int], new: tuple[int, int]) -> bool:
    """Whether (precision, scale) keep all digits before and after the decimal point."""
    return new[1] >= old[1] and new[0] - new[1] >= old[0] - old[1] and old != new


def more_labels(old: ColumnType, new: ColumnType) -> bool:
    """Whether labels are only appended: the old ones keep their numbers."""
    return len(new.labels) > len(old.labels) and new.labels[: len(old.labels)] == old.labels


def widens(rules: Mapping[str, Rule], family: Callable[[ColumnType], str], old: ColumnType, new: ColumnType) -> bool:
    """Whether the rule of the types' family widens one to the other; types of two families never are."""
    rule = rules.get(family(old))
    return rule is not None and family(new) == family(old) and rule(old, new)


class Ddl(ABC):
    """The statements of a system. A statement that it does not have is "": it is not logged, and takes no transaction.

    `truncates` says whether there is TRUNCATE; without it a scenario's `truncate` deletes each row. `places_columns`: a
    new column can be placed elsewhere than at the end; `fills_columns`: existing rows get its default;
    `retypes_columns`: a statement that changes a column defines all of it, so that a default is lost unless it is
    repeated.
    """

    truncates = True
    places_columns = False
    fills_columns = True
    retypes_columns = False

    @abstractmethod
    def type_name(self, type: ColumnType) -> str:
        """A type for messages and comparisons, however it was typed."""

    @abstractmethod
    def widens(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether every value of the old type is a value of the new one, which has more, and both are of one family."""

    def type_definition(self, type: ColumnType) -> str:
        """A column's type as the user typed it, or would type it."""
        return type.spelled or self.type_name(type)

    def takes_default(self, type: ColumnType) -> bool:
        """Whether a column of the type can have a literal default that is not null."""
        return True

    def default(self, text: str, type: ColumnType) -> str | None:
        """A column's default as the server keeps it, a SQL expression; None if the system has no defaults."""
        return None

    def create_database(self, database: str) -> str:
        return ""

    def drop_database(self, database: str) -> str:
        return ""

    def create_table(self, table: Table) -> str:
        return ""

    def drop_table(self, table: Table) -> str:
        return ""

    def truncate_table(self, table: Table) -> str:
        return ""

    def rename_table(self, table: Table, to: str) -> str:
        return ""

    def add_column(self, table: Table, new: Column, default: str | None, after: str | None) -> str:
        return ""

    def alter_column(self, table: Table, changed: Column) -> str:
        return ""

    def rename_column(self, table: Table, old: Column, renamed: Column) -> str:
        return ""

    def drop_column(self, table: Table, dropped: Column) -> str:
        return ""

    def create_index(self, table: Table, index: str, columns: Sequence[str], *, unique: bool) -> str:
        return ""

    def drop_index(self, table: Table, index: str) -> str:
        return ""

    def row_change(self, table: Table, before: Literals | None, after: Literals | None) -> str:
        """The statement that makes a change of one row: an INSERT without `before`, a DELETE without `after`."""
        return ""


class SqlDdl(Ddl):
    """DDL common to the systems with SQL. A subclass defines names, types and literals, and overrides what its system
    writes differently.

    `schema` is the default one; names of tables in other schemas are qualified.
    """

    schema = ""

    @abstractmethod
    def name(self, text: str) -> str:
        """An identifier, quoted if necessary."""

    @abstractmethod
    def literal(self, text: str, type: ColumnType) -> str:
        """A literal of a column's type."""

    def default(self, text: str, type: ColumnType) -> str | None:
        return self.literal(text, type)

    def in_schema(self, schema: str, name: str) -> str:
        """The name of a table or index: `orders`, `sales.orders`."""
        return self.name(name) if schema == self.schema or not self.schema else f"{self.name(schema)}.{self.name(name)}"

    def table(self, id: TableId) -> str:
        return self.in_schema(id.schema, id.name)

    def names(self, texts: Sequence[str]) -> str:
        return ", ".join(map(self.name, texts))

    def column(self, column: Column, default: str | None = None) -> str:
        """`qty int NOT NULL DEFAULT 1`"""
        text = f"{self.name(column.name)} {self.type_definition(column.type)}"
        if not column.nullable:
            text += " NOT NULL"
        return text + (f" DEFAULT {self.literal(default, column.type)}" if default is not None else "")

    def create_database(self, database: str) -> str:
        return f"CREATE DATABASE {self.name(database)}"

    def drop_database(self, database: str) -> str:
        return f"DROP DATABASE {self.name(database)}"

    def create_table(self, table: Table) -> str:
        """`CREATE TABLE orders (id bigint NOT NULL, PRIMARY KEY (id))`, on one line."""
        parts = [self.column(column) for column in table.columns]
        if table.primary_key:
            parts.append(f"PRIMARY KEY ({self.names(table.primary_key)})")
        parts += map(self.unique_key, table.unique_keys)
        return f"CREATE TABLE {self.table(table.id)} ({', '.join(parts)})"

    def unique_key(self, key: UniqueKey) -> str:
        """A unique key in CREATE TABLE: `CONSTRAINT uk_code UNIQUE (code)`"""
        return f"CONSTRAINT {self.name(key.name)} UNIQUE ({self.names(key.columns)})"

    def drop_table(self, table: Table) -> str:
        return f"DROP TABLE {self.table(table.id)}"

    def truncate_table(self, table: Table) -> str:
        return f"TRUNCATE TABLE {self.table(table.id)}"

    def alter_table(self, table: Table, change: str) -> str:
        return f"ALTER TABLE {self.table(table.id)} {change}"

    def rename_table(self, table: Table, to: str) -> str:
        return self.alter_table(table, f"RENAME TO {self.name(to)}")

    def add_column(self, table: Table, new: Column, default: str | None, after: str | None) -> str:
        return self.alter_table(table, f"ADD COLUMN {self.column(new, default)}")

    def alter_column(self, table: Table, changed: Column) -> str:
        typed = self.type_definition(changed.type)
        return self.alter_table(table, f"ALTER COLUMN {self.name(changed.name)} TYPE {typed}")

    def rename_column(self, table: Table, old: Column, renamed: Column) -> str:
        return self.alter_table(table, f"RENAME COLUMN {self.name(old.name)} TO {self.name(renamed.name)}")

    def drop_column(self, table: Table, dropped: Column) -> str:
        return self.alter_table(table, f"DROP COLUMN {self.name(dropped.name)}")

    def create_index(self, table: Table, index: str, columns: Sequence[str], *, unique: bool) -> str:
        kind = "UNIQUE INDEX" if unique else "INDEX"
        return f"CREATE {kind} {self.name(index)} ON {self.table(table.id)} ({self.names(columns)})"

    def drop_index(self, table: Table, index: str) -> str:
        return f"DROP INDEX {self.in_schema(table.id.schema, index)}"

    def row_change(self, table: Table, before: Literals | None, after: Literals | None) -> str:
        """`UPDATE orders SET paid = 1 WHERE id = 7`: changed columns; the condition has the key, or all columns without
        one.
        """
        name = self.table(table.id)
        if before is None:
            assert after is not None
            values = (self._value(table, column, text) for column, text in after.items())
            return f"INSERT INTO {name} ({self.names([*after])}) VALUES ({', '.join(values)})"
        key = [column for column in table.primary_key if column in before] or [*before]
        where = f"WHERE {' AND '.join(self._equals(table, column, before[column]) for column in key)}"
        if after is None:
            return f"DELETE FROM {name} {where}"
        changed = {column: text for column, text in after.items() if column not in before or text != before[column]}
        sets = (
            f"{self.name(column)} = {self._value(table, column, text)}" for column, text in (changed or after).items()
        )
        return f"UPDATE {name} SET {', '.join(sets)} {where}"

    def _value(self, table: Table, column: str, text: str | None) -> str:
        return "NULL" if text is None else self.literal(text, table.columns[table.positions[column]].type)

    def _equals(self, table: Table, column: str, text: str | None) -> str:
        name = self.name(column)
        return f"{name} IS NULL" if text is None else f"{name} = {self._value(table, column, text)}"
