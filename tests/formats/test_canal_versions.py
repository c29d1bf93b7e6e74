"""What differs between versions of Canal, from one script: each line of the table in `simulator.formats.canal.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from simulator import sources
from simulator.errors import UnsupportedType
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.sql.script import script_of

VERSIONS: Final = ("1.1.4", "1.1.5", "1.1.6", "1.1.7", "1.1.8")
HEAD: Final = "create database d; use d;\n"


def raw(text: str, version: str, source: str = "mysql-5.7") -> list[bytes]:
    script = script_of(HEAD + text, "s.sql")
    system = sources.find(source)
    job = Job(script, system, f"canal-json,version={version}")
    return [message.value or b"" for message in job.messages(Limits())][1:]


def sent(text: str, version: str, source: str = "mysql-5.7") -> list[dict[str, Any]]:
    return [json.loads(message) for message in raw(text, version, source)]


@pytest.mark.parametrize("version", VERSIONS)
def test_members_and_codes(version: str) -> None:
    text = "create table t(id int primary key, v varchar(5), x text, b blob, s set('x'), y tinyint(1), z bool);"
    message = sent(text + "insert into t values(1,null,null,null,null,1,1);", version)[-1]
    assert ("gtid" in message) == (version >= "1.1.7")
    old = version <= "1.1.6"
    codes = {"id": 4, "v": 12, "x": -4 if old else 2005, "b": -4 if old else 2004, "s": -2 if old else 2004}
    assert message["sqlType"] == codes | {"y": -7 if version == "1.1.4" else -6, "z": -6}


@pytest.mark.parametrize("version", VERSIONS)
def test_escapes(version: str) -> None:
    # \x0b, DEL, U+2028 and a slash
    text = "create table t(v varchar(9)); insert into t values('\v\x7f\u2028/');"
    value = raw(text, version)[-1].partition(b'"v":"')[2].partition(b'"')[0]
    first = {"1.1.4": b"\\u000B", "1.1.5": b"\\u000B", "1.1.6": b"\v"}.get(version, b"\\u000b")
    rest = b"\\u007F\\u2028/" if version <= "1.1.5" else "\x7f\u2028/".encode()
    assert value == first + rest


@pytest.mark.parametrize("version", VERSIONS)
def test_old_of_a_row_that_does_not_change(version: str) -> None:
    """With a minimal image the key is nowhere, and `old` has nothing to say of any row."""
    text = "create table t(id int primary key, v varchar(5)); insert into t values(1,'a');"
    message = sent(text + "set binlog_row_image=minimal; update t set v='b';", version)[-1]
    assert message["data"] == [{"v": "b"}]
    assert message["old"] == (None if version <= "1.1.6" else [{}])
    assert message["pkNames"] is None


@pytest.mark.parametrize("version", VERSIONS)
def test_times(version: str) -> None:
    text = (
        "create table t(a time(1), b time, c time(1), d time, e time(1), f time);"
        "insert into t values('-00:00:00.5','-100:00:00','100:01:02.5','-101:00:00','838:59:58.9','838:59:59');"
    )
    row = sent(text, version)[-1]["data"][0]
    assert row["a"] == ("00:00:00.5" if version <= "1.1.5" else "-00:00:00.5")
    assert row["b"] == ("-00:00:00" if version == "1.1.4" else "-100:00:00")
    assert row["c"] == ("00:01:02.5" if version == "1.1.4" else "100:01:02.5")
    assert [row[name] for name in "def"] == ["-101:00:00", "838:59:58.9", "838:59:59"]


@pytest.mark.parametrize("version", VERSIONS)
def test_documents(version: str) -> None:
    text = 'create table t(j json); insert into t values(\'{"q\\\\"k": "x\\\\u0001\\\\n\\\\t\\\\r\\\\\\\\\\\\""}\');'
    value = sent(text, version)[-1]["data"][0]["j"]
    key = 'q\\"k' if version == "1.1.8" else 'q"k'
    controls = "\x01\n\t\r" if version == "1.1.4" else "\\u0001\\n\\t\\r"
    assert value == f'{{"{key}": "x{controls}\\\\\\""}}'


@pytest.mark.parametrize("version", VERSIONS)
def test_statements(version: str) -> None:
    text = (
        "create table p(id int primary key); create table t(id int, constraint f foreign key(id) references p(id));"
        "alter table t comment 'c'; alter table t drop foreign key f; create view w as select id from t;"
        "alter view w as select id from p; set password for u@localhost='x'; drop database d;"
    )
    types = [(m["type"], m["isDdl"]) for m in sent(text, version)]
    query = ("QUERY", version != "1.1.4")
    expected: list[tuple[str, bool]] = [("CREATE", True), ("CREATE", True)]
    expected += [("ALTER", True)] if version >= "1.1.6" else []
    expected += [("DINDEX" if version == "1.1.8" else "ALTER", True)]
    expected += [query]  # ALTER VIEW of root@localhost
    expected += [query] if version <= "1.1.7" else []
    assert types == [*expected, query]


def test_a_back_quote_in_a_name(tmp_path: Path) -> None:
    """1.1.8 doubles it in names of columns; older versions stop."""
    text = "create table `a``b`(`c``d` int); insert into `a``b` values(1);"
    message = sent(text, "1.1.8")[-1]
    assert (message["table"], message["data"]) == ("a`b", [{"c``d": "1"}])
    with pytest.raises(UnsupportedType, match=r"Canal 1\.1\.7 stops at a row of a table with a back-quote in a name"):
        sent(text, "1.1.7")
