"""PostgreSQL and GaussDB. Read `source` first, then `type_table`.

| module | holds |
| --- | --- |
| `source`, `gaussdb` | `PostgresqlSource`, `GaussdbSource` |
| `type_table`, `types` | the types: names, numbers in pg_type, codes, bounds, carriers; types as text |
| `values`, `times`, `literals` | literals to carriers and back |
| `storage` | generated values as they are stored |
| `corpus` | boundary values and believable defaults of every type |
| `ddl`, `log` | statements; LSNs and transaction ids |
"""
