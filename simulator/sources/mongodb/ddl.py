"""MongoDB's commands in the place of DDL, and the shell's calls that change a document: collections and databases are
dropped, collections renamed.

All other changes have no command in a change stream: databases and collections come with their first document, fields
come and go with documents. Those statements are empty: the application writes documents of the new shape from then on.
Existing documents lack an added field; a renamed or dropped field changes in all of them at once, without an update of
each.
"""

from __future__ import annotations

import re
from typing import Final

import orjson

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources.ddl import Ddl, Literals
from simulator.sources.mongodb.shell import Shell, shell_string
from simulator.sources.mongodb.types import type_text
from simulator.sources.mongodb.values import parse_values

# A name that the shell accepts without quotes.
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)


def _command(**members: object) -> str:
    return orjson.dumps(members).decode().replace('":', '": ').replace(',"', ', "')


def _field(name: str) -> str:
    return name if _NAME.fullmatch(name) else shell_string(name)


def _document(table: Table, image: Literals) -> str:
    """The existing fields of an image, in the shell's syntax."""
    columns = {column.name: column for column in table.columns}
    shell = Shell()
    members = (
        f"{_field(name)}: {shell.text(columns[name], parse_values([text], columns[name].type))[0]}"
        for name, text in image.items()
        if text is not None
    )
    return f"{{{', '.join(members)}}}"


class MongodbDdl(Ddl):
    """MongoDB's commands. deleteMany({}) empties a collection; existing documents do not get a new field's default."""

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

    def row_change(self, table: Table, before: Literals | None, after: Literals | None) -> str:
        """`db.orders.updateOne({_id: 7}, {$set: {paid: true}})`; a null is a missing field."""
        name = (
            f".{table.id.name}" if _NAME.fullmatch(table.id.name) else f".getCollection({shell_string(table.id.name)})"
        )
        if before is None:
            assert after is not None
            return f"db{name}.insertOne({_document(table, after)})"
        where = _document(table, {column: before[column] for column in table.primary_key})
        if after is None:
            return f"db{name}.deleteOne({where})"
        changed = {column: text for column, text in after.items() if text != before.get(column)} or dict(after)
        parts = [f"$set: {_document(table, changed)}"] if any(text is not None for text in changed.values()) else []
        gone = [f"{_field(column)}: 1" for column, text in changed.items() if text is None]
        parts += [f"$unset: {{{', '.join(gone)}}}"] if gone else []
        return f"db{name}.updateOne({where}, {{{', '.join(parts)}}})"

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
