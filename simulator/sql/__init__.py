"""A SQL script as a scenario: taken apart like a database's client does it, parsed by sqlglot, run on rows in memory.

| module | holds |
| --- | --- |
| `client`, `script`, `stream` | the file: statements and meta-comments; the run; its log as a stream of changes |
| `execute`, `settings`, `transactions` | which statement is which; SET; BEGIN to XA |
| `ddl`, `alter`, `store/altered_rows`, `statements/as_select` | databases, tables and indexes, and what changes them |
| `definitions`, `parse/column_types`, `reader`, `catalog` | definitions, read from sqlglot's tokens |
| `dml`, `inserting`, `changing`, `fast` | INSERT, REPLACE, UPDATE, DELETE: rows put in, rows changed, literals |
| `rows`, `plans`, `relations` | a table's rows; defaults, generated columns and triggers; foreign keys |
| `queries`, `scopes`, `expressions` | SELECT; expressions from sqlglot's trees, and what they see |
| `conditions`, `arithmetic`, `calls`, `casts`, `comparing` | the kinds of expressions |
| `functions`, `texts`, `functions/json_functions`, `calling` | functions by name, on values |
| `values`, `moments`, `documents`, `functions/json_errors` | kinds of values |
| `assign`, `assignment/numbers`, `assignment/moments`, `assignment/texts`, `rules` | what a column makes of them |
| `session`, `log`, `server`, `errors` | the connection, the log, what differs between servers, what can go wrong |

MySQL and MariaDB are known so far; another system's SQL is another `execute` on the same log and stream.
"""

from __future__ import annotations


def is_script(name_or_path: str) -> bool:
    """Whether a scenario is a SQL script: by its suffix."""
    return str(name_or_path).lower().endswith(".sql")
