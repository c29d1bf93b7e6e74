"""OceanBase Migration Service: one module a format. Read `default` first.

| module | holds |
| --- | --- |
| `default`, `default_extend_column_type`, `canal_json`, `dataworks`, `shareplex` | the formats |
| `systems` | what OMS says of each source: a row a source |
| `types` | names and codes of types (`types.csv`), texts of values by the product's classes |
| `names`, `keys`, `positions` | members that the formats share: names, words for DDL, keys, sequences, transactions |
| `layout`, `logged`, `routing`, `options` | maps, tags and kinds sent; images as OceanBase logs them; topics; options |
"""
