"""Huawei Cloud DRS, synchronisation to Kafka: one module a format. Read `json` first.

| module | holds |
| --- | --- |
| `json`, `json_c`, `avro` | the formats |
| `fields`, `record`, `dds` | the members of messages about tables, the Avro record, messages about documents |
| `systems` | what DRS does with each source: a row a source |
| `mysql`, `oracle`, `postgresql`, `sqlserver` | texts, type codes and Avro classes of their values |
| `codes.csv` | type codes (`sqlType`), each with where it is known from |
| `logged` | which columns the images of a row have |
| `task`, `routing`, `options` | what all formats share: what is sent, topics, partitions and keys, options |
"""
