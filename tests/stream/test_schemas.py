"""A table's schema: `schema` of a scenario and of its tables, what it is on each source, and that formats print it."""

from __future__ import annotations

import json

import pytest

from simulator.errors import ScenarioError
from simulator.library import messages
from simulator.sources import find
from simulator.stream.scenario.loader import read
from simulator.stream.scenario.resolve import resolve

TABLES = """\
schema: sales
tables:
  orders: {key: id, columns: {id: {type: int64, values: sequence}, v: {type: int32, values: version}}, rows: 9}
  items: {schema: Stock, key: id, columns: {id: {type: int64, values: sequence}}, rows: 9, mix: {insert: 1}}
schema_changes:
  - {at: 0, table: orders, create_index: {name: ix, columns: v}}
  - {at: 0, table: orders, drop_index: {name: ix}}
"""


@pytest.mark.parametrize(
    ("source", "ids", "drop_index"),
    [
        ("postgresql", ["shop.sales.orders", "shop.stock.items"], "DROP INDEX sales.ix"),
        ("gaussdb", ["shop.sales.orders", "shop.stock.items"], "DROP INDEX sales.ix"),
        ("sqlserver", ["shop.sales.orders", "shop.Stock.items"], "DROP INDEX ix ON sales.orders"),
        ("oracle", ["ORCL.SALES.ORDERS", "ORCL.STOCK.ITEMS"], "DROP INDEX IX"),
        ("mysql", ["shop.orders", "shop.items"], "DROP INDEX ix ON orders"),
        ("mongodb", ["shop.orders", "shop.items"], ""),
    ],
)
def test_the_schema_of_a_table_on_each_source(source: str, ids: list[str], drop_index: str) -> None:
    scenario = resolve(read(TABLES, "x.yaml"), find(source))
    assert [str(table.id) for table in scenario.first_tables] == ids
    assert scenario.changes[1].applied.sql == drop_index


@pytest.mark.parametrize("text", ["schema: sales\ntables: {t: {", "tables: {t: {schema: sales, "])
def test_a_source_without_schemas_has_none(text: str) -> None:
    spec = read(f"source: mysql\n{text}columns: {{id: int}}}}}}\nscript: []\n", "x.yaml")
    with pytest.raises(ScenarioError, match="schema: MySQL has no schemas inside of databases; use database"):
        resolve(spec, find("mysql"))


@pytest.mark.parametrize("source", ["postgresql", "oracle"])
def test_a_database_is_dropped_with_the_tables_of_its_schemas(source: str) -> None:
    """Of Oracle a database is a schema, so a table in another one stays."""
    script = (
        "database: app\n"
        "tables: {t: {schema: sales, key: id, columns: {id: int32}}}\n"
        "script: [{ddl: {drop_database: app}}, {transaction: [{insert: t, rows: [{id: 1}]}]}]\n"
    )
    if source == "oracle":
        assert len(list(messages(script, "cloudcanal-json", source=source))) == 1
    else:
        with pytest.raises(ScenarioError, match="the table 't' is not there"):
            list(messages(script, "cloudcanal-json", source=source))


@pytest.mark.parametrize(
    ("format", "source"),
    [
        *((f"cloudcanal-{form}", source) for form in ("json", "debezium") for source in ("postgresql", "sqlserver")),
        *(("drs-json,topic_policy=schema", source) for source in ("postgresql", "gaussdb", "sqlserver", "oracle")),
        ("dts-canal-json,table_name=schema", "postgresql"),
        ("dts-shareplex-json", "sqlserver"),
        *((f"oms-{form}", "oracle") for form in ("default", "dataworks", "canal-json", "shareplex")),
    ],
)
def test_formats_print_the_schema(format: str, source: str) -> None:
    found = [(m.topic, json.loads(m.value or b"")) for m in messages(TABLES, format, source=source, limit=4)]
    rows = [topic + json.dumps(value).lower() for topic, value in found if b"INDEX" not in json.dumps(value).encode()]
    assert rows
    assert all("sales" in text or "stock" in text for text in rows)
    if "topic_policy" in format:
        assert {topic.lower().removeprefix("shop-") for topic, _ in found} == {"sales", "stock"}
