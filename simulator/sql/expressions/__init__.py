"""Expressions of sqlglot's tree made into Python functions. Read `scope`, then `compiler`."""
