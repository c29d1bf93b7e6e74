"""A script taken apart: statements, words, definitions and sqlglot's trees. Read `client` first."""
