"""Column values as CloudCanal writes them. Read `cells` first; a type library of the product has a module each."""
