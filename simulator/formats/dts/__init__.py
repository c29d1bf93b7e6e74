"""Alibaba Cloud DTS: one module a format. Read `canal_json` first.

| module | holds |
| --- | --- |
| `canal_json`, `shareplex_json`, `avro` | the formats |
| `record` | the Avro record: its bytes, row images, values, tags, positions |
| `cells` | values as text in the JSON formats |
| `systems` | what DTS says of each source: a row a source |
| `types`, `types.csv` | number and value record of each column type, with where it is known from |
| `delivery`, `options` | topics, partitions and keys; options |
"""
