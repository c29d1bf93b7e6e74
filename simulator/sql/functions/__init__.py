"""SQL functions, on values. Read `table` first: their names."""
