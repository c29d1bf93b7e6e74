"""The verdict on a consumer's tables: right ones of every form pass, wrong ones are named with their cause."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from command import Command
from each import each

import simulator
from simulator.errors import MissingPackage
from simulator.pytest_plugin import Cdc
from simulator.truth.verify.tables.comparer import TableVerdict, WrongRow
from simulator.truth.verify.tables.documents import document

Rows = dict[str, list[dict[str, Any]]]
AT = 5_000


def one(verdicts: list[TableVerdict]) -> TableVerdict:
    (verdict,) = verdicts
    return verdict


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of orders before a turn, in each form."""
    from simulator.run.job import open_job
    from simulator.truth.expected import write_expected

    folder = tmp_path_factory.mktemp("orders")
    stream = open_job("orders", "canal-json").stream
    for form in ("parquet", "csv", "jsonl"):
        write_expected(stream, AT, folder / form, form)
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_right_files_are_right(form: str, orders: Path) -> None:
    verdicts = simulator.verify_tables("orders", orders / form, at=AT)
    assert all(verdict.ok for verdict in verdicts), "\n".join(map(str, verdicts))
    assert sum(verdict.found for verdict in verdicts) > 40_000


@pytest.mark.parametrize(
    ("source", "form"),
    [("mysql", "parquet"), ("mysql", "jsonl"), ("oracle", "jsonl"), ("postgresql", "csv"), ("sqlserver", "jsonl"),
     ("mongodb", "parquet")],
)  # fmt: skip
def test_every_type_is_read_back(source: str, form: str, tmp_path: Path, command: Command) -> None:
    """Boundary values of all types, as the database's client prints them and as Arrow's types."""
    scenario = ["boundary", "--source", source, "--at", "300"]
    command("expected", *scenario, "--to", str(tmp_path / "rows"), "--as", form)
    done = command("verify", *scenario, "--table", str(tmp_path / "rows"))
    assert done.out.count("all right") > 10


def test_a_table_of_other_types_and_order(orders: Path, tmp_path: Path) -> None:
    """What a sink may make of it: narrower numbers, texts, other names' case, columns of its own."""
    rows = parquet.read_table(orders / "parquet" / "shop.orders.parquet")
    rows = rows.take(pa.array(range(len(rows) - 1, -1, -1)))
    rows = rows.set_column(0, "ID", rows["id"].cast(pa.int32()))
    rows = rows.set_column(2, "status", rows["status"].cast(pa.large_string()))
    rows = rows.set_column(3, "total", rows["total"].cast(pa.decimal128(20, 4)))
    rows = rows.append_column("loaded_at", pa.nulls(len(rows), pa.timestamp("us")))
    parquet.write_table(rows, tmp_path / "orders.parquet")
    verdict = one(simulator.verify_tables("orders", tmp_path / "orders.parquet", at=AT))
    assert verdict.ok, str(verdict)
    assert verdict.skipped == ("loaded_at",)


def test_documents_are_compared_as_such(tmp_path: Path) -> None:
    """Blanks, the order of members and digits that say nothing are no difference, other values are."""
    settings = {"tables.customers.rows": 20, "lifecycles.product.slots": 5, "lifecycles.order.slots": 5}
    run = simulator.simulate("orders", "canal-json", settings=settings, turns=5, snapshot=True)
    rows = {name: [dict(row) for row in table] for name, table in run.expected.items()}
    products = rows["shop.products"]
    written = [json.loads(row["attributes"]) for row in products]
    for row, value in zip(products, written, strict=True):
        row["attributes"] = json.dumps(dict(reversed(value.items())), indent=1)
    assert all(verdict.ok for verdict in run.verify(rows))
    products[0]["attributes"] = json.dumps(written[0] | {"weight_g": written[0]["weight_g"] + 1})
    (verdict,) = (verdict for verdict in run.verify(rows) if not verdict.ok)
    assert verdict.counts == {WrongRow.DIFFERENT: 1}


@each(
    [
        ('{"b":[true,null,"é"],"a":1.50}', '{"a": 1.5, "b": [true, null, "é"]}'),
        ('{"n":12345678901234567890.10}', '{"n": 12345678901234567890.1}'),
        ("1e2", "100"),
        ("null", "null"),
        ("not JSON", "not JSON"),
    ]
)
def test_a_document_in_one_form(text: str, form: str) -> None:
    assert document(text) == form


def texts(path: Path) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_sqlite(orders: Path, tmp_path: Path, command: Command) -> None:
    rows = texts(orders / "jsonl" / "shop.orders.jsonl")
    file = tmp_path / "consumer.db"
    with closing(sqlite3.connect(file)) as database, database:
        names = list(rows[0])
        columns = ", ".join(f'"{name}" {"INTEGER" if name == "id" else "TEXT"}' for name in names)
        database.execute(f"CREATE TABLE o ({columns})")
        database.executemany(
            f"INSERT INTO o VALUES ({', '.join('?' * len(names))})", [tuple(row.values()) for row in rows]
        )
    verify = ("verify", "orders", "--at", str(AT), "--table", f"orders=sqlite:{file}#o")
    assert command(*verify).out == f"shop.orders: {len(rows):,} rows, {len(rows):,} expected: all right\n"
    key = rows[7]["id"]
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE o SET total = '1.00' WHERE id = ?", (key,))
        database.execute("DELETE FROM o WHERE id = ?", (rows[8]["id"],))
        database.execute("INSERT INTO o SELECT * FROM o WHERE id = ?", (rows[9]["id"],))
        database.execute("INSERT INTO o (id, total) VALUES (999999999, 'much')")
    report = tmp_path / "report.json"
    out = command(*verify, "--report", str(report), status=1).out
    assert f"id={key}: total is '1.00', expected '{rows[7]['total']}'" in out
    assert f"1 row missing\n    id={rows[8]['id']}: it is missing" in out
    assert f"1 row there more than once\n    id={rows[9]['id']}: it is there 2 times" in out
    assert "1 row that must not be there\n    id=999999999" in out
    facts = json.loads(report.read_bytes())
    assert [facts["ok"], facts["tables"][0]["wrong"][WrongRow.MISSING.value]] == [False, 1]
    assert (
        "table 'p' cannot be read: no such table: p" in command(*verify[:-1], f"orders=sqlite:{file}#p", status=2).err
    )


def test_duckdb(orders: Path, tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "consumer.duckdb"
    with duckdb.connect(str(file)) as database:
        for table in ("orders", "customers"):
            rows = orders / "parquet" / f"shop.{table}.parquet"
            database.execute(f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{rows}')")
    places = [f"{table}=duckdb:{file}" for table in ("orders", "customers")]
    verdicts = simulator.verify_tables("orders", places, at=AT)
    assert all(verdict.ok for verdict in verdicts), "\n".join(map(str, verdicts))
    with pytest.raises(simulator.UsageError, match="there is no file"):
        simulator.verify_tables("orders", "orders=duckdb:nothing.db", at=AT)


def test_a_folder_of_delta_lake(orders: Path, tmp_path: Path) -> None:
    """The latest version counts, whatever files are in the folder."""
    import deltalake

    folder = tmp_path / "shop.orders"
    (folder / "_delta_log").mkdir(parents=True)
    with pytest.raises(simulator.SinkError, match="it cannot be read"):
        simulator.verify_tables("orders", f"orders={folder}", at=AT)
    rows = parquet.read_table(orders / "parquet" / "shop.orders.parquet")
    (folder / "_delta_log").rmdir()
    deltalake.write_deltalake(str(folder), rows.slice(0, 100))
    deltalake.write_deltalake(str(folder), rows, mode="overwrite")
    verdict = one(simulator.verify_tables("orders", f"orders={folder}", at=AT))
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize(
    ("package", "place"),
    [
        ("duckdb", "duckdb:consumer.duckdb"),
        ("deltalake", "{folder}"),
        ("pyiceberg.table", "{folder}"),
    ],
)
def test_a_package_that_is_missing_is_named(
    package: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop.orders"
    (folder / ("_delta_log" if package == "deltalake" else "metadata")).mkdir(parents=True)
    if package != "deltalake":
        (folder / "metadata" / "v1.metadata.json").write_text("{}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=r"pip install 'cdc-simulator\[tables\]'"):
        simulator.verify_tables("orders", f"orders={place.format(folder=folder)}", at=AT)


def test_a_folder_of_iceberg(orders: Path, tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    folder = tmp_path / "shop.orders"
    (folder / "metadata").mkdir(parents=True)
    (folder / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(simulator.SinkError, match="it cannot be read"):
        simulator.verify_tables("orders", f"orders={folder}", at=AT)
    (folder / "metadata" / "v1.metadata.json").unlink()
    rows = parquet.read_table(orders / "parquet" / "shop.orders.parquet")
    catalog = SqlCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.orders", rows.schema, location=f"file://{folder}")
    table.append(rows.slice(0, 100))
    table.overwrite(rows)
    verdict = one(simulator.verify_tables("orders", f"orders={folder}", at=AT))
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize(
    ("preset", "change"),
    [
        ("connect-jdbc", lambda us: us // 1_000 * 1_000),
        ("clickhouse", lambda us: us // 1_000_000 * 1_000_000),
        ("doris", lambda us: (us + 500_000) // 1_000_000 * 1_000_000),
    ],
)
def test_presets_allow_what_a_sink_cannot_hold(
    preset: str, change: Callable[[int], int], orders: Path, tmp_path: Path
) -> None:
    rows = parquet.read_table(orders / "parquet" / "shop.orders.parquet")
    for name in ("placed_at", "updated_at"):
        type = rows.schema.field(name).type
        cut = pa.array([change(us) for us in rows[name].cast(pa.int64()).to_pylist()], pa.int64()).cast(type)
        rows = rows.set_column(rows.column_names.index(name), name, cut)
    parquet.write_table(rows, tmp_path / "orders.parquet")
    strict = one(simulator.verify_tables("orders", tmp_path / "orders.parquet", at=AT))
    assert strict.ok == (preset == "connect-jdbc")  # its times have milliseconds
    assert one(simulator.verify_tables("orders", tmp_path / "orders.parquet", at=AT, preset=preset)).ok


def test_old_rows_say_which_changes_are_missing(tmp_path: Path) -> None:
    """A consumer that stopped: each row says the state that it has, and what came after it."""
    run = simulator.simulate("orders", "dts-canal-json", start_at=9_000, limit=900, snapshot=True)
    early = simulator.simulate("orders", "dts-canal-json", start_at=9_000, limit=450, snapshot=True)
    verdict = next(v for v in run.verify(early.expected) if v.table == "shop.orders")
    assert set(verdict.counts) == {WrongRow.MISSING, WrongRow.EXTRA, WrongRow.DIFFERENT}
    for finding in verdict.examples:
        words = {
            WrongRow.MISSING: "its last change is ",
            WrongRow.EXTRA: "it was deleted at turn 9",
            WrongRow.DIFFERENT: "it has the state ",
        }
        assert words[finding.wrong] in finding.cause, str(finding)
    assert any("is missing" in finding.cause for finding in verdict.examples)


@pytest.mark.parametrize(
    ("tolerance", "change"),
    [
        (
            "total=round:1",
            lambda row: {**row, "total": str(Decimal(row["total"]).quantize(Decimal("0.1"), ROUND_HALF_UP))},
        ),
        ("*_at=s", lambda row: {**row, "placed_at": row["placed_at"][:19], "updated_at": row["updated_at"][:19]}),
        ("orders.status=nocase", lambda row: {**row, "status": row["status"].lower()}),
        ("status=trim", lambda row: {**row, "status": row["status"].ljust(20)}),
        ("placed_at=zone:+08:00", lambda row: {**row, "placed_at": later(row["placed_at"])}),
        ("comment=ignore", lambda row: {**row, "comment": "x"}),
    ],
)
def test_tolerances(
    tolerance: str, change: Callable[[dict[str, Any]], dict[str, Any]], orders: Path, tmp_path: Path
) -> None:
    rows = [change(row) for row in texts(orders / "jsonl" / "shop.orders.jsonl")]
    file = tmp_path / "orders.csv"
    with file.open("w", encoding="utf-8", newline="") as output:
        writer = csv.DictWriter(output, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    strict = one(simulator.verify_tables("orders", file, at=AT, tolerate=["comment=ignore"]))
    assert strict.ok == (tolerance == "comment=ignore")
    both = [tolerance, "comment=ignore"]  # an empty field is null
    assert one(simulator.verify_tables("orders", file, at=AT, tolerate=both)).ok


def rounded(text: str) -> str:
    return str(Decimal(text).quantize(Decimal("0.1"), ROUND_HALF_UP))


def later(text: str) -> str:
    from datetime import datetime, timedelta

    return (datetime.fromisoformat(text) + timedelta(hours=8)).isoformat(" ", "milliseconds")


def test_the_fixture_takes_a_consumer_s_output(orders: Path) -> None:
    """`cdc.verify` passes right rows, and fails with rows and causes."""
    cdc = Cdc("crud", "dts-canal-json,frac=pad,timestamp_zone=UTC", limit=60)
    rows = cdc.expected
    cdc.verify(rows)
    ((table, own),) = rows.items()
    with pytest.raises(AssertionError, match=r"1 row missing\n.*\n.*its last change is (INSERT|UPDATE) at turn"):
        cdc.verify({table: own[1:]})
    with pytest.raises(pytest.fail.Exception, match="no table 'pedidos' is expected"):
        cdc.verify({"pedidos": []})
    with pytest.raises(pytest.fail.Exception, match="there is no such file"):
        cdc.verify(str(orders / "nowhere"))


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 2}, "customers must hold: they are of another scenario, .* The first difference: id=[0-9]+: .* is "),
        ({"settings": {"tables.customers.rows": 90}}, "customers must hold: they are of another scenario, seed, --set"),
    ],
)
def test_rows_of_another_run_are_no_verdict(options: dict[str, Any], words: str, orders: Path) -> None:
    with pytest.raises(simulator.UsageError, match=words):
        simulator.verify_tables("orders", f"customers={orders}/parquet/shop.customers.parquet", at=AT, **options)


def test_a_column_that_is_wrong_in_all_rows_is_a_verdict(orders: Path, tmp_path: Path) -> None:
    rows = parquet.read_table(orders / "parquet" / "shop.customers.parquet")
    (column,) = (name for name in rows.column_names if "name" in name)
    values = pa.array([f"{value}!" for value in rows[column].to_pylist()])
    parquet.write_table(
        rows.set_column(rows.schema.get_field_index(column), column, values), tmp_path / "customers.parquet"
    )
    verdict = one(simulator.verify_tables("orders", tmp_path / "customers.parquet", at=AT))
    assert verdict.counts == {WrongRow.DIFFERENT: len(rows)}
    assert verdict.hint == f"all of these rows differ in {column} alone"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("orders=nowhere.parquet", "there is no such file"),
        ("pedidos=x.csv", "no table 'pedidos' is expected"),
        ("{}/other.parquet", "say which table it is, as in customers="),
        ("{}/orders.txt", "its suffix is none of"),
        ("orders={}/broken.parquet", "no whole file of Parquet"),
        ("orders={}/empty.csv", "it is empty"),
        ("orders={}/short.csv", "it has no column 'customer_id' of shop.orders"),
        ("orders=sqlite:{}/nothing.db", "there is no file"),
        ("postgresql://u:hid#den@h/x#o", "--table postgresql://u@h/x#o: say which table 'o' is, as in "),
        ("redis://host/x", "tables are read from files, folders, and sqlite, duckdb, mysql"),
        ("orders=", "name a file, folder or database, as in orders=out/orders.parquet"),
    ],
)
def test_bad_input_is_one_sentence(table: str, words: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "orders.txt").write_text("x")
    (tmp_path / "broken.parquet").write_text("x")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "short.csv").write_text("id\n1\n")
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    done = command("verify", "orders", "--at", "100", "--table", table.format(tmp_path), status=2)
    assert words in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected either --from for messages, or --table for tables"),
        (["--table", "x.csv"], "has no end: name a turn"),
        (["--table", "x.csv", "--at", "3", "--preset", "dori"], "Did you mean 'doris'"),
        (["--table", "x.csv", "--at", "3", "--tolerate", "ful_name=ms"], "no expected table has such a column"),
        (["--table", "x.csv", "--at", "3", "--limit", "4"], "takes the turn of the rows, --at"),
        (["--table", "x.csv", "--at", "3", "--tolerate", "a"], "expected COLUMN=FORM"),
        (["--from", "x.jsonl", "--at", "3"], "go with --table"),
        (["--from", "x.jsonl"], "needs -f FORMAT"),
    ],
)
def test_options_that_do_not_fit(arguments: list[str], words: str, command: Command) -> None:
    assert words in command("verify", "orders", *arguments, status=2).err
