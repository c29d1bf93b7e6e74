"""Errors of a script: the database's own errors, by number, and unsupported statements."""

from __future__ import annotations

from typing import Final, NamedTuple

from simulator.errors import UsageError
from simulator.tables import CsvTable

SYNTAX: Final = (
    "You have an error in your SQL syntax; check the manual that corresponds to your {} server version for the right "
    "syntax to use near"
)


class ErrorText(NamedTuple):
    state: str
    text: str


# By number; texts that differ in MariaDB are in `MARIADB`.
TEXTS: Final = CsvTable(__file__, "errors.csv", ErrorText)


# MariaDB's number, SQLSTATE and text; `where` is the table that the statement changes.
MARIADB: Final = {
    1091: (1091, "42000", "Can't DROP {1} `{0}`; check that it exists"),
    1292: (1292, "22007", "Incorrect {0} value: '{1}' for column {where}.`{2}` at row {3}"),
    1366: (1366, "22007", "Incorrect {0} value: '{1}' for column {where}.`{2}` at row {3}"),
    1792: (1792, "25006", "Cannot execute statement in a READ ONLY transaction"),
    3105: (1906, "HY000", "The value specified for generated column '{0}' in table '{1}' has been ignored"),
    3819: (4025, "23000", "CONSTRAINT `{0}` failed for {where}"),
    4078: (4078, "HY000", "Cannot cast '{0}' as '{1}' in assignment of {where}.`{2}`"),
}
# The clause of an unknown column, as MySQL and as MariaDB name it.
CLAUSES: Final = {
    "field list": ("field list", "SELECT"),
    "columns": ("field list", "INSERT INTO"),
    "values": ("field list", "VALUES"),
    "set": ("field list", "SET"),
    "on duplicate": ("field list", "UPDATE"),
    "where clause": ("where clause", "WHERE"),
    "order clause": ("order clause", "ORDER BY"),
    "group statement": ("group statement", "GROUP BY"),
    "on clause": ("on clause", "ON"),
}


class SqlError(Exception):
    """An error of the database: `ERROR 1062 (23000): Duplicate entry '1' for key 'PRIMARY'`."""

    def __init__(self, number: int, *facts: object) -> None:
        self.clause: object = ""
        self.key, self.facts = number, facts
        state, text = TEXTS[str(number)]
        if number in (1052, 1054):
            self.clause = CLAUSES.get(str(facts[1]), ("", facts[1]))[1]
            self.facts = (facts[0], CLAUSES.get(str(facts[1]), (facts[1],))[0])
        self.report(number if number < 10_000 else number // 10, state, text.format(*self.facts))

    def report(self, number: int, state: str, text: str) -> None:
        self.number, self.state, self.text = number, state, text

    def __str__(self) -> str:
        return f"ERROR {self.number} ({self.state}): {self.text}"

    def complete(self, statement: str, database: str, table: str, *, mariadb: bool) -> None:
        """Add what only the whole statement knows: the line of a syntax error, the table of a column, and MariaDB's
        text."""
        if self.key == 1064:
            near = str(self.facts[0])
            offset = statement.rfind(near) if near else len(statement)
            line = statement.count("\n", 0, max(offset, 0)) + 1
            self.report(1064, "42000", f"{SYNTAX.format('MariaDB' if mariadb else 'MySQL')} '{near}' at line {line}")
        elif mariadb and self.key in MARIADB:
            number, state, text = MARIADB[self.key]
            self.report(number, state, text.format(*self.facts, where=f"`{database}`.`{table}`"))
        elif mariadb and self.key == 1054:
            self.text = f"Unknown column '{self.facts[0]}' in '{self.clause}'"
        elif mariadb and self.key == 38190:
            self.report(4025, "23000", f"CONSTRAINT `{table}.{self.facts[0]}` failed for `{database}`.`{table}`")
        elif self.key == 3140:
            self.text = f"Invalid JSON text: {self.facts[0]} in value for column '{table}.{self.facts[1]}'."


class Unsupported(Exception):
    """A statement, or a part of one, that the evaluator does not support: the text says what."""


class ManyPartitions(Unsupported):
    """A statement that changes or reads several rows of a partitioned table, whose order depends on the partitions."""

    def __init__(self, id: object) -> None:
        super().__init__(f"a statement about several rows of the partitioned table {id}")


class UnreadLog(UsageError):
    """A change in a server's log that cannot be read. `line`: the statement that made it."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class ServerError(SqlError):
    """An error of a PostgreSQL server: `ERROR 42P01: relation "t" does not exist`."""

    def __init__(self, state: str, text: str) -> None:
        self.clause, self.key, self.facts = "", 0, ()
        self.report(0, state, text)

    def __str__(self) -> str:
        return f"ERROR {self.state}: {self.text}" if self.state else self.text
