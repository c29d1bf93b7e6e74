"""RabbitMQ over AMQP 0-9-1, through pika.

`url.py` has the options of the URL, `broker.py` connects and declares, `frames.py` makes the bytes of publications and
counts confirms, `sink.py` sends.
"""
