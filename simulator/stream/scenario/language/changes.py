"""Schema changes and scripts in the scenario language."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from simulator.stream.scenario.language.tables import ColumnSpec
from simulator.stream.scenario.language.words import MOST_TURNS, Instant, Name, Names, Row, RowStatement, Strict, Text

# ---------------------------------------------------------------------------------------------------- schema changes


class NewColumn(Strict):
    """A column that a schema change adds."""

    name: Name
    column: ColumnSpec
    default: Annotated[Text, Field(description="Value in existing rows.")] = None
    after: Annotated[Name | None, Field(description="The column before it; default: last.")] = None


class Widened(Strict):
    column: Name
    type: str


class Renamed(Strict):
    column: Name
    to: Name


class Dropped(Strict):
    column: Name


class Index(Strict):
    name: Name
    columns: Names
    unique: bool = False


class IndexName(Strict):
    name: Name


_TABLE_CHANGES = ("add_column", "widen", "rename_column", "drop_column", "create_index", "drop_index")


class TableChange(Strict):
    """Exactly one change to a table's structure."""

    table: Name = Field(description="The table's name at this time.")
    add_column: NewColumn | None = None
    widen: Widened | None = None
    rename_column: Renamed | None = None
    drop_column: Dropped | None = None
    create_index: Index | None = None
    drop_index: IndexName | None = None
    sql: Annotated[str | None, Field(description="The statement; default: generated for the source.")] = None

    @property
    def change(self) -> str:
        """The key of the change: `add_column`, `rename_table` …"""
        return self.only(self._changes())

    @classmethod
    def _changes(cls) -> tuple[str, ...]:
        return _TABLE_CHANGES

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        self.only(self._changes())
        return self


class TimedChange(TableChange):
    """A schema change in a generated stream."""

    at: Annotated[
        int, Field(ge=0, le=MOST_TURNS, description="It happens at the first transaction border at or after this turn.")
    ]


# ------------------------------------------------------------------------------------------------------------ script


class ScriptedStatement(RowStatement):
    """Literal rows: insert with rows, update with where and set, delete with where. `where` names the key."""

    rows: Annotated[list[Row] | None, Field(min_length=1)] = None
    where: Row | list[Row] | None = None
    set: Row | None = None

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        needed = {"insert": {"rows"}, "update": {"where", "set"}, "delete": {"where"}}[self.kind]
        keys = {key for key in ("rows", "where", "set") if getattr(self, key) is not None}
        if keys != needed:
            raise ValueError(f"{self.kind} needs {' and '.join(sorted(needed, reverse=True))}, and nothing else")
        return self


class ScriptedSnapshot(Strict):
    """Rows before the script's first entry; a snapshot contains them."""

    table: Name
    rows: Annotated[list[Row], Field(min_length=1)]


class NewTableName(Strict):
    to: Name


class ScriptedChange(TableChange):
    """A DDL statement of a script: the changes of generated streams, and some that only scripts can make."""

    table: Name = Field("", description="The table's name at this time; not for databases.")
    create_database: Name | None = None
    create_table: Annotated[bool, Field(description="The table of this name under tables, with created: no.")] = False
    truncate: bool = False
    rename_table: NewTableName | None = None
    drop_table: bool = False
    drop_database: Annotated[Name | None, Field(description="Drops its tables, too.")] = None

    @classmethod
    def _changes(cls) -> tuple[str, ...]:
        return (
            "create_database",
            "create_table",
            *_TABLE_CHANGES,
            "truncate",
            "rename_table",
            "drop_table",
            "drop_database",
        )

    @model_validator(mode="after")
    def _on_what(self) -> Self:
        of_database = self.change.endswith("_database")
        if of_database and self.table:
            raise ValueError(f"remove table: {self.change} is about a database")
        if not of_database and not self.table:
            raise ValueError(f"{self.change} needs table")
        return self


class ScriptEntry(Strict):
    """One entry of a script: a snapshot, a transaction, a DDL statement or a heartbeat."""

    name: Annotated[str | None, Field(description="A name, which `show` prints and `--step` selects by.")] = None
    at: Annotated[Instant | None, Field(description="Commit time; default: one second after the entry before.")] = None
    snapshot: ScriptedSnapshot | None = None
    transaction: Annotated[list[ScriptedStatement] | None, Field(min_length=1)] = None
    ddl: ScriptedChange | None = None
    heartbeat: bool = False

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        self.only(("snapshot", "transaction", "ddl", "heartbeat"))
        return self
