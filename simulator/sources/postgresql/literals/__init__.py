"""Literals of each family of values: numbers, texts and bits, documents, search, arrays and ranges."""
