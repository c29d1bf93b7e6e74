"""A server's definitions of tables, and the differences between servers as data. Read `definitions` first."""
