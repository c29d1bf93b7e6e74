"""MongoDB. Read `source` first: collections as tables, documents as rows; then `type_table`.

| module | holds |
| --- | --- |
| `source` | `MongodbSource` |
| `type_table`, `types` | the table of BSON types, carriers; types as text |
| `values`, `json`, `shell` | literals to carriers and back; extended JSON; texts as the shell prints them |
| `documents` | rows as documents, what an update sets and unsets |
| `corpus` | boundary values and believable defaults of every type |
| `ddl`, `log` | commands in change streams; cluster times |
"""
