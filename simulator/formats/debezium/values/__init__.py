"""Values as Kafka Connect has them: schemas of types, and the JSON of carriers."""
