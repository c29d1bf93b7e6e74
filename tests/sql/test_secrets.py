"""Passwords in statements: no error prints them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from command import Command
from each import each

from simulator.sql.parse.secrets import masked

STATEMENTS: Final = [
    ("create user 'x'@'%' identified by '§'",),
    ("create user x identified with mysql_native_password by '§' replace '§2'",),
    ('alter user x identified by "§" account lock',),
    ("grant all on *.* to z identified by password '§'",),
    ("create user x identified via ed25519 using password('§') or unix_socket",),
    ("set password for 'x'@'%' = '§'",),
    ("set password for x@localhost to '§'",),
    ("set password = password('§')",),
    ("change master to master_host='h', master_password='§'",),
    ("create server s foreign data wrapper mysql options (user 'r', password '§', host 'h')",),
    ("create table f(a int) engine=federated connection='mysql://u:§@h:1/d/t'",),
    ("create role x login encrypted password '§'",),
    ("alter role x password E'§'",),
    ("create user mapping for x server s options (user 'a', password '§')",),
    ("create subscription s connection 'host=h password=§' publication p",),
    ("select dblink_connect('postgresql://u:§@host/db')",),
    ("CREATE USER x IDENTIFIED BY '§",),
]


@each(STATEMENTS)
def test_passwords_are_masked(statement: str) -> None:
    for secret in ("hunter2", "longer-secret#1", "it''s", "user"):
        text = statement.replace("§", secret)
        assert masked(text, text) == statement.replace("§2", "***").replace("§", "***")


@each([("insert into t values('a', 'b')",), ("select replace('abc', 'b', 'c')",), ("replace into t values('x')",)])
def test_other_texts_are_not(statement: str) -> None:
    assert masked(statement, statement) == statement


def test_a_server_cuts_what_it_cites() -> None:
    statement = "alter user x identified by 'hunter2secret' bogus"
    assert masked("syntax to use near 'by 'hunt' at line 1", statement) == "syntax to use near 'by '***' at line 1"
    assert masked('"alter user x identified by \'hunter2se..."', statement) == '"alter user x identified by \'***..."'


SCRIPT: Final = """create database d; use d; create table t(a int);
create user y identified by 'hunter2secret' bogus;
alter user y identified by 'hunter2secret' bogus;
change master to master_password='hunter2secret' bogus;
set password for y = 'hunter2secret';
create user y identified by 'hunter2secret';
insert into t values(1);
"""


@pytest.mark.parametrize("format", ["canal-json", "dts-canal-json", "debezium-json", "maxwell-json"])
def test_no_output_has_them(tmp_path: Path, command: Command, format: str) -> None:
    file = tmp_path / "s.sql"
    file.write_text(SCRIPT)
    done = command("run", file, "-f", format, "--force", "--envelope", status=None)
    assert "***" in done.err
    assert "hunter" not in done.out + done.err
