"""SQL functions by name, on values. Read `functions` first."""
