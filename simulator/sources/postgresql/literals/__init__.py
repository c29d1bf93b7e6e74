"""How values of each family are written and read: numbers, texts and bits, documents, search, arrays and ranges."""
