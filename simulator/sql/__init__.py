"""A SQL script as a scenario: run on rows in memory as MySQL or MariaDB would, its log read as a stream of changes.

Scripts for PostgreSQL always run on a server.

Read `script` first: it runs a file statement by statement; `stream` makes its log a stream, or writes and reads it as a
recording.

| package | holds |
| --- | --- |
| `catalog` | definitions of databases, tables, columns, keys; what differs between servers |
| `parse` | the file cut into statements; words, definitions, sqlglot's trees |
| `values`, `assignment` | what expressions hold, and what a column makes of it |
| `store` | rows, the session and its transactions, the log, foreign keys |
| `functions`, `expressions` | what is called by name, and what compiles to Python functions |
| `queries`, `dml`, `ddl`, `programs`, `statements` | the kinds of statements; `statements.execute` tells them apart |
| `server` | a real server that runs a script instead (`--sql-engine`), its log read |

A module imports from its own package and those above it in this table. What the engine does not do it refuses with a
sentence (`errors.Unsupported`); what the server refuses ends with the server's own error (`errors.SqlError`).
"""

from __future__ import annotations

# Suffix of the files that `cdcsim record` writes.
RECORDING = ".cdc"


def is_script(name_or_path: str) -> bool:
    """Whether a scenario is a SQL script, or the recording of one: by its suffix."""
    return "\n" not in str(name_or_path) and str(name_or_path).lower().endswith((".sql", RECORDING))
