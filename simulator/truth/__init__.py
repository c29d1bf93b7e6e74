"""Ground truth: the tables that a correct consumer of a stream holds. `expected` writes the rows of every table before
a turn to files; `rows` returns them, and the changes that lead to them, as Python values.
"""
