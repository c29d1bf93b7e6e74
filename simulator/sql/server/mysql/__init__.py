"""MySQL and MariaDB as the engine of a script: statements over the client protocol, changes from the row binlog."""
