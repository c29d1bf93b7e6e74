"""MongoDB's commands in the place of DDL: collections and databases are dropped, collections renamed.

All else has no command in a change stream: databases and collections come with their first document, fields come and go
with documents. Those statements are empty: the application writes documents of the new shape from then on. A field that
is added is not in the documents that are there; one that is renamed or dropped is so in all of them at once, without an
update of each.
"""

from __future__ import annotations

from typing import Final

import orjson

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources.ddl import Ddl
from simulator.sources.mongodb.types import type_text


def _command(**members: object) -> str:
    return orjson.dumps(members).decode().replace('":', '": ').replace(',"', ', "')


class MongodbDdl(Ddl):
    """A collection is emptied with deleteMany({}). Documents that are there do not get a new field's default."""

    truncates = False
    fills_columns = False

    def type_definition(self, type: ColumnType) -> str:
        return type_text(type)

    def type_name(self, type: ColumnType) -> str:
        """A type for messages and comparisons: `decimal(10,2)`, `objectId`."""
        return type_text(type)

    def drop_database(self, database: str) -> str:
        """`{"dropDatabase": 1}`, a command to the database."""
        return _command(dropDatabase=1)

    def drop_table(self, table: Table) -> str:
        """`{"drop": "orders"}`"""
        return _command(drop=table.id.name)

    def rename_table(self, table: Table, to: str) -> str:
        """`{"renameCollection": "shop.orders", "to": "shop.bills"}`"""
        database = table.id.database
        return _command(renameCollection=f"{database}.{table.id.name}", to=f"{database}.{to}")

    def rename_column(self, table: Table, old: Column, renamed: Column) -> str:
        if old.name == "_id":
            raise UsageError("MongoDB's _id has no other name.")
        return ""

    def widens(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether every value of the old type is a value of the new one. A field may keep its type: strings have no
        length.

        >>> ddl.widens(ColumnType("int"), ColumnType("long")), ddl.widens(ColumnType("long"), ColumnType("double"))
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


ddl: Final = MongodbDdl()
