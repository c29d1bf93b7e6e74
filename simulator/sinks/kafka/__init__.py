"""Kafka, through librdkafka. `url.py` has the options of the URL and the client's settings, `open.py` chooses the
sink, `sink.py` sends."""
