"""Column values as CloudCanal writes them. Read `cells` first; each type library of the product has a module."""
