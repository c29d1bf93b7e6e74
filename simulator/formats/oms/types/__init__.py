"""OMS's classes of the types of a source: `types.csv` by type, `nearest` for systems that it does not read.

`columns` is what formats use; read `classes` first.
"""
