"""Scenarios drafted from the tables of a running server: definitions, and facts about rows that are not copied."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from each import each

from simulator.drafts import servers
from simulator.drafts.scenario import draft
from simulator.drafts.servers import Live
from simulator.errors import UsageError
from simulator.run.job import open_job
from simulator.sql.server.postgresql.connection import Connection
from simulator.sql.server.url import engine_of
from simulator.stream.scenario.loader import read

TABLES = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN short AS varchar(9) NOT NULL;
CREATE SCHEMA sales;
CREATE TABLE people (id int GENERATED ALWAYS AS IDENTITY (START WITH 500) PRIMARY KEY, "Full Name" text, mood mood,
    state short DEFAULT 'new' CHECK (state <> ''), secret varchar(20) UNIQUE,
    twice int GENERATED ALWAYS AS (1 + 1) STORED);
CREATE TABLE sales.orders (id serial PRIMARY KEY, person int NOT NULL REFERENCES people, note text, number text);
CREATE UNIQUE INDEX orders_number ON sales.orders (number);
CREATE TABLE parts (n int, at date) PARTITION BY RANGE (at);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
INSERT INTO people ("Full Name", mood, state, secret) SELECT 'Ada', CASE WHEN n % 4 = 0 THEN 'ok'::mood END,
    CASE WHEN n % 10 = 0 THEN 'old' ELSE 'new' END, 'secret ' || n FROM generate_series(1, 100) n;
"""


@pytest.mark.broker("postgresql")
def test_postgresql(postgresql: str) -> None:
    name = "cdcsim_live_tables"
    admin = Connection(engine_of(postgresql))
    admin.run(f"DROP DATABASE IF EXISTS {name}")
    admin.run(f"CREATE DATABASE {name}")
    try:
        session = Connection(engine_of(postgresql), name)
        session.run(TABLES)
        session.close()
        text = draft(f"{postgresql.rstrip('/')}/{name}")
    finally:
        admin.run(f"DROP DATABASE {name}")
        admin.close()
    spec = read(text, "f").spec
    people, orders = spec.tables["people"], spec.tables["orders"]
    assert (str(spec.source).partition("-")[0], spec.database) == ("postgresql", name)
    assert {column: given.type for column, given in people.columns.items()} == {
        "id": "integer", "Full Name": "text", "mood": "mood enum('sad','ok')", "state": "character varying(9)",
        "secret": "character varying(20)", "twice": "integer",
    }  # fmt: skip
    assert (people.rows, people.key, people.unique) == (100, ["id"], {"people_secret_key": ["secret"]})
    assert "id: {type: integer, values: {sequence: {start: 500}}}" in text
    assert people.columns["mood"].nulls == 0.75
    assert "values: {choices: {new: 90, old: 10}}" in text
    assert (orders.db_schema, orders.rows, orders.unique) == ("sales", 1000, {"orders_number": ["number"]})
    assert "person: {type: integer, nullable: no, values: {references: people}}" in text
    assert [*spec.tables["parts"].columns] == ["n", "at"]
    assert "parts_1" not in text
    assert not re.search("secret [0-9]|Ada", text)
    open_job(text, "debezium-json")


class Server:
    """A MySQL server's answers by what a query begins with; it keeps the queries."""

    source = "mysql-8.0"
    client: Any = type("Client", (), {"Error": RuntimeError})

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers, self.asked, self.is_open = answers, list[str](), True

    def rows(self, sql: str) -> Any:
        self.asked.append(sql)
        answer = next((answer for begin, answer in self.answers.items() if sql.startswith(begin)), None)
        if answer is None:
            raise RuntimeError(1142, "SELECT command denied")
        return answer

    def close(self) -> None:
        self.is_open = False


ORDERS = (
    "CREATE TABLE `orders` (`id` bigint NOT NULL AUTO_INCREMENT, `state` varchar(10) NOT NULL, `paid` datetime, "
    "`note` text, PRIMARY KEY (`id`)) ENGINE=InnoDB AUTO_INCREMENT=7"
)
ANSWERS = {
    "SELECT table_name FROM": (("orders",),),
    "SHOW CREATE TABLE `my shop`.`orders`": (("orders", ORDERS),),
    "SELECT COUNT(*), COUNT(`id`)": ((100_000, 100_000, 100_000, 25_000, 0, 2),),
    "SELECT CAST(`state` AS CHAR), COUNT(*)": (("new", 60_000), ("paid", 40_000)),
    "SELECT MIN(`id`)": ((77,),),
    "SELECT table_rows FROM": ((3_000_000,),),
}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], Server]:
    def serve(answers: dict[str, Any]) -> Server:
        server = Server(answers)
        live = Live(engine_of("mysql://root:hidden@db:3307"), "my shop", server)
        monkeypatch.setattr("simulator.drafts.schema.open_live", lambda url: live)
        return server

    return serve


def test_mysql(served: Callable[[dict[str, Any]], Server]) -> None:
    server = served(ANSWERS)
    text = draft("mysql://root:hidden@db:3307/my%20shop")
    assert "    rows: 3000000\n" in text
    assert "id: {type: bigint, values: {sequence: {start: 77}}}" in text
    assert "state: {type: varchar(10), nullable: no, values: {choices: {new: 60000, paid: 40000}}}" in text
    assert "paid: {type: datetime, nulls: 0.75" in text
    assert "note: {type: text, nulls: 1" in text
    assert 'database: "my shop"' in text or "database: my shop" in text
    assert "hidden" not in text
    assert not server.is_open
    assert all(re.match("SHOW CREATE|SELECT (table_|COUNT|MIN|CAST.* GROUP BY)", sql) for sql in server.asked)
    open_job(text, "canal-json")


@each([
    ("bigint", 1234567890123456789, 1234567890123456789),
    ("bigint", 1 << 62, (1 << 62) - 11_000_000),
    ("bigint unsigned", (1 << 64) - 9, (1 << 62) - 11_000_000),
    ("int", 2147483000, 2147483647 - 11_000_000),
    ("smallint", 32000, None),
    ("bigint", -5, None),
    ("bigint", None, None),
])  # fmt: skip
def test_a_great_least_key(type: str, least: int | None, start: int | None) -> None:
    """Keys begin there if a long run has enough numbers from there on; the scenario runs."""
    answers = {**ANSWERS, "SELECT MIN(`id`)": ((least,),)}
    answers["SHOW CREATE TABLE `my shop`.`orders`"] = (("orders", ORDERS.replace("`id` bigint", f"`id` {type}")),)
    with pytest.MonkeyPatch.context() as patch:
        live = Live(engine_of("mysql://root:hidden@db:3307"), "my shop", Server(answers))
        patch.setattr("simulator.drafts.schema.open_live", lambda url: live)
        text = draft("mysql://root:hidden@db:3307/my%20shop")
    (column,) = re.findall(r"^      id: \{type: .*, values: (.*?)\}$", text, re.MULTILINE)
    assert column == ("sequence" if start is None else f"{{sequence: {{start: {start}}}}}")
    assert (f"The least is {least};" in text) == (start not in (None, least))
    open_job(text, "canal-json")


def test_what_the_server_refuses(served: Callable[[dict[str, Any]], Server]) -> None:
    server = served({begin: answer for begin, answer in ANSWERS.items() if "MIN" not in begin})
    with pytest.raises(UsageError, match=r"^mysql://db:3307/my shop: .*SELECT command denied.*\.$"):
        draft("mysql://root:hidden@db:3307/my%20shop")
    assert not server.is_open


@pytest.mark.parametrize(
    ("url", "error"),
    [
        (
            "oracle://u:hidden@h/x",
            "oracle://: tables are read from mysql, mariadb, postgresql servers; expected mysql://",
        ),
        ("mysql://u:hidden@h:3306", "mysql://h: expected mysql://USER:PASSWORD@HOST:PORT/DATABASE."),
        ("postgresql://u:hidden@h", "postgresql://h: expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE."),
        ("mysql://u:hidden@h/a/b", "mysql://h: expected"),
        ("mysql://u:hidden@h:x/a", "mysql://h: the port is no number"),
        ("mysql://u:hid[den@h/a", "mysql://: expected"),
    ],
)
def test_wrong_urls(url: str, error: str) -> None:
    with pytest.raises(UsageError) as raised:
        servers.open_live(url)
    assert str(raised.value).startswith(error)
    assert "hidden" not in str(raised.value)


def test_a_server_says_itself_what_it_is() -> None:
    with pytest.raises(UsageError, match="--source is about a file"):
        draft("mysql://u@h/a", "oracle")
