"""Oracle. Read `source` first, then `type_table`.

| module | holds |
| --- | --- |
| `source` | `OracleSource` |
| `type_table`, `types` | the table of types: names, codes, bounds, carriers; types as text, read and printed |
| `values`, `times` | literals to carriers and back |
| `corpus` | boundary values and believable defaults of every type |
| `ddl`, `log`, `rowid` | statements; SCNs and transaction ids; ROWIDs |
"""
