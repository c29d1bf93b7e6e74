"""The Avro record of DTS. Read `writer` first; `record` has the bytes of its fields, `values` those of images."""
