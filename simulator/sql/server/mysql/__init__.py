"""MySQL and MariaDB as the engine of a script: statements over the client protocol, changes from the row binlog.

| module | holds |
| --- | --- |
| `connection` | a session on the server, and what is expected of it |
| `binlog` | events of the row binlog |
| `cells`, `packed`, `json_binary` | values of rows events: columns, numbers and times in bits, JSON documents |
| `history` | a script's run: the log as literal transactions |
| `existing` | the log that a server has already |
"""
