"""Ground truth: what a consumer of a stream must hold. `expected` writes the rows of every table before a turn as
files, `rows` gives them as Python values, and the changes that lead to them.
"""
