"""URLs of destinations as they are printed, and as they are compared."""

from __future__ import annotations

import pytest
from each import each

from simulator.errors import OptionError
from simulator.sinks import open_sink
from simulator.sinks.url import public

PUBLIC = [
    ("kafka://h:9092/t?partitions=3", "kafka://h:9092/t?partitions=3"),
    ("amqp://bob:hush@h/v?queue=q", "amqp://bob@h/v?queue=q"),
    ("amqp://bob@h/v", "amqp://bob@h/v"),
    ("amqp://bob:hu/sh@h/v", "amqp://bob@h/v"),
    ("amqp://bob:hu@sh@h/v", "amqp://bob@h/v"),
    ("amqp://bob:h@u/s@h@h/v", "amqp://bob@h/v"),
    ("amqp://bob:hu?sh@h/v", "amqp://…"),
    ("amqp://h:5672/v?routing_key=a@b", "amqp://h:5672/v?routing_key=a@b"),
    ("kafka://a:1,b:2/t?x=@", "kafka://a:1,b:2/t?x=@"),
    ("file:a@b", "file:a@b"),
    ("-", "-"),
]


@each(PUBLIC)
def test_no_part_of_a_password_is_printed(url: str, printed: str) -> None:
    assert public(url) == printed


def test_secrets_in_the_wrong_place_are_not_repeated() -> None:
    for url in (
        "amqp://bob@h/v?password_env=hush",
        "amqp://bob@h/v?password_file=hush",
        "amqp://bob:hush/hush@h/v",
        "amqp://bob:hush@h/v?password_env=hush",
        "amqp://bob:hu?sh@hush",
        "amqp://bob:12?hush@h/v",
        "amqp://bob:12?a&hush=1@h/v",
        "kafka://bob:hush/hush@h/t",
        "kafka://bob:hush@h/t",
        "rocketmq://h/t?access_key=a&secret_key_env=hush",
        "rocketmq://bob:hush/hush@h/t",
    ):
        with pytest.raises(OptionError) as caught:
            open_sink(url)
        assert "hush" not in str(caught.value), url
