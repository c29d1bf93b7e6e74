"""Tables of consumers in real databases, read by their drivers: right rows, and a row that is wrong."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pymysql
import pytest

import simulator
from simulator.truth.verify.tables.comparer import WrongRow

COLUMNS = (
    "id bigint PRIMARY KEY, name varchar(80), email varchar(120), city varchar(80), age int, balance decimal(12,2), "
    "status varchar(20), score int, created_at {time}, updated_at {time}"
)
SETTINGS = {"tables.users.rows": 200}
LIMIT = 400


@pytest.fixture
def simulation() -> simulator.Simulation:
    return simulator.simulate("crud", "canal-json", limit=LIMIT, snapshot=True, settings=SETTINGS, typed=True)


@pytest.fixture
def database() -> str:
    return f"consumer_{uuid.uuid4().hex}"


@pytest.fixture
def in_mariadb(mariadb: str, database: str) -> Iterator[tuple[str, Any]]:
    host, _, port = mariadb.rpartition("@")[2].partition(":")
    with closing(pymysql.connect(host=host, port=int(port), user="root", autocommit=True)) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
        cursor.execute(f"USE {database}")
        yield f"{mariadb}/{database}", cursor
        cursor.execute(f"DROP DATABASE {database}")


@pytest.fixture
def in_postgresql(postgresql: str, database: str) -> Iterator[tuple[str, Any]]:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    with psycopg.connect(f"{postgresql}/{database}", autocommit=True) as connection:
        yield f"{postgresql}/{database}", connection.cursor()
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {database}".encode())


@pytest.mark.broker("mysql")
@pytest.mark.parametrize(("kind", "time"), [("in_mariadb", "datetime(6)"), ("in_postgresql", "timestamp")])
def test_a_table_in_a_database(
    kind: str, time: str, simulation: simulator.Simulation, request: pytest.FixtureRequest
) -> None:
    url, cursor = request.getfixturevalue(kind)
    rows = simulation.expected["app.users"]
    names = ", ".join(rows[0])
    cursor.execute(f"CREATE TABLE users ({COLUMNS.format(time=time)})")
    cursor.executemany(
        f"INSERT INTO users ({names}) VALUES ({', '.join(['%s'] * len(rows[0]))})",
        [tuple(row.values()) for row in rows],
    )
    (verdict,) = simulation.verify(url)
    assert verdict.ok, str(verdict)
    assert verdict.found == len(rows) > 150
    with pytest.raises(simulator.UsageError, match="table 'people' cannot be read"):
        simulation.verify(f"{url}#people")
    cursor.execute("UPDATE users SET balance = balance + 1 WHERE id = %s", (rows[0]["id"],))
    (verdict,) = simulation.verify(url)
    assert verdict.counts == {WrongRow.DIFFERENT: 1}
    assert "balance is " in str(verdict)
