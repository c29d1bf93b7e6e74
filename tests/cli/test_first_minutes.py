"""What people begin with: one file, values changed on the command line, a scenario as text, an estimate, listings."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest
from command import Command

import simulator
from simulator.formats import FORMATS

TEXT = """
tables:
  users:
    key: id
    columns: {id: {type: int64, values: sequence}, turn: {type: int32, values: version}}
    rows: 50
"""


def test_one_file_holds_all_messages_in_stream_order(command: Command, tmp_path: Path) -> None:
    command(
        "run",
        "crud",
        "-f",
        "canal-json",
        "--limit",
        "300",
        "-q",
        "--to",
        f"file:{tmp_path}/all.jsonl?partitions=4",
        status=0,
    )
    expected = [message.value for message in simulator.messages("crud", "canal-json", limit=300)]
    assert (tmp_path / "all.jsonl").read_bytes().splitlines() == expected
    again = command("run", "crud", "-f", "canal-json", "--limit", "1", "--to", f"file:{tmp_path}/all.jsonl")
    already = f"cdcsim: file:{tmp_path}/all.jsonl is already there; name another file, or remove it.\n"
    assert (again.status, again.err) == (1, already)
    wrong = command("run", "crud", "-f", "dts-avro", "--limit", "1", "--to", f"file:{tmp_path}/b.jsonl", status=2)
    assert wrong.err.endswith("the messages make a .avro file; name it so.\n")


def test_one_file_goes_on(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    run = ("run", "crud", "-f", "canal-json", "-q", "--to", "file:~/all.jsonl", "--resume", tmp_path / "mark")
    command(*run, "--limit", "100", status=0)
    command(*run, "--limit", "250", status=0)
    expected = [message.value for message in simulator.messages("crud", "canal-json", limit=250)]
    assert (tmp_path / "all.jsonl").read_bytes().splitlines() == expected


def test_a_resumed_run_counts_what_it_sends(command: Command, tmp_path: Path) -> None:
    """Not again what had arrived; the command that computes a consumer's rows fits the whole run."""
    run = ("run", "crud", "-f", "canal-json", "--snapshot", "--set", "tables.users.rows=500", "--to")
    run = (*run, f"file:{tmp_path}/messages", "--resume", tmp_path / "mark")
    command(*run, "--limit", "100", status=0)
    for expected in (
        "150 messages written to file:{to}: 150 row changes; … turns 100 to 249, next turn 250\n",
        "0 messages written to file:{to}: 0 row changes; … no turns, next turn 250\n",
    ):
        err = re.sub(r"; .*MB/s; ", "; … ", command(*run, "--limit", "250", status=0).err)
        assert err == (
            expected.format(to=tmp_path / "messages") + "rows that a consumer must hold now: cdcsim expected crud"
            " --at 250 --source mysql-8.0 --set tables.users.rows=500 --to DIR\n"
        )


def test_values_are_set(command: Command) -> None:
    facts = json.loads(
        command("check", "crud", "--set", "tables.users.rows=2e3", "--set", "database=mine", "--json", status=0).out
    )
    assert facts["outlook"]["tables"][0]["rows"] == 2000
    assert facts["tables"][0]["name"] == "mine.users"


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("tables.user.rows=1", "--set tables.user.rows=1: there is no tables.user. Did you mean 'users'?"),
        ("tables.users.rowz=1", "--set tables.users.rowz=1: unknown key 'rowz'. Did you mean 'rows'?"),
        ("tables.users.rows=few", "--set tables.users.rows=few: 'few' is not a whole number."),
        ("rows", "--set rows: write KEY.KEY=VALUE, such as tables.users.rows=1e6."),
    ],
)
def test_wrong_settings(command: Command, setting: str, problem: str) -> None:
    assert command("check", "crud", "--set", setting, status=2).err.endswith(f"{problem}\n")


def test_a_scenario_may_be_a_text(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(TEXT))
    lines = command("run", "-", "-f", "canal-json", "--limit", "20", "-q", status=0).out.splitlines()
    assert lines == [(message.value or b"").decode() for message in simulator.messages(TEXT, "canal-json", limit=20)]
    with pytest.raises(simulator.UsageError, match=r"^the scenario:2: "):
        simulator.messages("database: x\ntable: y\n", "canal-json")


def test_an_estimate_is_near(command: Command) -> None:
    facts = json.loads(command("explain", "orders", "-f", "canal-json", "--limit", "20000", "--json", status=0).out)
    sent = [message.value or b"" for message in simulator.messages("orders", "canal-json", limit=20_000)]
    assert abs(facts["run"]["messages"] / len(sent) - 1) < 0.05
    assert abs(facts["run"]["bytes"] / sum(map(len, sent)) - 1) < 0.05
    run = ("--limit", "1000000", "--rate", "5k/s", "--snapshot")
    out = command("explain", "crud", "-f", "dts-avro", *run, status=0).out
    assert "\nThis run: 1,000,000 row changes in about 1,000,000 messages, " in out
    assert "200 s at this rate" in out
    assert re.search("\nSnapshot before it: (1|99,)", out)


@pytest.mark.parametrize(
    ("url", "topics"),
    [
        ("kafka://nowhere/{database}.{table}?partitions=4", {"app.users"}),
        ("amqp://u:p@nowhere/?queue=q.{table}", {"users"}),
        ("rocketmq://nowhere/all_{table}", {"all_users"}),
        ("kafka://nowhere", {"example"}),
        ("file:out", {"example"}),
    ],
)
def test_an_estimate_knows_the_topics_of_a_url(command: Command, url: str, topics: set[str]) -> None:
    explained = command("explain", "crud", "-f", "canal-json", "--limit", "100", "--to", url, "--json", status=0)
    assert json.loads(explained.out)["topics"].keys() == topics
    assert "p@nowhere" not in explained.err


def test_formats_are_a_line_each(command: Command) -> None:
    lines = command("formats", status=0).out.splitlines()
    named = [line.split()[0] for line in lines[1:] if not line.endswith(":")]
    assert [named.count(format) for format in FORMATS] == [1] * len(FORMATS)
    one = command("formats", "dts-canal-json", status=0).out
    assert "images=current (current, before-2022-03-20): " in one


def test_many_tables_have_a_line_each(command: Command, tmp_path: Path) -> None:
    """Up to ten are described in full; notes that say the same are one."""
    table = (
        "  t{}: {{key: id, columns: {{id: {{type: int64, values: sequence}}}}, rows: 9, mix: {{insert: 3, delete: 2}}}}"
    )
    for count in (10, 11):
        file = tmp_path / f"{count}.yaml"
        file.write_text("\n".join(["tables:", *(table.format(n) for n in range(count))]))
        checked = command("check", file, status=0).out.splitlines()
        explained = command("explain", file, "-f", "debezium-json", status=0).out
        full = count == 10
        assert ("  id bigint not null" in checked, "shop.t3 (key: id)" in checked) == (full, full)
        assert ("shop.t3: key id, 1 column" in checked) != full
        lines = [line for line in explained.splitlines() if line.startswith("shop.t3: about 9 rows when it begins")]
        assert len(lines) == 1
        assert ("inserts" in lines[0]) != full
        assert ("1 more " in explained) != full
        names = ", ".join(f"t{n}" for n in range(count))
        assert f"{names} only grow: a snapshot late in the stream is as long as the tables by then." in checked
        assert sum("stay for good" in line for line in checked) < count
