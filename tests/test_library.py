"""The library as its users have it: their own sinks, arguments that are checked, a page made of the docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import pytest
from command import ROOT, summary

import simulator
from simulator.cli.commands.run import run
from simulator.sinks.memory import MemorySink

PAGE = ROOT / "simulator" / "README.md"
HEAD = """# The library

What `import simulator` offers; names are loaded on first use. Options have the names and meanings that they have as
options of `cdcsim`. The docstrings make this page: `pytest tests/test_library.py --update-goldens` writes it anew.
"""
# Groups of options, each with those of the group before.
OPTIONS = ("ScenarioOptions", "RunOptions", "PublishOptions")
# Described at length; of the others the page has the first sentence.
LONG = (
    *("messages", "publish", "simulate", "Simulation", "verify", "Verdict", "verify_tables", "TableVerdict"),
    *("decode", "Change", "Message", "RowChange"),
)


def page() -> str:
    rest = [name for name in simulator.__all__ if name not in (*LONG, *OPTIONS)]
    rows = [f"| `{name}` | {' '.join((inspect.getdoc(getattr(simulator, name)) or '').split())} |" for name in rest]
    firsts = [row if len(row) < 100 else row.partition(". ")[0].rstrip(" |").removesuffix(".") + ". |" for row in rows]
    table = "\n".join(["## Other names\n", "| name | |", "| --- | --- |", *firsts]) + "\n"
    return "\n".join([HEAD, *options(), *(part for name in LONG for part in described(name)), table])


def options() -> Iterator[str]:
    """The options of each group, but for those of the group before, with the help of the command line."""
    help = {parameter.name: parameter.help for parameter in run.params if isinstance(parameter, click.Option)}
    earlier: set[str] = set()
    for name in OPTIONS:
        group = getattr(simulator, name)
        yield f"## `{name}`\n\n{inspect.getdoc(group)}\n"
        own = [option for option in group.__annotations__ if option not in earlier]
        rows = [f"| `{option}` | {str(help[option]).replace('|', 'or')} |" for option in own]
        yield "\n".join(["| option | |", "| --- | --- |", *rows]) + "\n"
        earlier.update(own)


def described(name: str) -> Iterator[str]:
    value: Any = getattr(simulator, name)
    yield f"## `{name}`\n"
    if inspect.isfunction(value):
        yield f"```python\n{signature(name, value)}\n```\n"
    yield f"{inspect.getdoc(value)}\n"
    if inspect.isclass(value):
        yield "\n".join(["| member | |", "| --- | --- |", *members(value)]) + "\n"


def signature(name: str, function: Any) -> str:
    written = inspect.signature(inspect.unwrap(function))
    lines, keyword_only = [], False
    for parameter in written.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            lines.append("    *,")
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {stars}{parameter.name}: {parameter.annotation}{default},")
    return "\n".join([f"{name}(", *lines, f") -> {written.return_annotation}"])


def members(value: type) -> Iterator[str]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield f"| `{field.name}` | {str(field.type).replace('|', 'or')} |"
    for name, member in vars(value).items():
        called = inspect.isfunction(member)
        if name.startswith("_") or not (called or isinstance(member, property | cached_property)):
            continue
        if doc := inspect.getdoc(member):
            yield f"| `{name}{'()' if called else ''}` | {' '.join(doc.split()).replace('|', 'or')} |"


def test_the_page_is_made_of_the_docstrings(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(page(), encoding="utf-8")
    written = PAGE.read_text("utf-8")
    assert written == page(), "run pytest tests/test_library.py --update-goldens, and read simulator/README.md"
    assert all(f"`{name}`" in written for name in simulator.__all__)


def test_help_has_the_names_and_defaults_of_all_options() -> None:
    for name in ("messages", "publish", "simulate", "verify"):
        parameters = inspect.signature(getattr(simulator, name)).parameters
        assert {"limit", "seed", "route", "broker"} <= set(parameters)
        assert (parameters["broker"].default, parameters["limit"].default) == ("kafka", None)


def test_a_sink_of_ones_own() -> None:
    sink = simulator.MemorySink(partitions=4)
    done = simulator.publish("crud", "canal-json", sink, turns=50, rate="100000/s")
    assert done.delivered == len(list(sink.messages())) == 50
    expected = simulator.messages("crud", "canal-json", limit=None, turns=50, partitions=4)
    assert [(m.partition, m.value) for m in sink.messages()] == [(m.partition, m.value) for m in expected]


def test_a_path_and_going_on(tmp_path: Path) -> None:
    file, mark = tmp_path / "all.jsonl", tmp_path / "mark"
    facts, record = tmp_path / "facts.json", tmp_path / "record.json"
    for limit in (30, 80):
        simulator.publish(
            "crud", "dts-canal-json", file, limit=limit, resume=mark, settings={"seed": 5},
            summary_to=facts, record=record, metrics="127.0.0.1:0",
        )  # fmt: skip
    expected = [message.value for message in simulator.messages("crud", "dts-canal-json", limit=80, seed=5)]
    assert file.read_bytes().splitlines() == expected
    assert summary(facts)["next_turn"] == summary(record)["next_turn"]
    assert len(summary(record)["earlier"]) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"limt": 5}, "publish has no option 'limt'. Did you mean 'limit'?"),
        ({"limit": -1}, "limit is -1: it is a whole number from 0 on."),
        ({"limit": "5"}, "limit is '5': it is a whole number from 0 on."),
        ({"seed": True}, "seed is True: it is a whole number from 0 on."),
        ({"clock": "real"}, "clock is 'real': it is 'simulated' or 'wall'."),
        ({"settings": {"tables.users.rows": None, "tables.nobody.rows": 1}}, "--set tables.nobody.rows=1: there is no"),
        ({"settings": ["seed=5"]}, "settings is ['seed=5']: it is a mapping, such as {\"tables.users.rows\": 1000}."),
        ({"route": "columns:nope"}, "--route columns:nope: no table of scenarios/crud.yaml has a column 'nope'."),
        ({"record": "nowhere/r.json"}, "--record nowhere/r.json: there is no folder 'nowhere'."),
        ({"metrics": "9100"}, "--metrics 9100: write a host and a port, as in 127.0.0.1:9100."),
        ({"scenario": None}, "scenario is None: it is a file, or the name of a shipped one such as 'orders'."),
        ({"format": None}, "format is None: it is a text such as 'canal-json' or 'dts-canal-json,frac=pad'."),
        (
            {"broker": "kafkaa"},
            "no kind of broker 'kafkaa'. Did you mean 'kafka'? --broker is one of kafka, rocketmq, rabbitmq.",
        ),
        ({"to": None}, "to is None: it is a URL, a Path or a sink."),
        ({"rate": 5000}, "rate is 5000: it is a text."),
        ({"workers": 100_000}, "--workers 100000: there are 64 at the most."),
        ({"resume": "mark"}, "--resume: a run to an open sink cannot be resumed; name a URL of files or a broker."),
    ],
)
def test_arguments_are_checked_before_anything_is_sent(arguments: dict[str, Any], problem: str) -> None:
    sink = simulator.MemorySink()
    with pytest.raises(simulator.UsageError, match=f"^{re.escape(problem)}"):
        simulator.publish(**{"scenario": "crud", "format": "canal-json", "to": sink, "limit": 1, **arguments})
    assert not sink.batches


def test_the_value_of_a_message_as_data() -> None:
    """Avro's record and JSON's object alike; another text as it is, and nothing of a tombstone."""
    for format in ("dts-avro,framing=confluent", "drs-avro", "cloudcanal-dts-avro"):
        (message,) = simulator.messages("tour", format, start_at=3, limit=1)
        assert isinstance(message.decoded, dict), format
    decoded = {
        format: [message.decoded for message in simulator.messages("tour", format, source=source)]
        for format, source in (("canal-json", "mysql"), ("debezium-json", "mysql"))
    }
    assert {value["type"] for value in decoded["canal-json"]} >= {"INSERT", "UPDATE", "DELETE"}
    assert None in decoded["debezium-json"]


def test_a_simulation_has_the_messages_of_the_stream_and_a_short_text() -> None:
    found = simulator.simulate("orders", "dts-avro", limit=3000)
    assert found.messages == list(simulator.messages("orders", "dts-avro", limit=3000))
    assert {"place", "pay", None} <= {message.step for message in found.messages}
    assert repr(found) == "<Simulation of scenarios/orders.yaml on mysql-8.0 as dts-avro>"


def test_what_is_sent_goes_to_the_topic_of_the_destination() -> None:
    """Where it names one; else to the run's."""
    run = simulator.simulate("crud", "canal-json", topic="own", limit=20)
    values = [message.value for message in run.messages]
    for pattern, topic in ((None, "own"), ("to-{table}", "to-users")):
        sink = MemorySink(topic_pattern=pattern)
        run.send(sink)
        assert {message.topic for message in sink.messages()} == {topic}
        assert sink.values() == values


@pytest.mark.parametrize("run", [simulator.messages, simulator.simulate])
def test_there_is_no_silent_limit(tmp_path: Path, run: Any) -> None:
    """A script is there as a whole; a scenario without an end says that it has none, at the call."""
    script = tmp_path / "f.sql"
    rows = "INSERT INTO t VALUES " + ",".join(f"({n})" for n in range(150))
    script.write_text(f"CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY); {rows};")
    found = run(script, "dts-canal-json")
    messages = found.messages if isinstance(found, simulator.Simulation) else list(found)
    assert len(messages) == 152
    with pytest.raises(simulator.UsageError, match=r"crud\.yaml has no end: give a limit of row changes, or turns"):
        run("crud", "canal-json")
