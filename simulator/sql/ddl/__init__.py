"""CREATE, ALTER, DROP, RENAME and TRUNCATE. Read `tables` first."""
