"""The URL of the RocketMQ sink.

`rocketmq://host:9876;other:9876/cdc_{table}?partitions=8&access_key=cdc&secret_key_env=ROCKETMQ_SECRET`, with the
addresses of name servers and these options:

| option | meaning | default |
| --- | --- | --- |
| partitions=N | a missing topic is made with N queues; an existing one must have N | it must exist |
| topic_type=fifo or normal | the message type of a topic that is made | fifo |
| client=library | rocketmq-client-python with librocketmq: one message a request | this one, where it is installed |
| client=native | requests of our own, which hold up to 200 messages; needs no library | where it is not |
| threads=N | how many threads send; a queue belongs to one of them | 16 |
| group=NAME | the producer group | cdcsim |
| tag=TEXT | the tag of messages for which the product has none | none |
| max_message_bytes=N | the largest body | 4194304 |
| access_key=NAME | the user of a broker that wants a login | none |
| secret_key_env=NAME | the environment variable that holds the user's secret key | |
| secret_key_file=FILE | the file whose first line is the secret key | |
| timeout_secs=S | how long to wait for the cluster: to connect, and in mid-run for it to come back | 5, and 300 |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from simulator.errors import OptionError, UsageError
from simulator.sinks.url import (
    MOST_PARTITIONS,
    Options,
    Patience,
    check_pattern,
    environment,
    first_line,
    one_of,
    parse_options,
    seconds,
    servers,
    text,
    whole_number,
)

# The rule of apache/rocketmq's TopicValidator.java.
TOPIC: Final = re.compile(r"[%|a-zA-Z0-9_-]{1,127}")
GROUP: Final = re.compile(r"[%|a-zA-Z0-9_-]{1,255}")


def group(given: str) -> str:
    if not GROUP.fullmatch(given):
        raise ValueError("a name of letters, digits, _, -, % and |")
    return given


OPTIONS: Final[Options] = {
    "partitions": whole_number(1, MOST_PARTITIONS),
    "topic_type": one_of("fifo", "normal"),
    "client": one_of("library", "native"),
    "threads": whole_number(1, 256),
    "group": group,
    "tag": text,
    "max_message_bytes": whole_number(1, 2_147_483_647),
    "access_key": text,
    "secret_key_env": environment,
    "secret_key_file": first_line,
    "timeout_secs": seconds,
}
# Options that a resumed run may change, since they decide neither a byte nor a place.
MAY_CHANGE: Final = OPTIONS.keys() - {"topic_type", "tag"}


@dataclass(frozen=True, slots=True)
class Login:
    access_key: str
    secret_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RocketmqUrl(Patience):
    """A parsed `rocketmq://` URL; None is what the URL does not say."""

    name_servers: str
    topic: str | None = None
    partitions: int | None = None
    topic_type: str = "fifo"
    client: str | None = None
    threads: int = 16
    group: str = "cdcsim"
    tag: str | None = None
    max_message_bytes: int = 4 << 20
    login: Login | None = None

    def __str__(self) -> str:
        return f"RocketMQ {self.name_servers}"


def parse_url(url: str) -> RocketmqUrl:
    """`rocketmq://a:9876;b/orders?partitions=4` is `RocketmqUrl("a:9876;b:9876", "orders", partitions=4)`.

    Raises OptionError and, for a topic that RocketMQ does not take, UsageError; neither repeats the URL.
    """
    scheme, separator, rest = url.partition("://")
    if scheme != "rocketmq" or not separator:
        raise OptionError("a RocketMQ URL begins with 'rocketmq://', as in rocketmq://localhost:9876/orders.")
    place, _, query = rest.partition("?")
    hosts, _, topic = place.partition("/")
    if "@" in hosts:
        raise OptionError("a RocketMQ URL takes no user before the host: add access_key=NAME and secret_key_env=NAME.")
    form = "rocketmq://host:port or rocketmq://host:port;host:port"
    addresses = servers(hosts, "RocketMQ name server", port=9876, form=form, separator=";")
    topic = unquote(topic)
    check_pattern(topic)
    if topic:
        check_topic(re.sub(r"\{\w+\}", "x", topic), topic)
    options = parse_options(query, OPTIONS, "a RocketMQ URL")
    secrets = [options.pop(name) for name in ("secret_key_env", "secret_key_file") if name in options]
    access_key = options.pop("access_key", None)
    if len(secrets) > 1:
        raise OptionError("the RocketMQ URL has both secret_key_env and secret_key_file: leave one out.")
    if (access_key is None) != (not secrets):
        missing = "access_key=NAME" if access_key is None else "secret_key_env=NAME or secret_key_file=FILE"
        raise OptionError(f"the RocketMQ URL has half a login: add {missing}.")
    login = None if access_key is None else Login(access_key, secrets[0])
    return RocketmqUrl(addresses, topic or None, login=login, **options)


def check_topic(topic: str, label: str | None = None) -> None:
    """Raises UsageError for a name that no RocketMQ takes."""
    if not TOPIC.fullmatch(topic):
        raise UsageError(
            f"RocketMQ takes no topic {label or topic!r}: a name has up to 127 letters, digits, _, -, % and |, and no"
            " dot; write it into the URL, as in rocketmq://host:9876/{database}_{table}."
        )
