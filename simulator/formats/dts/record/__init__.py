"""The Avro record of DTS, part by part: its schema and bytes, row images, values, tags. Read `writer` first."""
