"""MongoDB's commands in the place of DDL: collections and databases are dropped, collections renamed.

All else has no command that a change stream tells: databases and collections come with their first document, fields
come and go with documents. Those statements are empty, which means that nobody is told of the change: the application
has documents of the new shape from then on. A field that is added is not in the documents that are there; one that is
renamed or dropped is so in all of them at once, without an update of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import orjson

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources.mongodb.types import type_text

# Fields have no place among others that could be chosen, and documents that are there do not get a new one's default.
places_columns: Final = False
fills_columns: Final = False

_WITHOUT_TABLE: Final = ""


def _command(**members: object) -> str:
    return orjson.dumps(members).decode().replace('":', '": ').replace(',"', ', "')


def create_database(database: str) -> str:
    return _WITHOUT_TABLE


def drop_database(database: str) -> str:
    """`{"dropDatabase": 1}`, said to the database."""
    return _command(dropDatabase=1)


def create_table(table: Table) -> str:
    return _WITHOUT_TABLE


def drop_table(table: Table) -> str:
    """`{"drop": "orders"}`"""
    return _command(drop=table.id.name)


def truncate_table(table: Table) -> str:
    raise UsageError("MongoDB has no TRUNCATE: delete the documents, or drop the collection.")


def rename_table(table: Table, to: str) -> str:
    """`{"renameCollection": "shop.orders", "to": "shop.bills"}`"""
    database = table.id.database
    return _command(renameCollection=f"{database}.{table.id.name}", to=f"{database}.{to}")


def add_column(table: Table, new: Column, default: str | None, after: str | None) -> str:
    return _WITHOUT_TABLE


def alter_column(table: Table, changed: Column) -> str:
    return _WITHOUT_TABLE


def rename_column(table: Table, old: Column, renamed: Column) -> str:
    if old.name == "_id":
        raise UsageError("MongoDB's _id has no other name.")
    return _WITHOUT_TABLE


def drop_column(table: Table, dropped: Column) -> str:
    return _WITHOUT_TABLE


def create_index(table: Table, index: str, columns: Sequence[str], *, unique: bool) -> str:
    return _WITHOUT_TABLE


def drop_index(table: Table, index: str) -> str:
    return _WITHOUT_TABLE


def type_definition(type: ColumnType) -> str:
    return type_text(type)


def type_name(type: ColumnType) -> str:
    """A type for messages and comparisons: `decimal(10,2)`, `objectId`."""
    return type_text(type)


def takes_default(type: ColumnType) -> bool:
    """Every field may; documents that are there are not told of it."""
    return True


def widens(old: ColumnType, new: ColumnType) -> bool:
    """Whether every value of the old type is a value of the new one. A field may keep its type: strings have no length.

    >>> widens(ColumnType("int"), ColumnType("long")), widens(ColumnType("long"), ColumnType("double"))
    (True, False)
    """
    if old.name == new.name == "decimal":
        if new.length is None:
            return old.length is None
        if old.length is None:
            return False
        scale, new_scale = old.scale or 0, new.scale or 0
        return new_scale >= scale and new.length - new_scale >= old.length - scale
    if old.name == new.name:
        return (old.scale or 0) == (new.scale or 0) and new.labels[: len(old.labels)] == old.labels
    return (old.name, new.name) == ("int", "long")
