"""The connectors, one module each: types, positions, ids of transactions."""
