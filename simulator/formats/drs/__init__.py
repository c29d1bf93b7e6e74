"""Huawei Cloud DRS, synchronisation to Kafka: one module a format. Read `json` first.

| module | holds |
| --- | --- |
| `json`, `json_c`, `avro` | the formats |
| `fields`, `record` | the members of messages about tables, the Avro record |
| `systems` | what DRS does with each source: texts, codes (`codes.csv`) and Avro classes of values; documents of DDS |
| `logged` | which columns the images of a row have |
| `task`, `routing`, `options` | what all formats share: what is sent, topics, partitions and keys, options |
"""
