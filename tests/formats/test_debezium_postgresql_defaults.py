"""Defaults of PostgreSQL in schemas, as Debezium's engine 3.6.3 wrote them of a table with these (captured)."""

from __future__ import annotations

from typing import Final

import pytest

from simulator import sources
from simulator.formats.debezium.connectors.postgresql import PostgresqlConnector
from simulator.formats.debezium.options import JsonOptions
from simulator.model import Column

# Types, expressions as the server prints them, and defaults; "": none.
DEFAULTS: Final = [
    ("integer", "(1 + 2)", ""),
    ("text", "('a'::text || 'b'::text)", '"a"'),
    ("uuid", "gen_random_uuid()", '"00000000-0000-0000-0000-000000000000"'),
    ("interval", "make_interval(days => 1)", "0"),
    ("jsonb", "jsonb_build_object('a', 1)", '"{}"'),
    ("date", "('2020-01-01'::date + 1)", "18262"),
    ("numeric(6,2)", "round(1.55, 1)", '"AA=="'),
    ("numeric", "round(1.55, 1)", ""),
    ("character(3)", "lower('AB'::text)", '""'),
    ("bit varying", "(repeat('1'::text, 2))::bit varying", '""'),
    ("bit(3)", "'101'::\"bit\"", '"BQ=="'),
    ("money", "3.5", ""),
    ("boolean", "(random() > (2)::double precision)", "false"),
    ("text", "CURRENT_USER", '"CURRENT_USER"'),
    ("timestamp", "LOCALTIMESTAMP", "0"),
    ("timestamp", "(now() AT TIME ZONE 'utc'::text)", "0"),
    ("bigint", "('7'::bigint + 1)", "7"),
    ("double precision", "(1.5)::double precision", ""),
    ("real", "sqrt((4)::double precision)", "0.0"),
    ("xml", "xmlcomment('a'::text)", '""'),
    ("macaddr", "'08:00:2b:01:02:03'::macaddr", ""),
    ("integer", "(('12'::text))::integer", "12"),
    ("timestamp", "'2020-01-01'::date", "1577836800000000"),
    ("text", "COALESCE(NULL::text, 'x'::text)", '""'),
    ("text", "\nCASE\n    WHEN true THEN 'p'::text\n    ELSE 'q'::text\nEND", '"p"'),
    ("oid", "5", ""),
    ("text", "5", '"5"'),
    ("date", "CURRENT_DATE", "0"),
    ("timetz", "CURRENT_TIME", ""),
    ("inet", "inet_client_addr()", ""),
    ("text", "NULL::text", ""),
    ("bigint", "nextval('a1.sq'::regclass)", "0"),
    ("real", "'-1.5'::numeric", "-1.5"),
    ("boolean", "true", "true"),
    ("bytea", "'\\x01'::bytea", ""),
    ("numeric(8,3)", "12.5", '"MNQ="'),
    ("interval", "'01:00:00'::interval", "3600000000"),
]


@pytest.mark.parametrize(("type", "expression", "default"), DEFAULTS)
def test_defaults(type: str, expression: str, default: str) -> None:
    source = sources.find("postgresql-16")
    connector = PostgresqlConnector(JsonOptions(), source, numeric=False)
    column = Column("c", source.parse_type(type), default=expression)
    assert connector.convert(column, snapshot=False).schema.default == default
