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
        ("amqp://bob@h", "the RabbitMQ URL has no password for 'bob': add password_env=NAME or password_file=FILE."),
        (
            "amqp://bob@h?password_env=NO_SUCH",
            "the RabbitMQ URL's option 'password_env' is the name of an environment variable that is set.",
        ),
        (
            "amqp://bob@h?password_file=/nowhere",
            "the RabbitMQ URL's option 'password_file' is the path of a readable file.",
        ),
        ("amqp://h?topic={tabel}", "the topic '{tabel}' has {tabel}: it may have {database}, {schema} and {table}."),
        ("amqp://h?queue={table}", "the queue '{table}' has {table}: it may have {topic} and {tag}."),
    ]
)
def test_bad_urls(url: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_url(url)
    assert str(caught.value) == sentence


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(OptionError) as caught:
        parse_url("amqp://bob:hush@h/v")
    assert "hush" not in str(caught.value)
    assert "password_env=NAME" in str(caught.value)


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
