"""MySQL and MariaDB as the engine of a script: statements over the client protocol, changes from the row binlog.

Nothing here executes a statement: definitions are the server's own, from its catalogue or from its log.

| module | holds |
| --- | --- |
| `connection` | a session on the server, and what is expected of it |
| `binlog` | events of the row binlog |
| `cells`, `packed`, `json_binary` | values of rows events: columns, numbers and times in bits, JSON documents |
| `catalog`, `metadata` | definitions of tables: the server's of now, and the log's |
| `ddl` | what the text of a DDL statement says: its kind, its tables, the spelling of types |
| `tables`, `rows` | the tables as the log is read, and their rows |
| `history` | the log as literal transactions |
| `run` | a script's run |
| `programs`, `local` | servers of this machine, or fetched ones, for one run |
| `existing` | the log that a server has already |
"""
