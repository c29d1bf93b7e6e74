"""What a server keeps of a table, and what differs between servers, as data. Read `definitions` first."""
