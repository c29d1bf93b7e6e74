"""RabbitMQ over AMQP 0-9-1, through pika.

`url.py` has the options of the URL, `broker.py` connects and declares, `frames.py` makes the bytes of publications and
counts confirms, `sink.py` sends, `reader.py` reads back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulator.sinks.rabbitmq.url import MAY_CHANGE, OPTIONS, RabbitmqUrl, parse_url
from simulator.sinks.reading import Reader
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents, Transport


def _opened(url: RabbitmqUrl, contents: Contents) -> Sink:
    from simulator.sinks.rabbitmq.sink import RabbitmqSink

    return RabbitmqSink(url, contents.properties)


def _read(url: RabbitmqUrl) -> Reader:
    from simulator.sinks.rabbitmq.reader import RabbitmqReader

    return RabbitmqReader(url)


AMQP: Final = Transport(
    form="amqp://HOST/VHOST", parse=parse_url, open=_opened, read=_read, topic=lambda url: url.topic,
    broker="rabbitmq", resumes=True, options=OPTIONS, may_change=MAY_CHANGE,
)  # fmt: skip
AMQPS: Final = replace(AMQP, form="amqps://HOST/VHOST")
