"""A real server as the engine of a script: it runs the statements, and its own log is read.

| module | holds |
| --- | --- |
| `url` | the value of `--sql-engine` |
| `kept` | a server that runs for one script in a folder of its own |
| `mysql` | MySQL and MariaDB: the row binlog |
| `postgresql` | PostgreSQL: the server of a wheel or a running one, logical decoding with pgoutput |
"""
