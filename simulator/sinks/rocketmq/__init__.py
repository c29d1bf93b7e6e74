"""RocketMQ over its remoting protocol.

`url.py` has the options of the URL, `remoting.py` the protocol, `cluster.py` asks for topics and makes them,
`library.py` sends with rocketmq-client-python, `native.py` over the protocol, `sink.py` divides the work among threads,
and `reader.py` reads back.
"""

from __future__ import annotations

from typing import Final

from simulator.sinks.reading import Reader
from simulator.sinks.rocketmq.url import MAY_CHANGE, OPTIONS, RocketmqUrl, parse_url
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents, Transport


def _opened(url: RocketmqUrl, contents: Contents) -> Sink:
    from simulator.sinks.rocketmq.sink import RocketmqSink

    return RocketmqSink(url)


def _read(url: RocketmqUrl) -> Reader:
    from simulator.sinks.rocketmq.reader import RocketmqReader

    return RocketmqReader(url)


ROCKETMQ: Final = Transport(
    form="rocketmq://HOST:PORT/TOPIC", parse=parse_url, open=_opened, read=_read, topic=lambda url: url.topic,
    broker="rocketmq", resumes=True, options=OPTIONS, may_change=MAY_CHANGE,
)  # fmt: skip
