"""SQL Server. Read `source` first, then `type_table`.

| module | holds |
| --- | --- |
| `source` | `SqlserverSource` |
| `type_table`, `types` | the table of types: names, numbers, codes, bounds, carriers; types as text, read and printed |
| `values`, `times`, `clr`, `shapes` | literals to carriers and back |
| `corpus` | boundary values and believable defaults of every type |
| `ddl`, `log` | statements; LSNs and transaction ids |
"""
