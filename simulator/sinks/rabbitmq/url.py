"""The URL of the RabbitMQ sink.

`amqp://user@host:5672/vhost?exchange=cdc&exchange_type=direct&queue={topic}&password_env=RABBITMQ_PASSWORD`; `amqps://`
is TLS on port 5671. No vhost is the vhost `/`, no user is `guest` with its password; `user:password@` has the password,
with %40, %3A and %2F for @, : and / in it, and no output repeats it. The options:

| option | meaning | default |
| --- | --- | --- |
| topic=PATTERN | the topic of messages, with {database}, {schema} and {table} | the format's own |
| exchange=NAME | where messages are published; it must exist, or its type be given | the default exchange |
| exchange_type=TYPE | declare the exchange, durable: direct, topic, fanout, headers, or a plug-in's type | |
| routing_key=PATTERN | the routing key, with {database}, {schema}, {table}, {topic}, {tag} | the tag, else the topic |
| queue=PATTERN | declare a durable queue and bind it by the routing key; placeholders as above | |
| queue_type=TYPE | classic, quorum or stream | classic |
| partitions=N | N queues: `.0` to `.N-1` behind queue names and routing keys | one, without a number |
| mandatory=true or false | whether a message that reaches no queue is an error | true |
| persistent=true or false | whether messages survive a restart of the broker | true |
| content_type=TEXT | of the messages | the product's |
| window=N | messages on their way without a confirm | 2000 |
| password_env=NAME | the environment variable that holds the password | |
| password_file=FILE | the file whose first line is the password | |
| ca=FILE | with amqps: the authority that signed the broker's certificate | the system's |
| cert=FILE, key=FILE | with amqps: the client's certificate and its key | |
| heartbeat_secs=S | how often both sides must be heard; 0: never | 20 |
| timeout_secs=S | how long to wait for the broker: to connect, and in mid-run for it to come back | 5, and 300 |

With `exchange_type=x-consistent-hash` messages are published with their key as the routing key, and queues are bound
with weight 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from simulator.errors import OptionError
from simulator.sinks.url import (
    MOST_PARTITIONS,
    PLACEHOLDERS,
    Options,
    Patience,
    check_pattern,
    environment,
    first_line,
    flag,
    one_of,
    parse_options,
    path,
    seconds,
    servers,
    text,
    whole_number,
)

CONSISTENT_HASH: Final = "x-consistent-hash"

OPTIONS: Final[Options] = {
    "topic": text,
    "exchange": str,
    "exchange_type": text,
    "routing_key": str,
    "queue": text,
    "queue_type": one_of("classic", "quorum", "stream"),
    "partitions": whole_number(1, MOST_PARTITIONS),
    "mandatory": flag,
    "persistent": flag,
    "content_type": text,
    "window": whole_number(1, 100_000),
    "password_env": environment,
    "password_file": first_line,
    "ca": path,
    "cert": path,
    "key": path,
    "heartbeat_secs": whole_number(0, 65535),
    "timeout_secs": seconds,
}
# Options that a resumed run may change, since they decide neither a byte nor a place: `partitions` decides the names of
# queues.
MAY_CHANGE: Final = {
    *("window", "password_env", "password_file", "ca", "cert", "key", "heartbeat_secs", "timeout_secs"),
}


@dataclass(frozen=True, slots=True)
class RabbitmqUrl(Patience):
    """A parsed `amqp://` URL; None: not in the URL."""

    host: str
    port: int
    tls: bool = False
    vhost: str = "/"
    user: str = "guest"
    password: str = field(default="guest", repr=False)
    topic: str | None = None
    exchange: str = ""
    exchange_type: str | None = None
    routing_key: str | None = None
    queue: str | None = None
    queue_type: str = "classic"
    partitions: int | None = None
    mandatory: bool = True
    persistent: bool = True
    content_type: str | None = None
    window: int = 2000
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    heartbeat_secs: int = 20

    def suffix(self, partition: int) -> str:
        """End of the names of a partition's queue and routing key."""
        return "" if self.partitions is None else f".{partition}"

    def __str__(self) -> str:
        return f"RabbitMQ {self.host}:{self.port}"


def parse_url(url: str) -> RabbitmqUrl:
    """`amqp://bob@h/cdc?queue=q` is `RabbitmqUrl("h", 5672, vhost="cdc", user="bob", queue="q", …)`.

    Raises OptionError and UsageError; neither repeats the URL, which may hold secrets.
    """
    scheme, separator, rest = url.partition("://")
    if scheme not in ("amqp", "amqps") or not separator:
        raise OptionError("a RabbitMQ URL begins with 'amqp://' or 'amqps://', as in amqp://localhost/?queue=orders.")
    tls = scheme == "amqps"
    where, _, query = rest.partition("?")
    authority, _, vhost = where.partition("/")
    login, _, address = authority.rpartition("@")
    user, colon, written = login.partition(":")
    if "@" in vhost or "@" in login:
        raise OptionError("a RabbitMQ URL has one @: write %40 for others, and %2F for a / in a user or password.")
    server = servers(address, "RabbitMQ server", port=5671 if tls else 5672, form=f"{scheme}://host:port")
    options = parse_options(query, OPTIONS, "a RabbitMQ URL")
    if "password_env" in options and "password_file" in options:
        raise OptionError("the RabbitMQ URL has both password_env and password_file: leave one out.")
    password = options.pop("password_env", None) or options.pop("password_file", None)
    if colon and password is not None:
        raise OptionError("the RabbitMQ URL has a password before the host and another one: leave one out.")
    if colon:
        password = unquote(written)
    if user and user != "guest" and password is None:
        raise OptionError(
            f"the RabbitMQ URL has no password for {user!r}: write {user}:PASSWORD@, or add password_env=NAME or"
            " password_file=FILE."
        )
    for name in ("ca", "cert", "key"):
        if name in options and not tls:
            raise OptionError(f"the RabbitMQ URL's option {name!r} is for TLS: begin the URL with amqps://.")
    if ("cert" in options) != ("key" in options):
        raise OptionError("the RabbitMQ URL's options 'cert' and 'key' belong together: add the other one.")
    if "exchange_type" in options and not options.get("exchange"):
        raise OptionError("the RabbitMQ URL's option 'exchange_type' is for a named exchange: add exchange=NAME.")
    if "queue_type" in options and "queue" not in options:
        raise OptionError("the RabbitMQ URL's option 'queue_type' is for a queue: add queue=NAME.")
    if "routing_key" in options and not options.get("exchange"):
        raise OptionError("the default exchange sends to the queue of that name: add exchange=NAME, or queue=NAME.")
    check_pattern(options.get("topic", ""))
    for name in ("routing_key", "queue"):
        check_pattern(options.get(name, ""), ("topic", "tag", *PLACEHOLDERS), what=f"the {name.replace('_', ' ')}")
    _name_tables(options)
    host, _, port = server.rpartition(":")
    return RabbitmqUrl(
        host.strip("[]"),
        int(port),
        tls=tls,
        vhost=unquote(vhost) or "/",
        user=unquote(user) or "guest",
        password="guest" if password is None else password,
        **options,
    )


# From the first placeholder of a table to the last.
TABLE: Final = re.compile(r"\{(?:database|schema|table)\}(?:.*\{(?:database|schema|table)\})?")


def _name_tables(options: dict[str, Any]) -> None:
    """A queue or routing key per table: the part of the pattern that names the table becomes the topic.

    `queue=q.{database}.{table}` is `topic={database}.{table}&queue=q.{topic}`. Raises OptionError for patterns that
    need several topics.
    """
    parts = {name: match[0] for name in ("queue", "routing_key") if (match := TABLE.search(options.get(name, "")))}
    if not parts:
        return
    if len(topics := {*parts.values(), *([options["topic"]] if "topic" in options else [])}) > 1:
        raise OptionError(
            f"the RabbitMQ URL names tables in different ways, {' and '.join(sorted(topics))}: write one of them in"
            " topic, queue and routing_key."
        )
    (options["topic"],) = topics
    for name, part in parts.items():
        options[name] = options[name].replace(part, "{topic}")
