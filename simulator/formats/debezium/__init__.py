"""Debezium: the connectors of debezium.io, with the converters of Kafka Connect."""
