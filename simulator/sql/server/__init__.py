"""A real server as the engine of a script: it runs the statements, and its own row binlog is read."""
