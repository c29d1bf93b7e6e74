"""URLs of the RabbitMQ sink, its frames and its confirms, without a broker."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from each import each

from simulator.errors import MissingPackage, OptionError, UsageError
from simulator.sinks import open_sink
from simulator.sinks.rabbitmq.frames import Confirms, Publication
from simulator.sinks.rabbitmq.url import RabbitmqUrl, parse_url


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("amqp://h", RabbitmqUrl("h", 5672)),
        ("amqp://h:1/", RabbitmqUrl("h", 1)),
        ("amqp://b%40b:hu%2Fsh%3A%40@h:1/v", RabbitmqUrl("h", 1, vhost="v", user="b@b", password="hu/sh:@")),
        ("amqp://guest:@h", RabbitmqUrl("h", 5672, password="")),
        ("amqps://[::1]/%2F?heartbeat_secs=0", RabbitmqUrl("::1", 5671, tls=True, heartbeat_secs=0)),
        ("amqp://guest@h/a%2Fb?topic=cdc.{table}", RabbitmqUrl("h", 5672, vhost="a/b", topic="cdc.{table}")),
        (
            "amqp://b%40b@h/v?password_env=CDC_PASSWORD&exchange=x&exchange_type=topic&routing_key=a.{topic}",
            RabbitmqUrl(
                "h",
                5672,
                vhost="v",
                user="b@b",
                password="hush",
                exchange="x",
                exchange_type="topic",
                routing_key="a.{topic}",
            ),
        ),
        (
            "amqp://h/?queue={topic}.{tag}&queue_type=stream&partitions=3&mandatory=false&persistent=false&window=9",
            RabbitmqUrl(
                "h",
                5672,
                queue="{topic}.{tag}",
                queue_type="stream",
                partitions=3,
                mandatory=False,
                persistent=False,
                window=9,
            ),
        ),
    ],
)
def test_urls(url: str, parsed: RabbitmqUrl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDC_PASSWORD", "hush")
    assert parse_url(url) == parsed
    assert "hush" not in repr(parsed)


@each(
    [
        ("amqp:h", "a RabbitMQ URL begins with 'amqp://' or 'amqps://', as in amqp://localhost/?queue=orders."),
        ("amqp://", "'' is no RabbitMQ server: write amqp://host:port."),
        ("amqp://h?queues=3", "a RabbitMQ URL has no option 'queues'. Did you mean 'queue'?"),
        ("amqp://h?queue=", "the RabbitMQ URL's option 'queue' is a text, not ''."),
        (
            "amqp://h?queue=a&queue_type=fast",
            "the RabbitMQ URL's option 'queue_type' is classic, quorum or stream, not 'fast'.",
        ),
        ("amqp://h?queue_type=quorum", "the RabbitMQ URL's option 'queue_type' is for a queue: add queue=NAME."),
        (
            "amqp://h?exchange_type=topic",
            "the RabbitMQ URL's option 'exchange_type' is for a named exchange: add exchange=NAME.",
        ),
        (
            "amqp://h?routing_key=a",
            "the default exchange sends to the queue of that name: add exchange=NAME, or queue=NAME.",
        ),
        ("amqp://h?ca=f", "the RabbitMQ URL's option 'ca' is for TLS: begin the URL with amqps://."),
        ("amqps://h?cert=f", "the RabbitMQ URL's options 'cert' and 'key' belong together: add the other one."),
        (
            "amqp://bob@h",
            "the RabbitMQ URL has no password for 'bob': write bob:PASSWORD@, or add password_env=NAME or"
            " password_file=FILE.",
        ),
        (
            "amqp://bob:a@h?password_env=HOME",
            "the RabbitMQ URL has a password before the host and another one: leave one out.",
        ),
        (
            "amqp://h?exchange=e&queue={table}&routing_key={database}",
            "the RabbitMQ URL names tables in different ways, {database} and {table}: write one of them in topic, queue"
            " and routing_key.",
        ),
        (
            "amqp://bob@h?password_env=NO_SUCH",
            "the RabbitMQ URL's option 'password_env' is the name of an environment variable that is set.",
        ),
        (
            "amqp://bob@h?password_file=/nowhere",
            "the RabbitMQ URL's option 'password_file' is the path of a readable file.",
        ),
        ("amqp://h?topic={tabel}", "the topic '{tabel}' has {tabel}: it may have {database}, {schema} and {table}."),
        (
            "amqp://h?queue={tabel}",
            "the queue '{tabel}' has {tabel}: it may have {topic}, {tag}, {database}, {schema} and {table}.",
        ),
    ]
)
def test_bad_urls(url: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_url(url)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("url", ["amqp://bob:hush/hush@h/v", "amqp://bob:hu@hush@h/v", "amqp://bob:12/hush@h"])
def test_a_password_that_is_not_escaped_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_url(url)
    assert "hush" not in str(caught.value)
    assert "%40" in str(caught.value)


@pytest.mark.parametrize(
    ("query", "topic", "queue", "routing_key"),
    [
        ("queue={table}", "{table}", "{topic}", None),
        ("queue=cdc.{database}.{table}.in", "{database}.{table}", "cdc.{topic}.in", None),
        ("exchange=e&routing_key=r.{schema}_{table}", "{schema}_{table}", None, "r.{topic}"),
        ("exchange=e&queue=q.{schema}{table}&routing_key={schema}{table}", "{schema}{table}", "q.{topic}", "{topic}"),
        ("topic={table}&queue=q.{table}", "{table}", "q.{topic}", None),
        ("topic={database}.{table}&queue=q.{topic}", "{database}.{table}", "q.{topic}", None),
    ],
)  # fmt: skip
def test_a_queue_or_routing_key_per_table(query: str, topic: str, queue: str | None, routing_key: str | None) -> None:
    """As on other brokers: the part that names the table is the topic of its messages."""
    parsed = parse_url(f"amqp://h/?{query}")
    assert (parsed.topic, parsed.queue, parsed.routing_key) == (topic, queue, routing_key)


def test_a_certificate_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="the RabbitMQ URL's ca, cert or key cannot be used: No such file"):
        open_sink(f"amqps://127.0.0.1:1/?ca={tmp_path}/ca.pem")


def test_a_missing_client_is_reported_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pika", None)
    with pytest.raises(MissingPackage) as caught:
        open_sink("amqp://127.0.0.1:1/")
    assert str(caught.value) == "the rabbitmq sink needs pika 1.4: pip install 'cdc-simulator[rabbitmq]'."
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("size", [0, 1, 49, 50, 51, 100, 120])
@pytest.mark.parametrize("own", [False, True])
def test_frames_are_those_that_pika_makes(size: int, own: bool) -> None:
    import pika
    from pika import frame, spec

    body = bytes(range(size))
    constant = pika.BasicProperties(content_type="text/plain", delivery_mode=2)
    properties = pika.BasicProperties(headers={"a": "b"}, timestamp=7) if own else constant
    publish = spec.Basic.Publish(exchange="x", routing_key="订单", mandatory=True)
    expected = [frame.Method(3, publish), frame.Header(3, size, properties)]
    expected += [frame.Body(3, body[at : at + 50]) for at in range(0, size, 50)]
    publication = Publication(3, "x", "订单", constant, mandatory=True)
    made = publication.frames(body, 50, properties if own else None)
    assert made == b"".join(each.marshal() for each in expected)


@each(
    [
        ([(1, False, False), (2, False, False)], 3, 8, set()),
        ([(3, False, False), (2, False, False)], 1, 8, set()),
        ([(3, False, False), (2, False, False), (1, False, False)], 4, 7, set()),
        ([(5, False, False), (3, True, False)], 4, 6, set()),
        ([(5, False, False), (4, True, False)], 6, 5, set()),
        ([(7, False, False), (10, True, False)], 11, 0, set()),
        ([(2, False, False), (3, True, True)], 4, 7, {1, 3}),
        ([(2, False, True)], 1, 9, {2}),
    ]
)
def test_confirms(answers: list[Any], low: int, outstanding: int, refused: set[int]) -> None:
    confirms = Confirms()
    confirms.next = 11
    for tag, multiple, nack in answers:
        confirms.answer(tag, multiple=multiple, refused=nack)
    assert (confirms.low, confirms.outstanding, confirms.refused) == (low, outstanding, refused)
