"""Parsing of scripts: statements, words, definitions and sqlglot's trees. Read `client` first."""
