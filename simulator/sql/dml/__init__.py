"""INSERT, REPLACE, UPDATE and DELETE on rows in memory. Read `statements` first."""
