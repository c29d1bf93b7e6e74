"""The same changes in several formats: members that lose nothing and are described, text, JSON, values of types."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import Command

import simulator
from simulator.compare.comparison import compare
from simulator.compare.types import rendered
from simulator.formats import FORMATS, find, open_codec
from simulator.formats.documents import MEANINGS, members_of, notes_of
from simulator.model import ROW_KINDS
from simulator.sources import find as find_source


def joined(members: Any) -> dict[str, Any]:
    """The object that was cut into these members."""
    whole: dict[str, Any] = {}
    for path, text in members:
        *above, name = path.split(".")
        at = whole
        for each in above:
            at = at.setdefault(each, {})
        at[name] = json.loads(text)
    return whole


@pytest.mark.parametrize("source", ["mysql", "oracle", "postgresql", "sqlserver", "mongodb", "oceanbase-mysql"])
def test_messages_are_their_members_and_each_is_described(source: str) -> None:
    comparison = compare("compare", source=source)
    assert set(comparison.formats) == {name for name in FORMATS if source in find(name).sources}
    undescribed = set()
    for event in comparison.events:
        for format, messages in event.messages.items():
            for message in messages:
                if message.value is None:  # a tombstone
                    continue
                assert joined(message.members) == json.loads(message.value)
                undescribed |= {
                    (format, name) for name, _ in message.members if name not in comparison.meanings[format]
                }
    assert not undescribed, "members.csv of the product's package lacks these"
    assert {kind for event in comparison.events for kind in event.kinds} >= {"read", "insert", "update", "delete"}


@pytest.mark.parametrize("name", FORMATS)
def test_members_are_described_by_known_meanings(name: str) -> None:
    members = members_of(find(name))
    assert {"operation", "after"} <= {each.meaning for each in members.values()} <= set(MEANINGS)
    assert notes_of(find(name)).startswith(f"{name}: ")


def test_values_of_types_are_those_of_messages() -> None:
    source = find_source("mysql")
    codecs = {name: find(name).codec(source) for name in ("canal-json", "oms-default", "dts-avro", "drs-avro")}
    found = {each.type: each for each in rendered(source, codecs)}
    assert len(found) == len(source.types)
    decimal = found["decimal(1,0)"] if "decimal(1,0)" in found else next(e for t, e in found.items() if "decimal" in t)
    assert decimal.values[-1] == "NULL"
    assert [texts[-1] for texts in decimal.texts.values() if texts] == ["null"] * 4
    (tiny,) = [each for each in found.values() if each.type == "tinyint"]
    assert tiny.values[:2] == ("-128", "-1")
    assert {name: texts[0] for name, texts in tiny.texts.items() if texts} == {
        "canal-json": '"-128"',
        "oms-default": "-128",
        "dts-avro": '{"precision":1,"value":"-128"}',
        "drs-avro": '{"precision":1,"value":"-128"}',
    }


def test_options_that_take_the_envelope_away() -> None:
    """Without schemas `payload.after` is `after`, and unwrapped the value is the row: both are read as with schemas."""
    system = find_source("mysql")
    formats = [
        f"debezium-json{option}" for option in ("", ",value.converter.schemas.enable=false", ",transforms=unwrap")
    ]
    for type in rendered(system, {text: open_codec(text, system) for text in formats}):
        assert type.texts[formats[0]] == type.texts[formats[1]] == type.texts[formats[2]], type.type
    (event,) = compare("compare", formats[:2], source="mysql", kinds=["delete"]).events
    found = compare("compare", formats[:2], source="mysql", kinds=["delete"])
    by_meaning = [found.by_meaning(format, event.messages[format][0]) for format in formats[:2]]
    assert by_meaning[0].keys() - by_meaning[1].keys() == {"structure"}
    assert by_meaning[0]["before"][0][1] == by_meaning[1]["before"][0][1]


def test_types_without_a_rendering_are_told_apart() -> None:
    source = find_source("postgresql")
    found = list(rendered(source, {"drs-json": find("drs-json").codec(source)}))
    supported = [each.texts["drs-json"] is not None for each in found]
    assert any(supported)
    assert not all(supported)


def test_side_by_side(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("compare", "-f", "canal-json", "-f", "dts-canal-json", "--kind", "update")
    monkeypatch.setenv("COLUMNS", "110")
    wide = command(*arguments, status=0).out
    assert "\x1b" not in wide
    line = next(line for line in wide.splitlines() if line.startswith("before"))
    assert line.startswith('before                 old [{"paid":"0"}]    ')
    assert line.endswith('≠ old [{"id":"2","customer":"Grace",')
    assert "operation              type" in wide
    monkeypatch.setenv("COLUMNS", "60")
    narrow = command(*arguments, "--base", "dts-canal-json", status=0).out
    assert 'canal-json      ≠ old [{"paid":"0"}]\n' in narrow
    assert max(map(len, narrow.splitlines())) <= 60
    document = json.loads(command(*arguments, "--json", status=0).out)
    assert [sorted(event["messages"]) for event in document["events"]] == [["canal-json", "dts-canal-json"]] * 3
    assert command("compare", "-f", "canal-json", "--base", "drs-json", status=2).err.startswith(
        "cdcsim: --base drs-json"
    )


@pytest.mark.parametrize("width", [80, 120])
def test_without_options_it_is_a_summary_of_one_screen(
    command: Command, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = command("compare", status=0).out.splitlines()
    comparison = compare("compare")
    assert max(map(len, lines)) <= width
    assert len(lines) <= len(comparison.formats) + 8
    words = {line.split()[0]: line.split()[1:] for line in lines if line.partition(" ")[0] in comparison.formats}
    assert list(words) == list(comparison.formats)
    kinds = lines[lines.index("") + 1].split()[:6]
    assert kinds == ["read", "insert", "update", "delete", "heartbeat", "ddl"]
    assert words["canal-json"] == ["INSERT", "INSERT", "UPDATE", "DELETE", "–", "ALTER"]
    assert words["dts-shareplex-json"][1:4] == ["ins", "upd", "del"]
    assert words["debezium-json"][:6] == ["r", "c", "u", "d×2", "–", "sent"]
    assert any("differs in update" in line for line in lines) == (width == 120)


def test_a_long_label_has_a_line_of_its_own(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    lines = command("compare", "-f", "canal-json", "-f", "debezium-json", "--kind", "delete").out.splitlines()
    at = lines.index("header __debezium.context.connectorLogicalName")
    assert re.fullmatch(r" {21}  — {44,} *≠ dbserver1", lines[at + 1])


def test_values_break_between_members(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    lines = command(
        "compare", "-f", "canal-json", "-f", "dts-canal-json", "--kind", "insert", status=0
    ).out.splitlines()
    begin = next(i for i, line in enumerate(lines) if "data [{" in line)
    assert lines[begin].endswith(",")
    assert lines[begin + 1].strip().startswith('"')


def test_the_ddl_of_a_snapshot_is_an_event_of_its_own() -> None:
    """DRS sends INIT_DDL; where no format sends any, there is no event."""
    events = compare("compare", ["canal-json", "drs-json"], source="mysql").events
    assert [(event.name, event.kinds, [len(sent) for sent in event.messages.values()]) for event in events[:2]] == [
        ("DDL before the snapshot", ("ddl",), [0, 1]),
        ("snapshot row of shop.orders", ("read",), [1, 1]),
    ]
    assert events[0].change.startswith("CREATE TABLE orders (")
    assert [event.step for event in events[2:5]] == ["insert", "update of one column", "update of the key"]
    assert compare("compare", ["canal-json"], source="mysql").events[0].kinds == ("read",)


def test_messages_of_the_same_change_stand_side_by_side() -> None:
    """One message of several rows beside the first of several messages, and what follows beside what follows."""
    comparison = compare("orders", ["canal-json", "dts-avro"], limit=8)

    def said(row: dict[str, Any], format: str, *members: str) -> str:
        return ".".join(json.loads(text) for name, text in row[format].members if name in members)

    alone = 0
    for event in comparison.events:
        rows = event.side_by_side(comparison.formats)
        for row in rows:
            if "canal-json" not in row:
                alone += 1
                continue
            canal = said(row, "canal-json", "database", "table"), said(row, "canal-json", "type")
            assert canal == (said(row, "dts-avro", "objectName"), said(row, "dts-avro", "operation"))
        for format in comparison.formats:
            assert [row[format] for row in rows if format in row] == event.messages[format]
    assert alone == 4  # of 8 rows


def test_ddl_and_heartbeats_are_events_of_their_own(tmp_path: Path) -> None:
    """Of a stream in which each turn changes rows, `--kind ddl` shows the statement without these rows."""
    scenario = tmp_path / "busy.yaml"
    scenario.write_text(
        "heartbeat: 1s\n"
        "tables: {users: {key: id, columns: {id: {type: int64, values: sequence}, n: int32}, rows: 10}}\n"
        "schema_changes: [{at: 3, table: users, add_column: {name: m, column: int32}}]\n"
    )
    for kind, name in (("ddl", "ALTER TABLE users ADD COLUMN m int"), ("heartbeat", "heartbeat")):
        formats = ["canal-json", "oms-default,heartbeat=on"]
        (event,) = compare(str(scenario), formats, kinds=[kind], limit=6, settings=["transactions={1: 1}"]).events
        assert (event.name, event.kinds) == (name, (kind,))
        assert [len(messages) for messages in event.messages.values()] == [kind == "ddl", 1]
    whole = compare(str(scenario), ["canal-json"], limit=6).events
    assert [event.name for event in whole if event.kinds in (("ddl",), ("heartbeat",))] == [
        "heartbeat", "ALTER TABLE users ADD COLUMN m int",
    ]  # fmt: skip
    assert sum(len(event.kinds) for event in whole) == len(whole)


def test_nothing_to_compare_is_said(command: Command) -> None:
    done = command("compare", "crud", "-f", "canal-json", "--kind", "ddl", status=0)
    assert (done.out, done.err) == (
        "",
        "scenarios/crud.yaml: there is no event of the kind ddl in this part: give a larger --limit, or --start-at.\n",
    )


def test_a_script_is_compared_up_to_its_error(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "twice.sql"
    file.write_text("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY);\nINSERT INTO d.t VALUES (1);\n" * 2)
    done = command("compare", file, "-f", "canal-json", status=2)
    assert "── INSERT d.t ─" in done.out
    assert f"{file}:3: ERROR 1007" in done.err


@pytest.mark.parametrize(
    ("name", "text", "sources"),
    [
        (
            "f.sql",
            "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY);",
            ["mariadb", "mysql", "oceanbase-mysql"],
        ),
        (
            "f.yaml",
            "source: oracle\ntables: {t: {columns: {ID: number(5)}, key: ID}}\n"
            "script: [{transaction: [{insert: t, rows: [{ID: 1}]}]}]",
            ["oracle-19c"],
        ),
    ],
)
def test_a_page_has_the_sources_that_the_scenario_can_run_on(
    tmp_path: Path, command: Command, name: str, text: str, sources: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    done = command("compare", tmp_path / name, "-f", "dts-avro", "-f", "oms-default", "--html", tmp_path / "c.html")
    assert [line.removesuffix(" …") for line in done.err.splitlines()[:-1]] == sources


def test_a_page_leaves_out_sources_that_cannot_have_the_scenario(command: Command, tmp_path: Path) -> None:
    """MongoDB has no decimals of 38 digits; asked for by name, it is an error."""
    page, scenario = tmp_path / "wide.html", tmp_path / "wide.yaml"
    scenario.write_text(
        'tables: {t: {columns: {id: int32, n: "decimal(38,10)"}, key: id}}\n'
        "script: [{transaction: [{insert: t, rows: [{id: 1}]}]}]"
    )
    done = command("compare", scenario, "-f", "dts-avro", "--html", page, status=0)
    assert re.search("mongodb.* is left out: .*: a decimal of MongoDB has 1 to 34 digits", done.err)
    assert '"mysql"' in page.read_text()
    done = command("compare", scenario, "-f", "dts-avro", "--source", "mongodb", "--html", page, status=2)
    assert "a decimal of MongoDB has 1 to 34 digits" in done.err


def test_tour_runs_on_every_source_in_every_format() -> None:
    for format in FORMATS:
        for source in find(format).sources:
            kinds = {message.kind for message in simulator.messages("tour", format, source=source, snapshot=True)}
            assert kinds & set(ROW_KINDS), (format, source)


@pytest.mark.parametrize(
    ("format", "renewed"),
    [
        ("canal-json", {"id", "ts"}),
        (
            "debezium-json,value.converter.schemas.enable=false",
            {"ts_ms", "ts_us", "ts_ns", "header __debezium.context.runId"},
        ),
        ("maxwell-json", set()),
    ],
)
def test_a_message_beside_its_redelivery(format: str, renewed: set[str]) -> None:
    """Each transaction is the first that comes again, so Canal's id is 1."""
    found = compare("tour", (format,), source="mysql", kinds=("insert", "update", "delete"), redelivered=True)
    assert found.formats == (format, f"{format} again")
    differing = set[str]()
    for event in found.events:
        first, again = (event.messages[name] for name in found.formats)
        for one, other in zip(first, again, strict=True):
            pairs = zip((*one.address, *one.members), (*other.address, *other.members), strict=True)
            differing |= {name for (name, old), (_, new) in pairs if old != new}
            assert dict(other.members).get("id", "1") == "1"
    assert differing == renewed


def test_redelivery_on_the_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = command("compare", "-f", "canal-json", "--redelivered", "--kind", "update").out
    assert re.search(r"canal-json +canal-json again *\n", shown)
    assert re.search(r"sequence +id 101 +≠ id 1 *\n", shown)
    assert (
        "--redelivered: a page does not show it"
        in command("compare", "--redelivered", "--html", "x.html", status=2).err
    )
