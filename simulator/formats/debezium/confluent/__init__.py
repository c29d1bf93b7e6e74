"""Values, keys and schemas as Confluent's Avro converter writes them."""
