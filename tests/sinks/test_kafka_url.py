"""The Kafka sink without a broker: URLs, properties files, topic names, and which setting wins."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from each import each

from simulator.errors import MissingPackage, OptionError, SinkError, UsageError
from simulator.sinks.kafka import library
from simulator.sinks.kafka.mock import MockCluster
from simulator.sinks.kafka.open import open_kafka
from simulator.sinks.kafka.sink import KafkaSink
from simulator.sinks.kafka.url import DEFAULTS, KafkaUrl, check_topic, client_settings, parse_properties, parse_url


def open_url(url: str) -> KafkaSink:
    return open_kafka(parse_url(url))


@each(
    [
        ("kafka://localhost:9092/orders", KafkaUrl("localhost:9092", "orders")),
        ("kafka://localhost", KafkaUrl("localhost:9092")),
        ("kafka://localhost/", KafkaUrl("localhost:9092")),
        ("kafka://a:1,b,c:3/t", KafkaUrl("a:1,b:9092,c:3", "t")),
        ("kafka://[::1]:9094/t", KafkaUrl("[::1]:9094", "t")),
        ("kafka://h:1/cdc.{database}.{table}", KafkaUrl("h:1", "cdc.{database}.{table}")),
        ("kafka://h:1/cdc.%7Btable%7D", KafkaUrl("h:1", "cdc.{table}")),
        ("kafka://h:1/{table}?partitions=12&replication=3", KafkaUrl("h:1", "{table}", partitions=12, replication=3)),
        ("kafka://h:1/t?compression=zstd&acks=1", KafkaUrl("h:1", "t", compression="zstd", acks="1")),
        ("kafka://h:1/t?idempotence=false&linger_ms=0", KafkaUrl("h:1", "t", idempotence=False, linger_ms=0)),
        (
            "kafka://h:1/t?batch_bytes=9&max_message_bytes=2000",
            KafkaUrl("h:1", "t", batch_bytes=9, max_message_bytes=2000),
        ),
        ("kafka://h:1/t?properties=/a+b%20c/x?y", KafkaUrl("h:1", "t", properties=Path("/a+b c/x?y"))),
        ("kafka://h:1/t?timeout_secs=0.5", KafkaUrl("h:1", "t", timeout_secs=0.5)),
        ("kafka://h:1?partitions=2", KafkaUrl("h:1", None, partitions=2)),
    ]
)
def test_urls(url: str, parsed: KafkaUrl) -> None:
    assert parse_url(url) == parsed


@each(
    [
        ("kafka:/h:1/t", "a Kafka URL begins with 'kafka://', as in kafka://localhost:9092/orders?partitions=4."),
        ("kafka:///t", "'' is no Kafka server: write kafka://host:port or kafka://host:port,host:port."),
        ("kafka://h:x/t", "'h:…' is no Kafka server: write kafka://host:port or kafka://host:port,host:port."),
        ("kafka://h:70000/t", "'h:70000' is no Kafka server: write kafka://host:port or kafka://host:port,host:port."),
        ("kafka://h:1,,g:2/t", "'' is no Kafka server: write kafka://host:port or kafka://host:port,host:port."),
        ("kafka://h/t?partition=3", "a Kafka URL has no option 'partition'. Did you mean 'partitions'?"),
        ("kafka://h/t?linger.ms=3", "a Kafka URL has no option 'linger.ms'. Did you mean 'linger_ms'?"),
        ("kafka://h/t?partitions=0", "the Kafka URL's option 'partitions' is a number from 1 to 10000, not '0'."),
        ("kafka://h/t?partitions=-1", "the Kafka URL's option 'partitions' is a number from 1 to 10000, not '-1'."),
        ("kafka://h/t?partitions", "the Kafka URL's option 'partitions' is a number from 1 to 10000, not ''."),
        (
            f"kafka://h/t?linger_ms={'9' * 5000}",
            f"the Kafka URL's option 'linger_ms' is a number from 0 to 900000, not '{'9' * 57}...'.",
        ),
        ("kafka://h/t?linger_ms=5ms", "the Kafka URL's option 'linger_ms' is a number from 0 to 900000, not '5ms'."),
        ("kafka://h/t?acks=2", "the Kafka URL's option 'acks' is all, 1 or 0, not '2'."),
        ("kafka://h/t?idempotence=yes", "the Kafka URL's option 'idempotence' is true or false, not 'yes'."),
        (
            "kafka://h?compression=br",
            "the Kafka URL's option 'compression' is none, gzip, snappy, lz4 or zstd, not 'br'.",
        ),
        (
            "kafka://h?timeout_secs=0",
            "the Kafka URL's option 'timeout_secs' is a number of seconds above 0, 1,000,000 at most, not '0'.",
        ),
        ("kafka://h/t?properties=", "the Kafka URL's option 'properties' is the path of a file, not ''."),
        ("kafka://h/t?acks=all&acks=all", "the Kafka URL has the option 'acks' twice: leave one out."),
    ]
)
def test_bad_urls(url: str, sentence: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_url(url)
    assert str(caught.value) == sentence


@each(["kafka://bob:hush@h:9092/t", "kafka://h/t?sasl.password=hush", "kafka://h/t?passwd=hush"])
def test_secrets_in_urls_are_not_repeated(url: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_url(url)
    assert "hush" not in str(caught.value)
    assert "file" in str(caught.value)


@each(["orders", "a.b_c-D9", "...", "x" * 249])
def test_topic_names(topic: str) -> None:
    check_topic(topic)
    assert parse_url(f"kafka://h/{topic}").topic_pattern == topic


@each([".", "..", "a/b", "a b", "größe", "订单", "a:b", "x" * 250, "a\n"])
def test_bad_topic_names(topic: str) -> None:
    for attempt in (lambda: check_topic(topic), lambda: parse_url(f"kafka://h/{topic}")):
        with pytest.raises(UsageError) as caught:
            attempt()
        assert str(caught.value).startswith(f"{topic!r} is no Kafka topic name: use 1 to 249 of the letters")


@each(["{table", "table}", "{}", "{a}/{b}", "{table!r}", "{a b}"])
def test_bad_topic_patterns(pattern: str) -> None:
    with pytest.raises(UsageError):
        parse_url(f"kafka://h/{pattern}")


@each(
    [
        ("", {}),
        ("# a\n! b\n\n   # c", {}),
        ("a=1\nb = 2 \n  c:3\nd : 4", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        ("sasl.password=p=q:r#s!", {"sasl.password": "p=q:r#s!"}),
        ("empty=", {"empty": ""}),
        (r"p=a\\b\u0041\n", {"p": "a\\bA\n"}),
        (r"p=\u00e9\=\ x", {"p": "é= x"}),
        ("p=one\\\n   two\\\n three\nq=4", {"p": "onetwothree", "q": "4"}),
        ("p=end\\\\\nq=1", {"p": "end\\", "q": "1"}),
        ("p=a\\", {"p": "a"}),
        ("a=1\na=2", {"a": "2"}),
        ("request.required.acks=1\ncompression.codec=lz4", {"acks": "1", "compression.type": "lz4"}),
        ("a=1\r\nb=2\r\n", {"a": "1", "b": "2"}),
    ]
)
def test_properties(text: str, settings: dict[str, str]) -> None:
    assert parse_properties(text, "client.properties") == settings


@each(["hush", "hush hush", "=hush", "  : hush"])
def test_bad_properties_name_file_and_line_but_not_the_text(line: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_properties(f"# one\na=1\n{line}\n", "client.properties")
    assert str(caught.value) == "client.properties:3: this line is no setting: write name=value."


def test_defaults_keep_order_and_java_partitions() -> None:
    settings = client_settings(KafkaUrl("h:1"), {})
    assert settings == {**DEFAULTS, "bootstrap.servers": "h:1"}
    assert settings["enable.idempotence"] == "true"
    assert settings["acks"] == "all"
    assert settings["partitioner"] == "murmur2_random"
    assert int(settings["queue.buffering.max.messages"]) <= 200_000
    assert int(settings["queue.buffering.max.kbytes"]) <= 262_144


@each(
    [
        (KafkaUrl("h:1"), "linger.ms=7", {"linger.ms": "7"}),
        (KafkaUrl("h:1", linger_ms=9), "linger.ms=7", {"linger.ms": "9"}),
        (KafkaUrl("h:1", linger_ms=9), "queue.buffering.max.ms=7", {"linger.ms": "9"}),
        (KafkaUrl("h:1", compression="zstd"), "compression.codec=lz4", {"compression.type": "zstd"}),
        (KafkaUrl("h:1"), "metadata.broker.list=other:2", {"bootstrap.servers": "h:1"}),
        (KafkaUrl("h:1", idempotence=False), "", {"max.in.flight.requests.per.connection": "1"}),
        (KafkaUrl("h:1", idempotence=False), "max.in.flight=3", {"max.in.flight.requests.per.connection": "3"}),
        (KafkaUrl("h:1", idempotence=False, acks="1"), "", {"acks": "1", "enable.idempotence": "false"}),
        (KafkaUrl("h:1", batch_bytes=5, max_message_bytes=1234), "", {"batch.size": "5", "message.max.bytes": "1234"}),
        # the queue has room for the largest message
        (KafkaUrl("h:1", max_message_bytes=10**8), "", {"queue.buffering.max.kbytes": "97657"}),
        (KafkaUrl("h:1"), "message.max.bytes=100000000", {"queue.buffering.max.kbytes": "97657"}),
        (KafkaUrl("h:1"), "queue.buffering.max.kbytes=9", {"queue.buffering.max.kbytes": "9"}),
    ]
)
def test_the_url_wins_over_the_file_and_the_file_over_defaults(url: KafkaUrl, file: str, wins: dict[str, str]) -> None:
    settings = client_settings(url, parse_properties(file, "f"))
    assert settings | wins == settings


def test_fewer_acks_need_a_word_about_idempotence() -> None:
    with pytest.raises(OptionError, match=r"^acks=1 cannot be idempotent: add idempotence=false, or leave acks out\.$"):
        client_settings(KafkaUrl("h:1", acks="1"), {})


@each(
    [
        (KafkaUrl("h:1", linger_ms=900_000), {}, "linger_ms=900000 is not below the 300000 ms"),
        (KafkaUrl("h:1", timeout_secs=0.05), {}, "linger_ms=50 is not below the 50 ms"),
        (KafkaUrl("h:1"), {"linger.ms": "9", "message.timeout.ms": "9"}, "linger_ms=9 is not below the 9 ms"),
        (KafkaUrl("h:1", linger_ms=900_000), {"message.timeout.ms": "0"}, None),  # no limit
    ]
)
def test_messages_do_not_linger_beyond_their_timeout(url: KafkaUrl, file: dict[str, str], refused: str | None) -> None:
    with pytest.raises(OptionError, match=refused) if refused else nullcontext():
        client_settings(url, file)


def test_a_missing_properties_file_is_named() -> None:
    with pytest.raises(OptionError) as caught:
        open_url("kafka://127.0.0.1:1/t?properties=/nowhere/client.properties")
    assert (
        str(caught.value)
        == "the properties file '/nowhere/client.properties' cannot be read: No such file or directory."
    )


def test_a_properties_file_in_another_encoding_is_refused_without_its_text(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_bytes(b"sasl.password=hush\xff")
    with pytest.raises(OptionError) as caught:
        open_url(f"kafka://127.0.0.1:1/t?properties={file}")
    assert str(caught.value) == f"the properties file '{file}' cannot be read: it is not UTF-8 text."


def test_transactions_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("transactional.id=mine\n")
    with pytest.raises(OptionError) as caught:
        open_url(f"kafka://127.0.0.1:1/t?properties={file}")
    assert str(caught.value) == f"{file}: transactional.id: write exactly-once=true&transactional-id=NAME into the URL."


def test_a_missing_client_is_told_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    library.load.cache_clear()  # of a test before, in this process
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(MissingPackage) as caught:
        open_url("kafka://127.0.0.1:1/t")
    assert str(caught.value) == "the kafka sink needs confluent-kafka: pip install 'cdc-simulator[kafka]'."


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("no.such.setting=hush", 'No such configuration property: "no.such.setting"'),
        ("compression.type=hush", "compression.codec"),
        ("security.protocol=hush", "security.protocol"),
        ("sasl.jaas.config=hush", "JAAS"),
        ("linger.ms=hush", "queue.buffering.max.ms"),
        ("ssl.ca.location=/nowhere/hush.pem\nsecurity.protocol=SSL", "ssl.ca.location"),
    ],
)
def test_settings_that_librdkafka_refuses(tmp_path: Path, lines: str, words: str) -> None:
    pytest.importorskip("confluent_kafka")
    file = tmp_path / "client.properties"
    file.write_text(lines)
    with pytest.raises(OptionError) as caught:
        open_url(f"kafka://127.0.0.1:1/t?properties={file}")
    sentence = str(caught.value)
    assert sentence.startswith(f"librdkafka refuses a setting of the Kafka URL or of {file}: ")
    assert words in sentence
    assert "hush" not in sentence


def test_importing_the_module_imports_no_client() -> None:
    import subprocess

    code = "import sys, simulator.sinks.kafka; sys.exit('confluent_kafka' in sys.modules)"
    done: Any = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0


def test_tls_to_a_port_without_it(tmp_path: Path) -> None:
    """The broker runs; librdkafka says what is wrong, with a code that says nothing of TLS."""
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\n")
    servers = (cluster := MockCluster()).servers
    with pytest.raises(SinkError) as caught:
        open_url(f"kafka://{servers}/t?properties={file}&timeout_secs=2")
    assert str(caught.value).startswith(f"TLS with Kafka {servers} failed: SSL handshake failed: ")
    assert str(caught.value).endswith(f". Does the port take TLS? See security.protocol in {file}.")
    del cluster


def test_what_librdkafka_refuses_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("linger.ms=99999999999\n")
    with pytest.raises(OptionError) as caught:
        open_url(f"kafka://127.0.0.1:1/t?properties={file}")
    assert "is outside allowed range 0..900000." in str(caught.value)
    assert "\n" not in str(caught.value)
