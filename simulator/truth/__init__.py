"""Ground truth: what a consumer of a stream must hold. `expected` writes the rows of every table before a turn."""
