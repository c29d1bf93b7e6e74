"""The command line: what it says about mistakes, what the listings hold, and that pipes may break."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, ROOT, Command, Done, cdcsim, environment, start, summary

import simulator
from simulator import messages
from simulator.cli import progress
from simulator.compare.members import indented
from simulator.errors import NotOffered, UsageError
from simulator.formats import FORMATS
from simulator.formats import find as find_format
from simulator.native import library
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.request import About, Sending, Span, Subject
from simulator.run.session import open_session
from simulator.sources import SOURCES

COMMANDS = (
    "run",
    "show",
    "compare",
    "expected",
    "check",
    "explain",
    "schema",
    "formats",
    "sources",
    "scenarios",
    "completion",
)


# ---------------------------------------------------------------------------------------------------------- mistakes

RUN = ["run", "orders", "-f", "canal-json", "--limit", "1"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["rnu"], "no command 'rnu'. Did you mean 'run'?"),
        (["publish-everything"], "`cdcsim --help` lists them all"),
        (["run"], "cdcsim run: name a scenario, such as orders, or a file; `cdcsim scenarios`"),
        (["run", "orders"], "cdcsim run: name a format, such as -f canal-json; `cdcsim formats`"),
        (["run", "-f", "canal-json"], "name a scenario"),
        (["expected", "orders", "--at", "5"], "Missing option '--to'. `cdcsim expected --help` lists"),
        ([*RUN, "now"], "(now)"),
        ([*RUN, "--limt", "3"], "no option '--limt'. Did you mean '--limit'?"),
        (["formats", "--jsn"], "Did you mean '--json'?"),
        ([*RUN[:-1], "-1"], "-1"),
        ([*RUN[:-1], "many"], "'many'"),
        ([*RUN, "--turns", "1e-3"], "'1e-3'"),
        ([*RUN, "--start-at", "99999999999999999999"], "is not a number from 0 to 1000000000000000"),
        ([*RUN, "--clock", "moon"], "'moon'"),
        (["show", "orders", "-f", "canal-json", "-n", "0"], "'-n'"),
        (["completion", "tcsh"], "'tcsh'"),
        # formats and their options
        (["run", "orders", "-f", "canal_json"], "no format 'canal_json'. Did you mean 'canal-json'? `cdcsim formats`"),
        (["run", "orders", "-f", ""], "no format ''"),
        (["run", "orders", "-f", "debezium"], "no format 'debezium'. Did you mean 'debezium-json'? `cdcsim"),
        (["run", "orders", "-f", "canal-json,verison=1.1.5"], "'verison'. Did you mean 'version'?"),
        (["run", "orders", "-f", "canal-json,version=1.1.9"], "1.1.4, 1.1.5, 1.1.6, 1.1.7, 1.1.8"),
        (["run", "orders", "-f", "canal-json,version"], "version=1.1.8"),
        (["run", "orders", "-f", "canal-json,timezone=Mars"], "'Asia/Shanghai'"),
        (["run", "orders", "-f", "canal-json,gtid=maybe"], "it is on or off"),
        (["show", "orders", "-f", "dts_canal_json"], "Did you mean 'dts-canal-json'?"),
        # scenarios and sources
        (["run", "order", "-f", "canal-json"], "no scenario 'order'. Did you mean 'orders'? `cdcsim scenarios`"),
        (["check", "nowhere"], "no scenario 'nowhere'"),
        (["check", "no/where.yaml"], "there is no scenario file 'no/where.yaml'"),
        (["check", "orders.yml"], "there is no scenario file 'orders.yml'. Did you mean 'orders', which comes with"),
        (["check", "orders", "--set", "rows=5"], "--set rows=5: 'rows' is a key of tables: tables.NAME.rows, of all"),
        (["check", "crud", "--set", "tables.users.columns.name.values=fakr"], "alone. It takes arguments: {faker: …}."),
        (["check", "crud", "--set", "tables.users.rows=x"], "--set tables.users.rows=x: 'x' is not a whole number."),
        (["check", "crud", "--set", "tables.users.mix={inser: 1}"], ": inser: unknown key 'inser'. Did you mean"),
        (["check", "."], "no scenario '.'"),
        (["check", "./"], "is a directory"),
        ([*RUN, "--source", "msyql"], "no source 'msyql'. Did you mean 'mysql'? `cdcsim sources`"),
        ([*RUN, "--source", "mysql-5.5"], "8.0, 5.7"),
        (
            ["run", "wide", "-f", "canal-json", "--source", "mariadb"],
            "scenarios/wide.yaml has column types of mysql",
        ),
        (["run", "tour", "-f", "canal-json", "--start-at", "99"], "scenarios/tour.yaml ends at turn "),
        (["run", "crud", "-f", "canal-json,version=1.1.4,version=1.1.5"], "the option 'version' is there twice"),
        (["run", "crud", "-f", "canal-json", "--limit", "1.0005k"], "'1.0005k' is not a whole number"),
        (["formats", "canal_json"], "no format 'canal_json'. Did you mean 'canal-json'?"),
        (
            ["formats", "--schema"],
            "formats --schema: name a format; those of Avro are cloudcanal-dts-avro, debezium-avro, drs-avro, dts",
        ),
        (
            ["formats", "canal-json", "--schema"],
            "formats canal-json --schema: its values are text; the formats of Avro",
        ),
        (["completion"], "Choose from: bash, zsh, fish"),
        # where messages go, and how fast
        ([*RUN, "--to", "kafka://localhost/{db}.{table}"], "has {db}: it may have {database}, {schema} and {table}"),
        ([*RUN, "--to", "localhost:9092/x"], "--to localhost:9092/x: write kafka://localhost:9092/x, or another"),
        ([*RUN, "--route", "rows"], "key, single, table, columns"),
        ([*RUN, "--route", "columns"], "columns:customer_id"),
        ([*RUN, "--route", "table:orders"], "columns:customer_id"),
        ([*RUN, "--route", "columns:custmer_id"], "has a column 'custmer_id'. Did you mean 'customer_id'?"),
        ([*RUN, "--rate", "fast"], "50000/s"),
        ([*RUN, "--rate", "0"], "50000/s"),
        ([*RUN, "--rate", "ramp:9k..1k/10m"], "ramp:1k..50k/10m"),
        ([*RUN, "--duration", "10"], "such as 90s"),
        ([*RUN, "--duration", "0s"], "such as 90s"),
        ([*RUN, "--to", "kafak://localhost/x"], "Did you mean 'kafka'?"),
        ([*RUN, "--to", "messages"], "--to messages: write file:messages for a file or a folder."),
        ([*RUN, "--to", "ftp://localhost/x"], "kafka://HOST:PORT/TOPIC"),
        ([*RUN, "--to", "file:"], "write file:DIR"),
        (
            [*RUN, "--to", "file:out/{table}"],
            "--to file:out/{table}: {table} is for topics of brokers; files are named",
        ),
        ([*RUN, "--to", "file:somewhere?partition=3"], "Did you mean 'partitions'?"),
        ([*RUN, "--to", "file:somewhere?partitions=none"], "from 1 to 10000"),
        ([*RUN, "--to", "kafka://localhost/x?partitons=3"], "Did you mean 'partitions'?"),
        ([*RUN, "--summary-to", "no/where/summary.json"], "there is no folder 'no/where'"),
        ([*RUN, "--limit", "7"], "--limit is given twice: leave one out"),
        ([*RUN, "--source", "mysql-"], "the versions of MySQL are 8.0, 5.7, not ''"),
        ([*RUN, "--route", "key:"], "only the policy 'columns' takes columns"),
        ([*RUN, "--to", "/tmp/x"], "write file:/tmp/x for a file or a folder"),
        ([*RUN, "--to", "out.jsonl"], "write file:out.jsonl"),
        ([*RUN, "--rate", "curve:nofile"], "nofile cannot be read: No such file or directory."),
        (["compare", "crud", "--html", "no/where.html"], "there is no folder 'no'"),
        (["expected", "crud", "--to", "rows", "--at", "x"], "'x' is not a whole number"),
        (["expected", "crud", "--to", "/dev/null", "--at", "5"], "it is a file; name a new folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    """One sentence on stderr that shows a way out, nothing on stdout, status 2, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert told in err
    assert re.fullmatch(r"cdcsim( \w+)?: [^\n]+[.?]\n", err), err
    assert "cdcsim: cdcsim" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ["20", "2_0", "0.02k", "0.020K", "2e1", "0.2E2"])
def test_numbers_as_people_write_them(command: Command, limit: str) -> None:
    assert len(command("run", "crud", "-f", "canal-json", "--limit", limit).out.splitlines()) == 20


@pytest.mark.parametrize("option", ["--limit", "--turns", "--start-at", "--seed", "--rate", "--duration", "-n"])
def test_numbers_of_any_size(command: Command, option: str) -> None:
    """A number that cannot be is a sentence, too."""
    run = ["show", "crud"] if option == "-n" else ["run", "crud", "--turns", "1", "-q"]
    for number in ("-1", "1e-3", "0x10", "nan", "inf", "9" * 30, "9" * 5000, "1." + "9" * 400, "٣"):
        status, out, err = command(*run, "-f", "canal-json", option, number)
        assert status == 0 or (status, out, err.count("\n")) == (2, "", 1), (number, err)
        assert len(err) < 300


def test_no_command_at_all(command: Command) -> None:
    status, out, err = command()
    assert (status, out) == (2, "")
    assert err.startswith("Usage: cdcsim [OPTIONS] COMMAND")


def test_a_wrong_scenario(command: Command, tmp_path: Path) -> None:
    """File, line and key."""
    scenario = tmp_path / "mine.yaml"
    scenario.write_text("tables:\n  users:\n    key: id\n    columns:\n      id: varchr(3)\n    rows: 5\n")
    for arguments in (["check", scenario], ["run", scenario, "-f", "canal-json"]):
        status, out, err = command(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith(f"cdcsim: {scenario}:5: tables.users.columns.id")
        assert err.count("\n") == 1


def test_check_lists_all_errors_of_a_sql_script(command: Command, tmp_path: Path) -> None:
    """…, as of a scenario in YAML; with --force the tables, too."""
    script = tmp_path / "f.sql"
    lines = ["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO u VALUES (1)", "SLECT 1", "INSERT INTO t VALUES (x)"]
    script.write_text("CREATE DATABASE d; USE d; " + ";\n".join(lines) + ";")
    done = command("check", script, status=2)
    assert done.err.startswith(f"cdcsim: {script}:2: ERROR 1146")
    assert [int(line.split(":")[2]) for line in done.err.splitlines()[:-1]] == [2, 3, 4]
    assert "3 statements failed, as listed above" in done.err.splitlines()[-1]
    assert (done.out, "d.t" in command("check", script, "--force", status=2).out) == ("", True)


SCRIPTS = {
    "empty.yaml": ("tables:", "1: tables: it is empty; write a mapping."),
    "none.yaml": ("tables: {}", "1: tables: there must be at least 1, and there is none."),
    "step.sql": ("-- @step\nSELECT 1;", "1: @step: the step has no name; write `-- @step NAME`."),
    "first.sql": ("CREATE TABLE t (id INT);", "1: ERROR 1046 (3D000): No database selected: 'CREATE TABLE t (id INT)'"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_is_wrong_from_the_first_line_on_is_one_sentence(command: Command, tmp_path: Path, name: str) -> None:
    """…, by `run` and `check`: no summary of a run that never began."""
    text, problem = SCRIPTS[name]
    (tmp_path / name).write_text(text)
    for arguments in (["check", tmp_path / name], ["run", tmp_path / name, "-f", "canal-json"]):
        assert command(*arguments) == Done(2, "", f"cdcsim: {tmp_path / name}:{problem}\n")


@pytest.mark.parametrize(
    ("package", "url", "extra"),
    [("pymysql", "mysql://root:secret@h", "mysql"), ("psycopg", "postgresql://h:9/d", "postgresql")],
)
def test_a_missing_client_of_a_sql_server(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, url: str, extra: str
) -> None:
    """How to install it, and no password; `record` of a server has no --sql-engine to name."""
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "f.sql").write_text("SELECT 1;")
    run = ["run", tmp_path / "f.sql", "-f", "drs-json", "--sql-engine", url]
    for arguments in (run, ["record", url, "--from", "a.1:4", "--to", tmp_path / "f.cdc"])[: 2 - (extra != "mysql")]:
        err = command(*arguments, status=2).err
        assert re.fullmatch(rf"cdcsim: {extra}://h:\d+ needs \w+: pip install 'cdc-simulator\[{extra}\]'\.\n", err), err


def test_a_folder_that_is_not_empty(command: Command, tmp_path: Path) -> None:
    first = command(*RUN, "-q", "--to", f"file:{tmp_path}")
    assert first == Done(0, "", "")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    status, out, err = command(*RUN, "--to", f"file:{tmp_path}")
    assert (status, out) == (1, "")
    assert err == f"cdcsim: file:{tmp_path}: example-0.jsonl is already there; name an empty folder, or remove it.\n"
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, out, err = command(*RUN, "--to", f"file:{tmp_path / 'file' / 'folder'}")
    assert (status, out) == (1, "")
    assert re.fullmatch(r"cdcsim: [^\n]+\.\n", err)


def test_a_stream_that_ends_too_early(command: Command, tmp_path: Path) -> None:
    """A key column that is full: what was sent before is there and accounted for."""
    scenario, facts = tmp_path / "small.yaml", tmp_path / "summary.json"
    columns = "{id: {type: int16, values: sequence}, n: {type: int32, values: version}}"
    table = f"{{key: id, rows: 100, mix: {{insert: 1, delete: 1}}, columns: {columns}}}"
    scenario.write_text(f"transactions: {{3..5: 1}}\ntables: {{t: {table}}}")
    folder = tmp_path / "messages"
    run = ["run", scenario, "-f", "canal-json"]
    status, out, err = command(*run, "--to", f"file:{folder}", "--summary-to", facts)
    assert (status, out) == (1, "")
    told, sentence = err.splitlines()
    last = int(re.search(r"is beyond turn (\d+), where the key", sentence)[1])
    done = summary(facts)
    assert last - 5 < done["next_turn"] - 1 <= last
    assert told.startswith(f"{done['delivered']:,} messages written to file:{folder}: ")
    assert (folder / "example-0.jsonl").read_bytes().count(b"\n") == done["delivered"] == done["messages"]
    # what ends before is fine, and what begins behind is only the sentence
    assert command(*run, "-q", "--limit", "10").status == 0
    assert command(*run, "-q", "--start-at", str(last - 50), "--turns", "20", "--snapshot").status == 0
    for more in ([], ["--snapshot"]):
        behind = command(*run, "--start-at", "60000", *more)
        assert (behind.status, behind.out, behind.err.count("\n")) == (2, "", 1)


# --------------------------------------------------------------------------------------------------------- summaries


def test_the_summary(command: Command, tmp_path: Path) -> None:
    facts = tmp_path / "summary.json"
    arguments = ["--start-at", "100", "--turns", "50", "--seed", "4", "--summary-to", facts]
    status, out, err = command("run", "orders", "-f", "dts-canal-json", *arguments)
    assert status == 0
    told = summary(facts)
    assert (told["scenario"], told["format"], told["source"]) == (
        "scenarios/orders.yaml",
        "dts-canal-json",
        "mysql-8.0",
    )
    assert (told["to"], told["seed"], told["interrupted"], told["failed"]) == ("-", 4, False, 0)
    assert told["next_turn"] - told["first_turn"] >= 50
    assert told["messages"] == told["delivered"] == told["changes"] == out.count("\n")
    assert told["bytes"] == len(out.encode()) - told["messages"]
    assert told["topics"] == {"dts": told["messages"]}
    assert re.fullmatch(
        rf"{told['messages']} messages written to stdout: {told['changes']} row changes; \d+\.\d s, "
        rf"[\d,]+ messages/s, [\d.]+ MB/s; turns \d+ to {told['next_turn'] - 1}, next turn {told['next_turn']}\n"
        r"(1 heartbeat is|\d heartbeats are) not sent by dts-canal-json\.\n",
        err,
    )


def test_summaries_count_in_words(command: Command) -> None:
    assert (
        "1 message written to stdout: 1 row change;" in command("run", "crud", "-f", "canal-json", "--turns", "1").err
    )
    nothing = command("run", "crud", "-f", "canal-json", "--turns", "0")
    assert (nothing.status, nothing.out) == (0, "")
    assert "0 messages written to stdout: 0 row changes;" in nothing.err
    assert nothing.err.endswith("; no turns, next turn 0\n")


def test_the_summary_counts_the_time_of_the_snapshot(command: Command, tmp_path: Path) -> None:
    facts = tmp_path / "summary.json"
    to = ["--to", f"file:{tmp_path / 'messages'}", "--summary-to", facts, "-q"]
    command("run", "crud", "-f", "canal-json", "--snapshot", "--limit", "1", *to)
    told = summary(facts)
    assert told["snapshot_rows"] > 50_000
    assert told["delivered"] / told["seconds"] < 20e6


# ---------------------------------------------------------------------------------------------------------- listings


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(command: Command, name: str) -> None:
    asked = command(*filter(None, [name]), "--help")
    assert (asked.status, asked.err) == (0, "")
    assert asked.out.startswith(f"Usage: cdcsim {name}".rstrip())
    assert command(*filter(None, [name]), "-h").out == asked.out
    if not name:
        assert all(re.search(rf"^  {command} ", asked.out, re.MULTILINE) for command in COMMANDS)
        assert "..." not in asked.out.partition("Commands:")[2], "a sentence is cut off"
    elif "SCENARIO" in asked.out.partition("\n")[0]:
        assert re.search(
            r"^Arguments:\n  \[?SCENARIO\]?  A name from `cdcsim scenarios`, or a file", asked.out, re.MULTILINE
        )


def test_version(command: Command) -> None:
    assert command("--version") == Done(0, f"cdcsim, version {simulator.__version__}\n", "")


def listing(command: Command, *arguments: str) -> Any:
    status, out, err = command(*arguments)
    assert (status, err) == (0, "")
    return json.loads(out)


EVENTS = [
    *("full sync", "insert", "update", "delete", "DDL", "truncate"),
    *("heartbeat", "begin", "commit", "logged statement"),
]


def test_formats(command: Command) -> None:
    facts = {entry["id"]: entry for entry in listing(command, "formats", "--json")}
    assert list(facts) == sorted(facts)
    assert set(facts) >= set(FORMATS)
    for entry in facts.values():
        assert entry["sources"]
        assert set(entry["brokers"]) <= {"kafka", "rocketmq", "rabbitmq"}
        assert "kafka" in entry["brokers"]
        kinds = {*entry["sends"], *entry["silent"]}
        assert kinds == {"read", "insert", "update", "delete", "ddl", "begin", "commit", "heartbeat", "statement"}
        assert all(option["doc"] for option in entry["options"])
        assert list(entry["events"]) == EVENTS
        for events in entry["events"].values():
            assert list(events) == entry["sources"]
            assert set(events.values()) <= {"yes", "option", "no"}
        assert set(entry["events"]["insert"].values()) == {"yes"}
    version = next(option for option in facts["canal-json"]["options"] if option["name"] == "version")
    assert version["default"] == "1.1.8" == version["choices"][-1]
    avro = ["cloudcanal-dts-avro", "debezium-avro", "drs-avro", "dts-avro"]
    assert [name for name, entry in facts.items() if entry["binary"]] == avro


def test_formats_say_what_they_send_of_each_source(command: Command) -> None:
    facts = {entry["id"]: entry for entry in listing(command, "formats", "--json")}
    told = {
        name: {event: set(sent.values()) for event, sent in entry["events"].items()} for name, entry in facts.items()
    }
    assert told["oms-shareplex"]["DDL"] == told["oms-shareplex"]["truncate"] == {"no"}
    assert told["oms-canal-json"]["DDL"] == told["oms-canal-json"]["truncate"] == {"option"}
    assert told["oms-default"]["heartbeat"] == {"option"}
    assert told["oms-default"]["truncate"] == {"yes"}
    assert told["dts-avro"]["begin"] == told["dts-avro"]["commit"] == {"option"}
    # Huawei's DRS sends three commands of MongoDB: drop database, drop collection, rename
    assert facts["drs-json"]["events"]["DDL"]["mongodb"] == "yes"
    assert facts["drs-json"]["events"]["truncate"]["mongodb"] == "no"


def test_formats_as_text(command: Command) -> None:
    """What the listing for people says is what the one for programs does."""
    facts = {entry["id"]: entry for entry in listing(command, "formats", "--json")}
    lines = command("formats").out.splitlines()
    assert max(map(len, lines)) <= 80
    cells = {id: words for id, *words in map(str.split, lines) if id in facts}
    products = [line.removesuffix(":") for line in lines if line.endswith(":")]
    assert products == list(dict.fromkeys(entry["product"] for entry in facts.values()))
    for name, entry in facts.items():
        letters = {"kafka": "K", "rocketmq": "R", "rabbitmq": "B"}
        words = [
            "src" if len(set(sent.values())) > 1 else sent[entry["sources"][0]] for sent in entry["events"].values()
        ]
        short = {"option": "opt", "no": "-"}
        assert cells[name] == [
            "".join(letters[broker] for broker in entry["brokers"]),
            *(short.get(w, w) for w in words),
        ]
    for name, entry in facts.items():
        about = command("formats", name).out
        assert about.startswith(f"{name}: ")
        assert f"\n  sources: {', '.join(entry['sources'])}\n" in about
        for each in (*entry["options"], *entry["members"]):  # what rests on inference is marked
            assert f"\n  {'*' if each['decided'] else ' '} {each.get('name') or each['member']}" in about
        assert {each["decided"] for each in (*entry["options"], *entry["members"])} == {True, False}
        for event, sent in entry["events"].items():
            words = set(sent.values())
            for word in words:
                ids = f"{word}: " + ", ".join(id for id in entry["sources"] if sent[id] == word)
                expected = word if len(words) == 1 else ids
                assert re.search(rf"\n  {event}: (.*; )?{re.escape(expected)}[;\n]", about)


# -------------------------------------------------------------------------------------------------- what is not offered

NOT_OFFERED = [(name, id) for name in FORMATS for id in SOURCES if id not in find_format(name).sources]


@pytest.mark.parametrize(("name", "source"), NOT_OFFERED)
def test_what_the_vendor_does_not_offer_is_refused_and_allowed(name: str, source: str) -> None:
    """The refusal names what there is. Where nothing is known of how such a message could look, it is refused although
    it is allowed, in a sentence."""
    format = find_format(name)
    with pytest.raises(NotOffered) as refusal:
        open_job("compare", name, source=source)
    others = [each for each in FORMATS if find_format(each).product == format.product]
    hint = ", ".join(each for each in others if source in find_format(each).sources)
    assert str(refusal.value) == (
        f"-f {name}: {format.product}, writing {format.title}, reads {', '.join(format.sources)}, not {source}"
        f"{f', of which it writes {hint}' if hint else ''}; "
        "--allow-undocumented writes it all the same, as far as the types are known."
    )
    try:
        job = open_job("compare", name, source=source, allow_undocumented=True)
        messages = list(job.messages(Limits(turns=7)))
    except UsageError as error:
        sentence = str(error)
    else:
        assert job.undocumented
        assert len(messages) >= 5
        return
    assert re.fullmatch(rf"(-f )?{name}[:a-z ].*\.", sentence)


def test_the_summary_says_what_is_not_offered(command: Command, tmp_path: Path) -> None:
    refused = ["run", "crud", "--limit", "5", "-f", "drs-json", "--to", "amqp://host/vhost"]
    assert command(*refused) == Done(
        2,
        "",
        "cdcsim: -f drs-json: Huawei Cloud DRS writes DRS JSON to kafka, not to rabbitmq; --allow-undocumented does it "
        "all the same.\n",
    )
    assert "writes DRS JSON to" not in command(*refused, "--allow-undocumented").err
    assert "--allow-undocumented" not in command(*RUN, "--to", "rocketmq://host:9876/t").err
    allowed = ["--allow-undocumented", "--summary-to", tmp_path / "summary.json"]
    source = command("run", "crud", "-f", "oms-default", "--source", "mariadb", "--limit", "5", *allowed)
    assert source.err.endswith("OceanBase Migration Service does not read mariadb-10.11: these are not its bytes.\n")
    assert summary(tmp_path / "summary.json")["undocumented"] is True
    offered = command(*RUN, *allowed)
    assert "not its bytes" not in offered.err
    assert summary(tmp_path / "summary.json")["undocumented"] is False


def test_the_summary_says_what_is_not_sent(command: Command) -> None:
    run = ["run", "orders", "--start-at", "19000", "--turns", "7000", "--to", "memory:"]
    silent = command(*run, "-f", "oms-shareplex").err
    assert "\n1 DDL statement is not sent by oms-shareplex.\n" in silent
    assert silent.endswith("\n118 heartbeats are not sent by oms-shareplex.\n")
    assert " row changes, 1 DDL statement, 118 heartbeats; " in command(*run, "-f", "dts-avro,product=subscription").err


def test_sources(command: Command) -> None:
    facts = {entry["id"]: entry["versions"] for entry in listing(command, "sources", "--json")}
    assert facts["mysql"] == ["8.0", "5.7"]
    assert facts["mariadb"]
    assert all(name in command("sources").out for name in facts)


def test_scenarios(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    facts = {entry["name"]: entry for entry in listing(command, "scenarios", "--json")}
    assert set(facts) >= {"crud", "orders", "tour", "wide"}
    for entry in facts.values():
        assert Path(entry["file"]).is_file()
        assert len(entry["about"]) > 40
    lines = command("scenarios").out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert all(" ".join(entry["about"].split()) in text for entry in facts.values())


@pytest.mark.parametrize("scenario", ["crud", "orders", "tour", "wide"])
def test_check(command: Command, scenario: str) -> None:
    facts = listing(command, "check", scenario, "--json")
    assert facts["scenario"] == f"scenarios/{scenario}.yaml"
    assert facts["source"] == "mysql-8.0"
    assert all(table["columns"] and table["key"] for table in facts["tables"])
    assert (facts["turns"] is not None) == (scenario == "tour")
    text = command("check", scenario)
    assert (text.status, text.err) == (0, "")
    assert text.out.startswith(f"scenarios/{scenario}.yaml is fine on mysql-8.0.\n")
    assert all(f"\n{table['name']} (key: " in text.out for table in facts["tables"])


def test_check_on_another_source(command: Command) -> None:
    assert listing(command, "check", "orders", "--source", "mysql-5.7", "--json")["source"] == "mysql-5.7"


def test_schema_of_a_format(command: Command) -> None:
    """With the options that change it."""
    schema = listing(command, "formats", "dts-avro", "--schema")
    assert (schema["type"], schema["name"]) == ("record", "Record")
    other = listing(command, "formats", "dts-avro,schema_variant=A", "--schema")
    assert other != schema


def test_schema(command: Command) -> None:
    facts = listing(command, "schema")
    assert {"tables", "lifecycles", "schema_changes", "script"} <= set(facts["properties"])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(command: Command, shell: str) -> None:
    status, out, err = command("completion", shell)
    assert (status, err) == (0, "")
    assert "cdcsim" in out
    assert "_CDCSIM_COMPLETE" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cdcsim ", {"run", "show", "check", "formats"}),
        ("cdcsim run --rou", {"--route"}),
        ("cdcsim run or", {"orders"}),
        ("cdcsim run orders -f dts", {"dts-canal-json"}),
        ("cdcsim run orders -f canal-json --source my", {"mysql", "mysql-5.7", "mysql-8.0"}),
        ("cdcsim run orders -f canal-json,ver", {"canal-json,version="}),
        ("cdcsim run orders -f dts-canal-json,images=", {"dts-canal-json,images=before-2022-03-20"}),
        ("cdcsim run orders -f canal-json --broker ra", {"rabbitmq"}),
        ("cdcsim run orders -f canal-json --to ", {"-", "file:", "kafka://", "amqp://", "rocketmq://"}),
        ("cdcsim run orders --set ta", {"tables."}),
        ("cdcsim run orders --set tables.or", {"tables.orders."}),
        ("cdcsim run orders --set tables.orders.ro", {"tables.orders.rows="}),
        ("cdcsim run orders --set tables.orders.rows=", set()),
        ("cdcsim run --set rat", {"rate="}),
        ("cdcsim run orders -f canal-json --to kafka://h/t?acks=1&par", {"kafka://h/t?acks=1&partitions="}),
    ],
)
def test_completion_answers(command: Command, monkeypatch: pytest.MonkeyPatch, words: str, expected: set[str]) -> None:
    """What the bash script asks the command."""
    asked = {"_CDCSIM_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    done = command(status=0)
    assert done.err == ""
    answers = {line.partition(",")[2] for line in done.out.splitlines()}
    assert expected <= answers


# -------------------------------------------------------------------------------------------------------- show, run


def test_show(command: Command) -> None:
    status, out, err = command("show", "orders", "-f", "canal-json", "-n", "3")
    assert (status, err) == (0, "")
    head = r"^-- turn \d+\.\d+(?:, step [a-z]+)?: [A-Z]+, topic example, partition ([0-5]), key none$"
    assert re.findall(head, out, re.MULTILINE) == ["0"] * 3
    values = [json.loads(part.partition("\n")[2]) for part in out.split("-- ")[1:]]
    assert [value["database"] for value in values] == ["shop"] * 3
    lines = command(*RUN[:-1], "3", "-q").out.splitlines()
    assert values == [json.loads(line) for line in lines[:3]]
    several = command("show", "orders", "-f", "canal-json", "-n", "20", "--partitions", "6").out
    assert len(set(re.findall(head, several, re.MULTILINE))) > 1


def test_show_names_steps(command: Command) -> None:
    out = command("show", "orders", "-f", "canal-json", "--step", "place", "-n", "8").out
    heads = re.findall(r"^-- (.*?), topic", out, re.MULTILINE)
    assert len(heads) == 8
    assert {head.partition(", ")[2] for head in heads} == {"step place: INSERT", "step place: UPDATE"}
    assert ", step" not in command("show", "crud", "-f", "canal-json", "-n", "3").out
    added = command("show", "compare", "-f", "dts-avro", "--step", "add a column").out
    assert re.findall(r"^-- (.*?), topic", added, re.MULTILINE) == ["turn 8.0, step add a column: DDL"]
    assert command("show", "orders", "-f", "canal-json", "--step", "plaice", status=2).err.startswith(
        "cdcsim: no step 'plaice'. Did you mean 'place'?"
    )


def test_show_prints_values_as_the_product_wrote_them() -> None:
    text = '{"price":12.30,"name":"\\u00e9 {[,:]}","none":{ },"list":[1E+2,null,[]]}'
    assert [line.strip() for line in indented(text).splitlines()] == [
        "{",
        '"price": 12.30,',
        '"name": "\\u00e9 {[,:]}",',
        '"none": {},',
        '"list": [',
        "1E+2,",
        "null,",
        "[]",
        "]",
        "}",
    ]


def test_show_more_than_there_are(command: Command) -> None:
    out = command("show", "tour", "-f", "dts-canal-json", "--snapshot", "-n", "1000").out
    run = command("run", "tour", "-f", "dts-canal-json", "--snapshot", "-q").out
    assert out.count("-- ") == run.count("\n")
    assert "-- snapshot 0.0: READ," in out
    assert ": DDL, " in out


def test_envelope(command: Command) -> None:
    plain = command(*RUN, "-q").out.splitlines()
    whole = [json.loads(line) for line in command(*RUN, "-q", "--envelope").out.splitlines()]
    assert [message["value"] for message in whole] == plain
    for message in whole:
        assert list(message) == ["topic", "partition", "key", "headers", "timestamp", "value"]
        assert (message["topic"], message["partition"]) == ("example", 0)


def test_wall_clock_moves_the_write_time_alone(command: Command) -> None:
    def lines(*more: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in command(*RUN[:-1], "20", "-q", *more).out.splitlines()]

    wall, simulated = lines("--clock", "wall"), lines()
    assert all(a.pop("ts") > b.pop("ts") for a, b in zip(wall, simulated, strict=True))
    assert wall == simulated


def test_start_now_begins_event_times_now(command: Command, tmp_path: Path) -> None:
    """…, also of a SQL script; `--clock wall` moves the write time alone."""
    script = tmp_path / "f.sql"
    script.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);")
    for scenario in ("crud", script):
        before = int(time.time())
        done = command("run", scenario, "-f", "canal-json", "--limit", "2", "--start", "now")
        for line in done.out.splitlines():
            assert before <= json.loads(line)["es"] / 1000 <= time.time() + 2
    assert re.search(r"cdcsim expected .* --set start=20", done.err), "the rows can be had of the same times"
    there = json.loads(command("run", "crud", "-f", "canal-json", "--limit", "1", "--start", "2030-01-01").out)
    assert there["es"] == 1_893_456_000_000
    for arguments in (["show", "-f", "canal-json", "-n", "1"], ["compare", "-f", "canal-json", "--limit", "1"]):
        assert "1893456000000" in command(arguments[0], "crud", *arguments[1:], "--start", "2030-01-01").out
    assert command("explain", "crud", "-f", "canal-json", "--start", "2030-01-01").status == 0
    (now,) = (json.loads(m.value or b"") for m in messages("crud", "canal-json", limit=1, settings={"start": "now"}))
    assert before <= now["es"] / 1000 <= time.time() + 2


def test_a_start_that_cannot_be(command: Command, tmp_path: Path) -> None:
    assert "it is now, or a point in time" in command("run", "crud", *RUN[2:4], "--start", "noon", status=2).err
    assert "write --start 20" in command(*RUN, "--start", "now", "--resume", tmp_path / "r", status=2).err
    script = tmp_path / "f.sql"
    script.write_text("-- @at 2024-05-01\nCREATE TABLE t (id INT PRIMARY KEY);")
    assert "f.sql:1: -- @at says when" in command("run", script, *RUN[2:4], "--start", "now", status=2).err


@pytest.mark.parametrize(("delay", "low", "high"), [("350ms", 350, 350), ("2s", 2000, 2000), ("1s..1.9s", 1000, 1900)])
def test_the_time_between_a_commit_and_the_writing(delay: str, low: int, high: int, tmp_path: Path) -> None:
    """…, in any format, of any scenario: within its bounds, and write times never fall."""
    script = tmp_path / "f.sql"
    script.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);")
    told = set()
    for scenario in ("orders", "tour", str(script)):
        sent = messages(scenario, "oms-canal-json,version=4", limit=300, settings={"delay": delay}, snapshot=False)
        values = [json.loads(message.value or b"") for message in sent]
        written = [value["ts"] for value in values]
        assert written == sorted(written)
        told |= {value["ts"] - value["es"] for value in values}
    assert low <= min(told) <= max(told) < high + 1000, "es is a whole second"
    assert len(told) > (20 if low < high else 0)


@pytest.mark.parametrize(
    ("to", "out", "err"), [("-", True, True), ("-", False, True), ("-", True, False), ("file:x", True, True)]
)
def test_progress_and_messages_do_not_mix_on_one_terminal(
    monkeypatch: pytest.MonkeyPatch, to: str, out: bool, err: bool
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: out)
    monkeypatch.setattr("sys.stderr.isatty", lambda: err)
    session = open_session(Subject("crud", "canal-json"), Span(limit=1), Sending(to), About())
    assert (progress.reporter(session, quiet=False) is None) is (to == "-" and out and err)


def test_quiet(command: Command) -> None:
    loud, quiet = command(*RUN), command(*RUN, "-q")
    assert quiet == Done(0, loud.out, "")
    assert loud.err


def test_one_source_for_who_names_none(command: Command, tmp_path: Path) -> None:
    """The format's, in every command and in the library; and it is announced, also where little else is."""
    script = tmp_path / "fixture.sql"
    script.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);")
    said = "No source is named, so oceanbase-mysql-4.3 is used, which oms-default supports.\n"
    for first in (["run", "-q"], ["show"], ["explain"], ["pack", "--to", tmp_path / "pack.zip"]):
        assert command(first[0], script, "-f", "oms-default", *first[1:], status=0).err.startswith(said)
    compared = json.loads(command("compare", script, "-f", "oms-default", "--json", status=0).out)
    assert compared["source"] == str(simulator.simulate(script, "oms-default").job.source) == "oceanbase-mysql-4.3"


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["run", "crud", "-f", "canal-json", "--limit", "1000", "--to", "file:out"], "out/example-0.jsonl"),
        (["run", "crud", "-f", "canal-json", "-q", "--limit", "1", "--summary-to", "facts.json"], "facts.json"),
        (["compare", "crud", "-f", "canal-json", "--source", "mysql", "--html", "page.html"], "page.html"),
        (["init", "tables.sql", "--to", "tables.yaml"], "tables.yaml"),
    ],
)
def test_a_full_disk_names_the_file_and_leaves_none(tmp_path: Path, arguments: list[str], file: str) -> None:
    """A limit of the size of files stands for the disk."""
    columns = ", ".join(f"c{number} int" for number in range(50))
    (tmp_path / "tables.sql").write_text(f"create table t (id int primary key, {columns});")
    limited = (
        "import resource, sys; from simulator.cli import commands;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); commands.main()"
    )
    command = [sys.executable, "-B", "-c", limited, *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert re.search(rf"{file}(?: stopped|: it cannot be written): File too large", done.stderr), done.stderr
    assert not list(tmp_path.glob(f"{file}*"))
    assert not [path for path in tmp_path.rglob("*") if "unfinished" in path.name]


# ------------------------------------------------------------------------------------------------- its own process


def test_as_a_module_and_as_a_command(command: Command) -> None:
    here = command(*RUN, "-q")
    assert cdcsim(*RUN, "-q").stdout == here.out
    # a sibling of the interpreter, if the package is installed
    installed = shutil.which("cdcsim", path=str(Path(sys.executable).parent))
    if installed is not None:
        done = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout == command("--version").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "crud", "-f", "canal-json"],
        ["run", "crud", "-f", "canal-json", "--snapshot", "--rate", "100k/s", "--envelope"],
        ["show", "crud", "-f", "canal-json", "-n", "1000"],
    ],
    ids=" ".join,
)
def test_a_broken_pipe_is_silent(arguments: list[str]) -> None:
    """`cdcsim run crud -f canal-json | head -1`: the endless run ends, with status 0 and without a word."""
    with start(*arguments) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.stdout.close()
        process.wait(300)
        assert process.stderr is not None
        # a slow machine reports progress before the first block is there
        words = [line for line in process.stderr.read().splitlines() if not line.endswith(b" delivered")]
        assert (process.returncode, words) == (0, [])
    assert first.startswith((b'{"', b"-- turn"))


def test_help_into_a_broken_pipe() -> None:
    script = '"$@" --help | true; echo ${PIPESTATUS[0]}'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND, "run"], env=environment(), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_closed_stderr_is_no_error(tmp_path: Path) -> None:
    """The next file that is opened has its number then."""
    script = '"$@" 2>&-'
    words = ["bash", "-c", script, "bash", *COMMAND, *RUN, "--to", f"file:{tmp_path / 'all.jsonl'}"]
    subprocess.run(words, env=environment(), check=True)
    assert (tmp_path / "all.jsonl").read_text().startswith('{"data":[')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [[*RUN, "-q"], ["formats"]], ids=" ".join)
def test_a_full_disk_is_one_sentence(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert re.fullmatch(r"cdcsim: [^\n]*No space left on device\.\n", done.stderr)


def test_a_core_that_was_not_built_is_named_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LIBRARY", None)
    run = ("run", "tour", "-f", "canal-json", "--limit", "1")
    assert command(*run).err.count("compiled core was not built") == 1
    monkeypatch.setenv("CDCSIM_PURE", "1")
    assert "compiled core" not in command(*run).err
