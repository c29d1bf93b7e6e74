"""Expressions of sqlglot's tree made into Python functions, and their values. Read `expressions` first."""
