"""SELECT on rows in memory. Read `select` first."""
