"""What a server stores about a table, and what differs between servers, as data. Read `definitions` first."""
