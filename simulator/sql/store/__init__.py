"""What a server keeps: rows, the session with its transactions, the log. Read `session` first."""
