"""Conversion of a value to what a column stores. Read `conversion` first."""
