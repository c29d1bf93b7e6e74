"""A real server as the engine of a script: it runs the statements, and its own log is read.

| module | holds |
| --- | --- |
| `url` | what `--sql-engine` says |
| `mysql` | MySQL and MariaDB: the row binlog |
| `postgresql` | PostgreSQL: the server of a wheel or a running one, logical decoding with pgoutput |
"""
