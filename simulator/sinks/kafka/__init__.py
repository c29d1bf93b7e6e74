"""Kafka, through librdkafka. `url.py` has the options of the URL and the client's settings, `sink.py` sends."""
