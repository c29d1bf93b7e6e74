"""MySQL and MariaDB. Read `source` first, then `type_table`.

| module | holds |
| --- | --- |
| `source` | `MysqlSource`, `MariadbSource` |
| `type_table`, `types` | the table of types: names, codes, bounds, carriers; types as text, read and printed |
| `values`, `times`, `json`, `typed_json`, `geometry` | literals to carriers and back |
| `corpus` | boundary values and believable defaults of every type |
| `ddl`, `log`, `row_bytes` | statements; the binary log; how many bytes a row takes in it |
"""
