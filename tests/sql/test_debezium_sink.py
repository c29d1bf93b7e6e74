"""Debezium's JDBC sink, the released one, reads `debezium-json` into PostgreSQL, and its tables are the expected ones.

CDCSIM_SINK=all has all scenarios on all sources, and the boundary values of all types.
"""

from __future__ import annotations

import os
import uuid
import zlib
from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest
from debezium_sink import SINK, written
from jvm import Reader

import simulator
from simulator.errors import UsageError
from simulator.library import expected_of
from simulator.model import Message
from simulator.truth.verify.tables.comparer import Comparer, TableVerdict
from simulator.truth.verify.tables.consumed import open_table

pytestmark = [pytest.mark.jvm, pytest.mark.broker("postgresql")]

ALL: Final = os.environ.get("CDCSIM_SINK") == "all"
# Small tables, most rows of which change.
ORDERS: Final = {
    "tables.customers.rows": 60, "tables.coupons.rows": 100, "lifecycles.product.slots": 40,
    "lifecycles.order.slots": 100, "schema_changes.0.at": 300, "schema_changes.1.at": 350,
}  # fmt: skip
BANK: Final = {
    "tables.customers.rows": 100, "tables.accounts.rows": 120, "tables.cards.rows": 90,
    "lifecycles.document.slots": 40, "lifecycles.transfer.slots": 40, "lifecycles.payroll.slots": 2,
}  # fmt: skip
USERS: Final = {"tables.users.rows": 100}
SOURCES: Final = ("mysql", "mariadb", "postgresql", "sqlserver", "oracle")
# Without these Debezium gives numbers above 2^63 a sign, and leaves out large objects.
OPTIONS: Final = {
    "mysql": ",bigint.unsigned.handling.mode=precise",
    "mariadb": ",bigint.unsigned.handling.mode=precise",
    "oracle": ",lob.enabled=true",
}


@pytest.fixture(scope="session")
def sink() -> Iterator[Reader]:
    with Reader("JdbcSink.java", SINK, "-Duser.timezone=UTC") as reader:
        yield reader


@pytest.fixture
def database(postgresql: str) -> Iterator[str]:
    """The URL of an empty database."""
    name = f"sink_{uuid.uuid4().hex}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield f"{postgresql}/{name}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def wrong(verdicts: list[TableVerdict]) -> str:
    return "\n".join(str(verdict) for verdict in verdicts if not verdict.ok)


def simulation(scenario: str, source: str, settings: dict[str, Any], turns: int) -> simulator.Simulation:
    format = "debezium-json" + OPTIONS.get(source, "")
    return simulator.simulate(scenario, format, source=source, settings=settings, turns=turns, snapshot=True)


CASES: Final = [
    *(("tour", source, {}, 100) for source in SOURCES),
    *(("orders", source, ORDERS, 400) for source in (SOURCES if ALL else ("mysql", "oracle"))),
    *(("bank", source, BANK, 400) for source in (SOURCES if ALL else ("postgresql",))),
]


@pytest.mark.parametrize(("scenario", "source", "settings", "turns"), CASES)
def test_tables_are_as_expected(
    sink: Reader, database: str, scenario: str, source: str, settings: dict[str, Any], turns: int
) -> None:
    """Snapshot, inserts, updates, updates of keys, deletes with their tombstones, columns that are added."""
    run = simulation(scenario, source, settings, turns)
    assert written(sink, database, run.messages) == []
    verdicts = run.verify(database)
    assert not wrong(verdicts)
    assert sum(verdict.found for verdict in verdicts) == sum(map(len, run.expected.values()))


@pytest.mark.parametrize("scenario", ["at-least-once", "failover"])
def test_it_survives_redelivery(sink: Reader, database: str, scenario: str) -> None:
    """Partitions one after the other: rows that come again, behind those that came from other partitions before."""
    run = simulator.simulate(scenario, "debezium-json", settings=USERS, turns=1_500, snapshot=True)
    assert len(run.messages) > len(run.changes) * 1.01

    def partition(message: Message) -> int:  # any hash will do that keeps a key in one of them
        return zlib.crc32(message.key or b"") % 3

    arrived = sorted(run.messages, key=lambda message: (message.order.phase, partition(message)))
    assert written(sink, database, arrived) == []
    assert not wrong(run.verify(database))


# Types that do not arrive as they are, by the reason.
NO_ZERO_BYTES: Final = "PostgreSQL's texts have no U+0000"
DIGITS_38: Final = "the sink makes a column of at most 38 digits"
NO_DURATIONS: Final = "the sink's times are below 24 hours"
NO_GEOMETRY: Final = "PostgreSQL without PostGIS has no type for it"
NO_BITS: Final = "numbers of MySQL are texts of bits in PostgreSQL"
NO_ARRAYS: Final = "the sink writes arrays as JSON, or not at all"
ZONES: Final = "Debezium, or the sink, gives the time in UTC"
MICROSECONDS: Final = "PostgreSQL has microseconds"
DEBEZIUM: Final = "Debezium's messages lose it, or do not have the column (the table of what formats lose)"
CONVERTER: Final = "JsonConverter reads Infinity and NaN, which it wrote as texts, as 0"
MYSQL_LIMITS: Final = {
    NO_ZERO_BYTES: "varchar_60 varchar_60_character_set_latin1 text mediumtext longtext",
    DIGITS_38: "decimal_65_30",
    NO_DURATIONS: "time time_6",
    NO_BITS: "bit_8 bit_64",
    NO_GEOMETRY: "geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection",
    DEBEZIUM: "float date datetime datetime_3 datetime_6 timestamp timestamp_6 year",
}
LIMITS: Final[dict[str, dict[str, str]]] = {
    "mysql": MYSQL_LIMITS,
    "mariadb": MYSQL_LIMITS,
    "sqlserver": {
        NO_ZERO_BYTES: "char_20 varchar_20 text nchar_20 nvarchar_20 nvarchar_max ntext",
        MICROSECONDS: "time datetime2",
        ZONES: "datetimeoffset datetimeoffset_3",
        DEBEZIUM: "sql_variant hierarchyid geometry geography",
    },
    "oracle": {
        DEBEZIUM: "float interval_year_to_month interval_year_4_to_month interval_day_to_second"
        " interval_day_9_to_second_9 long long_raw bfile urowid xmltype",
        "the sink's column of NUMBER without digits is of doubles": "number",
        CONVERTER: "binary_float binary_double",
        MICROSECONDS: "timestamp_9",
        ZONES: "timestamp_with_time_zone timestamp_9_with_time_zone",
    },
    "postgresql": {
        CONVERTER: "real double_precision",
        NO_DURATIONS: "time_without_time_zone time_without_time_zone_3",
        NO_GEOMETRY: "point",
        ZONES: "time_with_time_zone time_with_time_zone_3",
        "the sink's column of numeric without digits is of doubles, or has no zeros at the end": "numeric",
        "the sink fills bits up, writes JSON for hstore, and cuts texts with blanks in tsvector": "bit_varying"
        " bit_varying_3 bit_varying_20 hstore tsvector",
        "the sink makes no table for it": "ltree",
        DEBEZIUM: "date timestamp_without_time_zone timestamp_without_time_zone_3 timestamp_with_time_zone interval"
        " interval_3 line lseg box path polygon circle int4multirange int8multirange nummultirange tsmultirange"
        " tstzmultirange datemultirange tsquery pg_lsn txid_snapshot",
        NO_ARRAYS: "boolean_2 smallint_2 integer_2 bigint_2 oid_2 numeric_2 money_2 real_2 double_precision_2"
        " character_2 character_varying_2 character_3_varying text_2 bytea_2 date_2 time_without_time_zone_2"
        " time_3_without_time_zone time_with_time_zone_2 time_3_with_time_zone timestamp_without_time_zone_2"
        " timestamp_3_without_time_zone timestamp_with_time_zone_2 timestamp_3_with_time_zone interval_2 bit_2"
        " bit_varying_2 bit_3_varying json_2 jsonb_2 xml_2 uuid_2 point_2 box_2 inet_2 cidr_2 macaddr_2 int4range_2",
    },
}


@pytest.mark.parametrize("source", SOURCES if ALL else ("mysql",))
def test_boundary_values(sink: Reader, database: str, source: str) -> None:
    """All types but the named ones; in the long run each of these is tried, too, and is not as expected."""
    run = simulation("boundary", source, {}, 300)
    limits = {f"type_{name}" for names in LIMITS[source].values() for name in names.split()}
    by_table: dict[str, list[Any]] = {}
    for message in run.messages:
        by_table.setdefault(message.topic.rpartition(".")[2].lower(), []).append(message)
    good = [message for table, messages in by_table.items() if table not in limits for message in messages]
    assert written(sink, database, good) == []
    failed = {table for table in limits & by_table.keys() if ALL and written(sink, database, by_table[table])}
    checked, not_as_expected = set(), set(failed)
    for table in expected_of(run) or ():
        name = table.id.name.lower()
        if name in failed or (name in limits and not ALL):
            continue
        checked.add(name)
        try:
            verdict = Comparer(table, open_table(database, table.id.name), run.job.stream.source).compare()
        except UsageError:  # no table, or no column
            not_as_expected.add(name)
            continue
        if not verdict.ok:
            not_as_expected.add(name)
            assert name in limits, str(verdict)
    assert len(checked) > 20
    assert not_as_expected == (limits if ALL else set())
