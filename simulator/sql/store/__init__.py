"""The state of a server: rows, the session with its transactions, the log. Read `session` first."""
