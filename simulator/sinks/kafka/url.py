"""The user's side of the Kafka sink: its URL, its properties file, and the client settings that follow from them.

`kafka://host:9092,other:9092/cdc.{database}.{table}?partitions=12&compression=lz4`, with these options:

| option | meaning | default |
| --- | --- | --- |
| partitions=N | a missing topic is made with N partitions; an existing one must have N | it must exist |
| replication=N | copies of a topic that is made | the broker's |
| compression=none, gzip, snappy, lz4 or zstd | of the batches on the wire and on the broker's disk | none |
| acks=all, 1 or 0 | who must have a message before it counts as delivered | all |
| idempotence=true or false | each message once and in order; false: not where a batch had to be sent again | true |
| linger_ms=MS | how long a batch is filled | 50 |
| batch_bytes=N | the largest batch | 1000000 |
| max_message_bytes=N | the largest message; a topic that is made takes as much when this is given | 16000000 |
| properties=FILE | any setting of librdkafka, as `name=value` lines; security belongs here | |
| exactly-once=true or false | transactions: who reads committed messages sees none twice, also after a crash | false |
| transactional-id=NAME | with exactly-once: who writes; of two runs the later one ends the other | cdcsim-TOPIC |
| timeout_secs=S | how long to wait for the broker: to connect, and in mid-run for it to come back | 5, and 300 |

A setting in the file wins over a default, an option of the URL over the file. Values of the file are never printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from simulator.errors import OptionError, UsageError
from simulator.sinks.url import (
    MOST_PARTITIONS,
    Options,
    Patience,
    check_pattern,
    flag,
    one_of,
    parse_options,
    path,
    seconds,
    servers,
    text,
    whole_number,
)

# As much as `buffer.memory` of Java's producer: 64 MiB gave no more messages a second.
QUEUE_KBYTES: Final = 32 << 10
DEFAULTS: Final[Mapping[str, str]] = {
    "client.id": "cdcsim",
    # librdkafka's own default hashes keys with CRC32, Java's producer with murmur2.
    "partitioner": "murmur2_random",
    "acks": "all",
    "enable.idempotence": "true",
    "linger.ms": "50",
    "compression.type": "none",
    "message.max.bytes": "16000000",
    "queue.buffering.max.messages": "200000",
    "queue.buffering.max.kbytes": str(QUEUE_KBYTES),
    # A topic that goes missing is reported after a second instead of thirty, and never made by the broker.
    "topic.metadata.propagation.max.ms": "1000",
    "allow.auto.create.topics": "false",
    # librdkafka 2.16 forgets its brokers when the last connection is lost, to find them anew by `bootstrap.servers`; a
    # request that was on its way then may wait for the forgotten one without end, and a transaction with it (seen).
    "metadata.recovery.strategy": "none",
}
# librdkafka's longest `linger.ms`, and its default of `message.timeout.ms`.
LONGEST_LINGER_MS: Final = 900_000
DEFAULT_TIMEOUT_MS: Final = "300000"
# Other names for settings above: the file's spelling must not escape the order of precedence.
ALIASES: Final[Mapping[str, str]] = {
    "metadata.broker.list": "bootstrap.servers",
    "request.required.acks": "acks",
    "queue.buffering.max.ms": "linger.ms",
    "compression.codec": "compression.type",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "delivery.timeout.ms": "message.timeout.ms",
}
# Values of a properties file that may appear in an error: librdkafka uses the words itself.
OPEN_WORDS: Final = {"", "true", "false", "all", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "PLAIN"}
TOPIC: Final = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
PATTERN: Final = re.compile(r"(?:[a-zA-Z0-9._-]|\{\w+\})+")

# Options that are settings of librdkafka, and how each option's text is read (ValueError: what it must be).
SETTINGS: Final[Mapping[str, str]] = {
    "compression": "compression.type",
    "acks": "acks",
    "idempotence": "enable.idempotence",
    "linger_ms": "linger.ms",
    "batch_bytes": "batch.size",
    "max_message_bytes": "message.max.bytes",
}
OPTIONS: Final[Options] = {
    "partitions": whole_number(1, MOST_PARTITIONS),
    "replication": whole_number(1, 32_767),
    "compression": one_of("none", "gzip", "snappy", "lz4", "zstd"),
    "acks": one_of("all", "1", "0"),
    "idempotence": flag,
    # the ranges of librdkafka's settings
    "linger_ms": whole_number(0, LONGEST_LINGER_MS),
    "batch_bytes": whole_number(1, 2_147_483_647),
    "max_message_bytes": whole_number(1000, 1_000_000_000),
    "properties": path,
    "exactly-once": flag,
    "transactional-id": text,
    "timeout_secs": seconds,
}
# Options that a resumed run may change, since they decide neither a byte nor a place. The partitions that topics really
# have are compared, and so is a partitioner in `properties`, which the sink names itself.
MAY_CHANGE: Final = OPTIONS.keys() - {"exactly-once", "transactional-id"}


@dataclass(frozen=True, slots=True)
class KafkaUrl(Patience):
    """A parsed `kafka://` URL; None is what the URL does not say. `topic_pattern` may hold `{placeholders}`."""

    servers: str
    topic_pattern: str | None = None
    partitions: int | None = None
    replication: int | None = None
    compression: str | None = None
    acks: str | None = None
    idempotence: bool | None = None
    linger_ms: int | None = None
    batch_bytes: int | None = None
    max_message_bytes: int | None = None
    properties: Path | None = None
    exactly_once: bool = False
    transactional_id: str | None = None


def parse_url(url: str) -> KafkaUrl:
    """`kafka://a:9092,b/orders?partitions=4` is `KafkaUrl("a:9092,b:9092", "orders", partitions=4)`.

    Raises OptionError and, for a topic that Kafka does not take, UsageError; neither repeats the URL, which may hold
    secrets.
    """
    scheme, separator, rest = url.partition("://")
    if scheme != "kafka" or not separator:
        raise OptionError("a Kafka URL begins with 'kafka://', as in kafka://localhost:9092/orders?partitions=4.")
    place, _, query = rest.partition("?")
    hosts, _, topic = place.partition("/")
    if "@" in hosts:
        raise OptionError(
            "a Kafka URL takes no user and password: write sasl.username and sasl.password into a file and add"
            " ?properties=FILE."
        )
    addresses = servers(hosts, "Kafka server", port=9092, form="kafka://host:port or kafka://host:port,host:port")
    topic = unquote(topic)
    if topic and not (PATTERN.fullmatch(topic) if "{" in topic else TOPIC.fullmatch(topic)):
        raise UsageError(_bad_topic(topic))
    check_pattern(topic)
    options = parse_options(query, OPTIONS, "a Kafka URL", rest="; others go into a file")
    options = {name.replace("-", "_"): value for name, value in options.items()}
    if options.get("exactly_once"):
        if options.get("idempotence") is False:
            raise OptionError("the Kafka URL's option 'exactly-once' needs idempotence: leave idempotence=false out.")
        options.setdefault("transactional_id", f"cdcsim-{topic}" if topic else "cdcsim")
    elif "transactional_id" in options:
        raise OptionError("the Kafka URL's option 'transactional-id' is for transactions: add exactly-once=true.")
    return KafkaUrl(addresses, topic or None, **options)


def check_topic(topic: str) -> None:
    """Raises UsageError for a topic name that no Kafka takes (the rule of apache/kafka's Topic.java)."""
    if not TOPIC.fullmatch(topic):
        raise UsageError(_bad_topic(topic))


def _bad_topic(topic: str) -> str:
    return (
        f"{topic!r} is no Kafka topic name: use 1 to 249 of the letters a-z and A-Z, digits, '.', '_' and '-', "
        "and not '.' or '..' alone."
    )


def read_properties(file: Path) -> dict[str, str]:
    """The settings of a properties file. Raises OptionError, which names the file but repeats nothing of its text."""
    try:
        settings = parse_properties(file.read_text("utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise OptionError(f"the properties file {str(file)!r} cannot be read: {reason}.") from None
    if "transactional.id" in settings:
        raise OptionError(f"{file}: transactional.id: write exactly-once=true&transactional-id=NAME into the URL.")
    return settings


def parse_properties(text: str, file: str) -> dict[str, str]:
    """Settings from a Java properties file: `name=value` or `name: value` lines, `#` and `!` comments.

    As in Java a backslash escapes the next character (`\n`, `\t`, `\u0041`; at a line's end the line goes on), so one
    in a password is written twice; spaces around names and values do not count. `file` is named in the OptionError,
    the line's text is not: it may be a secret.
    """
    settings: dict[str, str] = {}
    lines = enumerate(text.split("\n"), 1)
    for number, line in lines:
        entry = line.strip()
        if not entry or entry[0] in "#!":
            continue
        while (len(entry) - len(entry.rstrip("\\"))) % 2:
            entry = entry[:-1] + next(lines, (0, ""))[1].strip()
        match = re.fullmatch(r"([^=:\s]+)\s*[=:]\s*(.*)", entry, re.DOTALL)
        if not match:
            raise OptionError(f"{file}:{number}: this line is no setting: write name=value.")
        settings[ALIASES.get(match[1], match[1])] = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", _unescaped, match[2])
    return settings


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}.get(match[2], match[2])


def client_settings(url: KafkaUrl, file: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's settings: the defaults, over them the file's, over them what the URL itself says."""
    asked = {setting: getattr(url, option) for option, setting in SETTINGS.items()}
    settings = {
        **DEFAULTS,
        **file,
        **{name: str(value).lower() for name, value in asked.items() if value is not None},
        "bootstrap.servers": url.servers,
    }
    if url.transactional_id is not None:
        settings["transactional.id"] = url.transactional_id
        # A message may wait as long as its transaction may take; brokers allow a quarter of an hour.
        wait_ms = round(url.outage_secs * 1000)
        settings["transaction.timeout.ms"] = str(min(max(wait_ms + 10_000, 60_000), 900_000))
    if url.timeout_secs is not None:
        settings["message.timeout.ms"] = str(max(1, round(url.timeout_secs * 1000)))
    wait, linger = settings.get("message.timeout.ms", DEFAULT_TIMEOUT_MS), settings["linger.ms"]
    if wait.isdecimal() and linger.isdecimal() and 0 < int(wait) <= int(linger) <= LONGEST_LINGER_MS:
        raise OptionError(
            f"linger_ms={linger} is not below the {wait} ms that a message may take: lower linger_ms, or raise"
            " timeout_secs in the URL."
        )
    largest = settings["message.max.bytes"]
    if "queue.buffering.max.kbytes" not in file and largest.isdecimal():  # what is no number librdkafka refuses
        # a message that has no room in an empty queue would wait for it until the run's time is over
        settings["queue.buffering.max.kbytes"] = str(max(QUEUE_KBYTES, int(largest) // 1024 + 1))
    if settings["enable.idempotence"] != "true":
        # A batch that is sent again can come behind one that was made meanwhile: one, with this, not five.
        settings.setdefault("max.in.flight.requests.per.connection", "1")
    elif settings["acks"] not in ("all", "-1"):
        raise OptionError(f"acks={settings['acks']} cannot be idempotent: add idempotence=false, or leave acks out.")
    return settings
