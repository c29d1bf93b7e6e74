"""docker/compose.yaml without Docker: what can be read off it. That the containers run is for those who have Docker.

`samples/compose-spec.json.gz` is the schema that Compose holds its files to: `schema/compose-spec.json` of
github.com/compose-spec/compose-go at e70e961 (2026-07-21, Apache License 2.0), without its white space.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from native import native as native_module

from simulator.cli.commands import cli

DOCKER = Path(__file__).parents[1] / "docker"
SCHEMA = Path(__file__).parent / "samples" / "compose-spec.json.gz"
FILE = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
ALL: dict[str, dict[str, Any]] = FILE["services"]
DEMO = {name: service for name, service in ALL.items() if "build" in service}
SERVICES = {name: service for name, service in ALL.items() if name not in DEMO}

# With one KAFKA_ variable set, the image drops its own configuration: all of these are then needed.
KAFKA_GROUP = {
    "KAFKA_NODE_ID",
    "KAFKA_PROCESS_ROLES",
    "KAFKA_CONTROLLER_QUORUM_VOTERS",
    "KAFKA_CONTROLLER_LISTENER_NAMES",
    "KAFKA_LISTENERS",
    "KAFKA_ADVERTISED_LISTENERS",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
    "KAFKA_INTER_BROKER_LISTENER_NAME",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR",
}


@pytest.fixture
def kafka() -> dict[str, str]:
    environment: dict[str, str] = SERVICES["kafka"]["environment"]
    return environment


def listeners(text: str) -> dict[str, str]:
    """`A://h:1,B://:2` as {"A": "h:1", "B": ":2"}."""
    return dict(part.split("://") for part in text.split(","))


def test_compose_takes_the_file() -> None:
    jsonschema.validate(FILE, json.loads(gzip.decompress(SCHEMA.read_bytes())))


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned(name: str) -> None:
    # PostgreSQL's versions have two numbers
    assert re.fullmatch(r"[\w./-]+:\d+\.\d+(\.\d+)?[\w.-]*", SERVICES[name]["image"])


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_open_to_this_machine_only(name: str) -> None:
    for port in SERVICES[name]["ports"]:
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_a_health_check(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert check["retries"] > 1


@pytest.mark.parametrize("name", SERVICES)
def test_environment_values_are_text(name: str) -> None:
    # YAML would turn `no` and `0123` into something else on the way to the container.
    assert all(isinstance(value, str) for value in SERVICES[name].get("environment", {}).values())


def test_the_container_and_the_native_server_have_one_version() -> None:
    native = ElementTree.parse(DOCKER / "native" / "kafka.xml").findtext(".//{*}kafka.version")
    assert SERVICES["kafka"]["image"] == f"apache/kafka:{native}"
    versions = native_module("mysql").VERSIONS
    images = {"mysql": versions["8.0"], "mysql-5.7": versions["5.7"]}
    assert {name: SERVICES[name]["image"] for name in images} == {name: f"mysql:{v}" for name, v in images.items()}


def test_rocketmq_registers_an_address_that_clients_reach() -> None:
    broker = SERVICES["rocketmq"]
    assert "brokerIP1=127.0.0.1" in broker["command"]
    assert all(port.split(":")[1] == port.split(":")[2] for port in broker["ports"])


def test_kafka_has_the_whole_group_of_variables(kafka: dict[str, str]) -> None:
    assert not KAFKA_GROUP - kafka.keys()


def test_single_node_keeps_single_copies(kafka: dict[str, str]) -> None:
    for name, value in kafka.items():
        if name.endswith(("_REPLICATION_FACTOR", "_MIN_ISR")):
            assert value == "1", name


def test_kafka_listeners_fit_each_other(kafka: dict[str, str]) -> None:
    bound, advertised = listeners(kafka["KAFKA_LISTENERS"]), listeners(kafka["KAFKA_ADVERTISED_LISTENERS"])
    protocols = dict(part.split(":") for part in kafka["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    controller = kafka["KAFKA_CONTROLLER_LISTENER_NAMES"]
    assert bound.keys() == protocols.keys()
    assert advertised.keys() == bound.keys() - {controller}
    assert kafka["KAFKA_INTER_BROKER_LISTENER_NAME"] in advertised
    assert all(advertised[name].endswith(bound[name]) for name in advertised)
    assert kafka["KAFKA_CONTROLLER_QUORUM_VOTERS"] == f"1@{SERVICES['kafka']['hostname']}{bound[controller]}"
    published = SERVICES["kafka"]["ports"][0].split(":")
    assert advertised["PLAINTEXT_HOST"] == f"localhost:{published[1]}"
    assert bound["PLAINTEXT_HOST"] == f":{published[2]}"


def test_kafka_makes_no_topic_and_takes_large_messages_as_the_native_broker_does(kafka: dict[str, str]) -> None:
    assert kafka["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"
    assert kafka["KAFKA_MESSAGE_MAX_BYTES"] == "16777216"


def test_the_demo_writes_to_every_broker() -> None:
    """Each command is one that the command line takes, and waits for the broker that it names."""
    schemes = set()
    for service in DEMO.values():
        (broker,) = service["depends_on"]
        assert service["depends_on"][broker] == {"condition": "service_healthy"}
        assert service["profiles"] == ALL[broker]["profiles"]
        command, *arguments = service["command"]
        to = cli.commands[command].make_context(command, arguments).params["to"]
        schemes.add(to.partition(":")[0])
        assert to.partition("://")[2].startswith(broker)
    assert schemes == {"kafka", "rocketmq", "amqp"}


def test_plain_up_starts_every_broker() -> None:
    line = (DOCKER / ".env").read_text("utf-8").splitlines()[-1]
    assert line == "COMPOSE_PROFILES=" + ",".join(dict.fromkeys(each["profiles"][0] for each in DEMO.values()))


def test_the_image_is_built_of_what_is_there_and_does_not_run_as_root() -> None:
    lines = (DOCKER / "Dockerfile").read_text("utf-8").splitlines()
    words = [line.split() for line in lines if line and line[0] not in "# "]
    assert {word[1] for word in words if word[0] == "FROM"} == {"python:3.11.13-slim-bookworm"}
    assert [word[1] for word in words if word[0] == "USER"] == ["cdcsim"]
    sources = [path for word in words if word[0] == "COPY" for path in word[1:-1]]
    assert all((DOCKER.parent / path).exists() for path in sources)
    kept = (DOCKER / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {f"!{path}" for path in sources} == {line for line in kept if line.startswith("!")}
