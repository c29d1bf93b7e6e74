"""Scenarios drafted from CREATE TABLE statements: they pass the checks, run, and say what the tables say."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import Command
from random_scenarios import rendered

from simulator.drafts.scenario import draft
from simulator.errors import ScenarioError
from simulator.run.job import open_job
from simulator.sources.mysql import type_table
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.loader import read

HERE = Path(__file__).parent
SCHEMAS = sorted(path.stem for path in HERE.glob("*.sql"))


def drafted(tmp_path: Path, sql: str | bytes, source: str | None = None) -> tuple[str, ScenarioSpec]:
    file = tmp_path / "dump.sql"
    file.write_bytes(sql if isinstance(sql, bytes) else sql.encode())
    text = draft(str(file), source)
    return text, read(text, "dump.yaml").spec


def values(spec: ScenarioSpec, table: str) -> Mapping[str, str]:
    return {name: column.values.kind for name, column in spec.tables[table].columns.items()}


def read_text(scenario: str) -> str:
    return scenario if "\n" in scenario else Path(scenario).read_text()


def writes_rows(scenario: str) -> None:
    """As text and as records."""
    first = "canal-json" if re.search("^source: m", read_text(scenario), re.MULTILINE) else "debezium-json"
    stream = open_job(scenario, first).stream
    block = stream.read(0, stream.border(500))
    for format in (first,) if stream.source.id == "sqlserver" else (first, "dts-avro"):
        assert len(rendered(stream, format).render(block) or ()) >= 200


@pytest.mark.parametrize("name", SCHEMAS)
def test_real_looking_schemas_run(command: Command, tmp_path: Path, name: str) -> None:
    file = tmp_path / f"{name}.yaml"
    command("init", HERE / f"{name}.sql", "--to", file, status=0)
    checked = json.loads(command("check", file, "--json", status=0).out)
    tables = ScenarioSpec.model_validate(read(file.read_text(), name).spec).tables
    assert not checked["errors"]
    assert len(checked["tables"]) == len(tables)
    writes_rows(str(file))


def test_references_lead_to_rows(tmp_path: Path) -> None:
    """The rows of all tables after many turns: keys differ, references lead somewhere."""
    from simulator.run.scenario import load, open_stream, resolve

    for name in SCHEMAS:
        loaded, source = load(draft(str(HERE / f"{name}.sql")))
        stream = open_stream(resolve(loaded, source), source)  # type: ignore[arg-type]
        held: dict[str, dict[str, list[Any]]] = {}
        keys = {}
        for table, arrays in stream.rows_at(stream.border(5000)):
            mine = held.setdefault(table.id.name, {column.name: [] for column in table.columns})
            keys[table.id.name] = [table.primary_key, *(key.columns for key in table.unique_keys)]
            for column, array in zip(table.columns, arrays, strict=True):
                mine[column.name] += array.to_pylist()
        links = 0
        for table_name, spec in loaded.spec.tables.items():  # type: ignore[union-attr]
            stored = source.identifier  # type: ignore[union-attr]
            rows_of = held.get(stored(table_name), {})
            for unique in filter(None, keys.get(stored(table_name), ())):
                rows = list(zip(*(rows_of[column] for column in unique), strict=True))
                assert len({row for row in rows if None not in row}) == len([row for row in rows if None not in row])
            for name_of_column, given in spec.columns.items():
                if given.values.kind == "references" and rows_of:
                    parent = held[stored(given.values.arguments.table)]
                    (key,) = loaded.spec.tables[given.values.arguments.table].key  # type: ignore[union-attr]
                    assert set(rows_of[stored(name_of_column)]) - {None} <= set(parent[stored(key)])
                    links += 1
        assert links or name in ("odd", "wordpress")


def test_what_names_and_keys_become(tmp_path: Path) -> None:
    django = read(draft(str(HERE / "django.sql")), "").spec
    assert values(django, "auth_user") == {
        "id": "sequence", "password": "text", "last_login": "commit_time", "is_superuser": "choices",
        "username": "person", "first_name": "person", "email": "person", "date_joined": "commit_time",
    }  # fmt: skip
    assert django.tables["auth_user"].unique == {"username": ["username"], "email": ["email"]}
    assert values(django, "auth_user_groups") == {"id": "sequence", "user_id": "references", "group_id": "references"}
    assert (django.tables["django_admin_log"].mix.update, django.tables["auth_user"].mix.delete) == (0, 0)
    blog = read(draft(str(HERE / "wordpress.sql")), "").spec
    assert (blog.source, blog.database) == ("mariadb", "blog")
    assert {name: table.rows for name, table in blog.tables.items()} == {
        "wp_users": 3, "wp_posts": 51, "wp_options": 1, "wp_term_relationships": 1000,
    }  # fmt: skip
    assert values(blog, "wp_posts")["post_modified"] == "commit_time"
    sakila = read(draft(str(HERE / "sakila.sql")), "").spec
    assert (sakila.tables["language"].rows, sakila.tables["language"].mix.insert) == (255, 0)
    assert sakila.tables["film"].columns["rating"].values.arguments == ["G", "PG", "PG-13", "R", "NC-17"]


def test_believable_values_of_a_shop(tmp_path: Path) -> None:
    """People, prices of lines, numbers with check digits, sentences: from names and foreign keys."""
    sql = """
    create table customers (id bigint primary key auto_increment, name varchar(80) not null,
        email varchar(120) not null unique, city varchar(60), phone varchar(20), iban char(34), comment varchar(200));
    create table products (id bigint primary key auto_increment, title varchar(80) not null, ean char(13),
        price decimal(10,2) not null);
    create table order_items (id bigint primary key auto_increment, product_id bigint not null, quantity int not null,
        unit_price decimal(10,2) not null, foreign key (product_id) references products (id));
    """
    text, spec = drafted(tmp_path, sql)
    assert values(spec, "customers") == {
        "id": "sequence", "name": "person", "email": "person", "city": "person", "phone": "phone_number",
        "iban": "iban", "comment": "sentence",
    }  # fmt: skip
    assert spec.tables["customers"].unique == {"email": ["email"]}
    assert values(spec, "products") == {"id": "sequence", "title": "sentence", "ean": "ean", "price": "walk"}
    assert values(spec, "order_items") == {
        "id": "sequence", "product_id": "references", "quantity": "range", "unit_price": "of",
    }  # fmt: skip
    assert "values: {of: products.price, via: product_id}" in text
    writes_rows(text)


def test_every_type(tmp_path: Path) -> None:
    """As a column, as a key, as a unique key, and as what another table refers to."""
    lengths = {"varchar": "(9)", "varbinary": "(9)", "enum": "('a','b')", "set": "('a','b')", "bit": "(7)"}
    types = [name + lengths.get(name, "") for name in type_table.TYPES]
    types += ["decimal(65,30)", "datetime(6)", "char(1)", "enum('x')", "bigint unsigned zerofill", "bit(1)", "year"]
    types += ["varchar(7) character set gbk collate gbk_bin", "tinyint(1)", "varchar(700) character set ascii"]
    sql = []
    for n, type in enumerate(types):
        sql.append(f"create table t{n} (price {type}, created_at {type} not null);")
        if not re.search("text|blob|json|geom|point|line|poly", type):
            sql.append(f"create table k{n} (id {type} primary key, code {type} unique, email {type} not null unique);")
            sql.append(f"create table r{n} (a {type} not null, b {type}, foreign key (a) references k{n} (id));")
    text, spec = drafted(tmp_path, "\n".join(sql))
    assert len(spec.tables) == len(sql)
    writes_rows(text)


@pytest.mark.parametrize(
    ("sql", "wrong"),
    [
        ("\nCREATE TABLE a (id SERIAL,\n  b wrong);", "dump.sql:3: 'CREATE TABLE a (id SERIAL, b wrong)' cannot be"),
        ("CREATE TABLE a (b INTEGER PRIMARY KEY AUTOINCREMENT);", "it looks like SQLite's: rewrite it"),
        (
            "\n-- x\nCREATE TABLE a.b\n(c text::text, (d));",
            "dump.sql:3: 'CREATE TABLE a.b (c text::text, (d))' cannot be read as postgresql-16's (a name is expected "
            "instead of '('); change or remove the statement.",
        ),
        ("CREATE TABLE a (b varchar2(9)", "'CREATE TABLE a (b varchar2(9)' cannot be read as oracle-19c's (its bra"),
        ("-- PostgreSQL database dump\nCREATE TABLE a ();", "there is no CREATE TABLE; write the tables with `pg_dump"),
        ("CREATE TABLE a (b int, b int);", "Duplicate column name 'b'"),
        ("SELECT 1;", "there is no CREATE TABLE"),
        ("", "there is no CREATE TABLE"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(tmp_path: Path, sql: str, wrong: str) -> None:
    with pytest.raises(ScenarioError) as error:
        drafted(tmp_path, sql)
    assert wrong in str(error.value)
    assert error.value.exit_status == 2


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        (
            "postgresql",
            "ALTER TABLE ONLY t REPLICA IDENTITY FULL; ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
            "CREATE TABLE q AS SELECT 1;"
            "ALTER TABLE t ALTER COLUMN id SET STATISTICS 9; CREATE UNIQUE INDEX i ON ONLY t (id); CREATE TABLE u OF v;"
            "ALTER TABLE ONLY t ADD CONSTRAINT k UNIQUE USING INDEX i; ALTER TABLE t ALTER id SET STORAGE plain;"
            "CREATE TYPE r AS RANGE (subtype = int); ALTER TABLE t ADD COLUMN gone int, DROP COLUMN gone; SELECT '((';"
            "ALTER TABLE t ADD EXCLUDE USING gist (r WITH &&); CREATE FOREIGN TABLE f (a int) SERVER s;"
            "CREATE TEMP TABLE x (a int)",
        ),
        (
            "oracle",
            "ALTER TABLE t ADD SUPPLEMENTAL LOG DATA (ALL) COLUMNS; ALTER TABLE t MOVE TABLESPACE x;"
            "BEGIN NULL; END;\n/\n"
            "ALTER TABLE t MODIFY (id NOT NULL ENABLE); CREATE INDEX i ON t (LOWER(id));"
            "CREATE UNIQUE INDEX u ON t (id);",
        ),
        (
            "sqlserver",
            "CREATE TABLE #x (a int)\nGO\nALTER TABLE t NOCHECK CONSTRAINT ALL\n"
            "CREATE PROCEDURE p AS BEGIN SELECT 1 END\n"
            "GO\nCREATE UNIQUE INDEX u ON t (id)\nALTER TABLE t ADD CONSTRAINT d DEFAULT ((0)) FOR missing\nPRINT '('",
        ),
    ],
)
def test_statements_of_other_systems_are_passed_over(tmp_path: Path, source: str, statements: str) -> None:
    sql = f"CREATE TABLE t (id char(9) NOT NULL);\n{statements}"
    _, spec = drafted(tmp_path, sql, source)
    ((name, table),) = spec.tables.items()
    assert (name, [*table.columns], [*table.unique.values()]) == ("t", ["id"], [["id"]])


@pytest.mark.parametrize(
    "type",
    ["VARCHAR2(10 BYTE)", "NUMBER(*,0)", "TIMESTAMP (6) WITH TIME ZONE", "LONG RAW", "INTERVAL YEAR (2) TO MONTH"],
)
def test_types_as_oracle_prints_them(tmp_path: Path, type: str) -> None:
    text, spec = drafted(tmp_path, f'CREATE TABLE "T" ("A" {type} DEFAULT NULL, "B" CLOB)', "oracle")
    assert [*spec.tables["t"].columns] == ["a", "b"], text


def test_a_file_that_mysql_reads_is_its_own(tmp_path: Path) -> None:
    """Names that are words of other systems do not change that."""
    sql = "CREATE TABLE clob (id serial primary key, number char(9), jsonb int comment 'a::b', KEY number (number));"
    _, spec = drafted(tmp_path, sql)
    assert (spec.source, spec.tables["clob"].columns["id"].type) == ("mysql", "bigint unsigned")
    for sql, source in (
        ("CREATE TABLE a (id serial primary key, ref uuid)", "postgresql"),
        ("CREATE TABLE a (id int, words text[], CHECK (words <> ARRAY[id]))", "postgresql"),
        ("CREATE TABLE a (id varchar2(9), seen timestamp with time zone)", "oracle"),
        ("CREATE TABLE a ([uuid] int, [clob] int)", "sqlserver"),
    ):
        assert drafted(tmp_path, sql)[1].source == source


def test_statements_in_between_are_passed_over(tmp_path: Path) -> None:
    text, spec = drafted(
        tmp_path,
        b"CREATE TABLE a (id int);\nGRANT ALL ON x TO y;\nINSERT INTO a VALUES (1),\n(2);\nUSE other;\n"
        b"CREATE TABLE b (id int);\nDROP TABLE nothing;\nCREATE TABLE c (id int);\n"
        b"ALTER TABLE dump.a ADD PRIMARY KEY (id);\nCREATE TABLE A (id int);\n",
    )
    assert {name: (table.database, table.key, table.rows) for name, table in spec.tables.items()} == {
        "a": ("dump", ["id"], 2), "b": (None, [], 1000), "c": (None, [], 1000),
    }  # fmt: skip
    assert "# other.A is left out: another table has its name." in text


def test_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for sql in ("CREATE TABLE a (id int PRIMARY KEY);", "CREATE TABLE a (id int PRIMARY KEY"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sql.encode())))
        if sql.endswith(";"):
            assert "  a:\n    key: id\n" in command("init", "-", status=0).out
        else:
            assert command("init", "-", status=2).err.startswith("cdcsim: standard input:1: 'CREATE TABLE a (id")


def test_a_file_stays(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text("mine")
    done = command("init", HERE / "django.sql", "--to", file, status=2)
    assert done.err == f"cdcsim: --to {file}: it is already there; name another file, or remove it.\n"
    assert file.read_text() == "mine"
    assert "cannot be read: No such file or directory" in command("init", tmp_path / "no.sql", status=2).err


def test_other_systems(tmp_path: Path) -> None:
    """The scenarios of `pg_dump`, of Oracle's DBMS_METADATA, and of a script of SQL Server's Management Studio."""
    drafts = {name: draft(str(HERE / f"{name}.sql")).partition("\ntables:\n") for name in ("pg_dump", "oracle", "ssms")}
    for name, (head, _, tables) in drafts.items():
        said = "".join(
            line + "\n" for line in head.splitlines() if re.match("# (Passed|Names)|source|database|schema", line)
        )
        assert said + tables == (HERE / f"{name}.yaml").read_text(), f"write tests/drafts/{name}.yaml anew"


@pytest.mark.parametrize(
    ("sql", "system", "column"),
    [
        ("create table a (x int default nextval('s'::regclass), id serial8 primary key)", "postgresql", "bigint"),
        ("create type m as enum ('a'); alter type m add value 'c'; alter type m add value 'b' before 'c'; "
         "create table t (id m); -- ::", "postgresql", "m enum('a','b','c')"),
        ("create domain d as numeric(9,2) not null default 0; create table t (id d)", "postgresql", "numeric(9,2)"),
        ("create table t (a text::text, id int); alter table t alter column id type bigint", "postgresql", "bigint"),
        ("create table t (a varchar2(9)); alter table t add (id number(9,2) default 0)", "oracle", "NUMBER(9,2)"),
        ("create table t ([a] int)\nalter table t add id datetime2(3) null", "sqlserver", "datetime2(3)"),
        ("create table t ([id] int)\nalter table t alter column id bigint not null", "sqlserver", "bigint"),
        ("create table t (/* a /* b */ ; */ id varchar(9)) inherits (o)", "postgresql", "character varying(9)"),
        ("create table t (id [dbo].[Code], b int); -- [x]", "sqlserver", None),
    ],
)  # fmt: skip
def test_types_of_other_systems(tmp_path: Path, sql: str, system: str, column: str | None) -> None:
    _, spec = drafted(tmp_path, sql, None if "::" in sql or system == "oracle" else system)
    ((_, table),) = spec.tables.items()
    assert spec.source == system
    assert (table.columns["id"].type if "id" in table.columns else None) == column


AVRO = {
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string(255)",
    "bytes": "bytes(255)",
    '["null","long"]': "int64",
    '["int","string"]': "json",
    '{"type":"array","items":"int"}': "json",
    '{"type":"fixed","name":"F","size":9}': "bytes(9)",
    '{"type":"enum","name":"E","symbols":["a","b"]}': "enum('a','b')",
    '{"type":"record","name":"R","fields":[]}': "json",
    '{"type":"long","logicalType":"timestamp-millis"}': "timestamptz(3)",
    '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}': "decimal(9,2)",
    '{"type":{"type":"int"}}': "int32",
    '{"type":"long","connect.name":"io.debezium.time.MicroTimestamp"}': "timestamp(6)",
    "null": None,
    '"T"': None,
    '{"type":"string","connect.name":"io.debezium.data.Enum","connect.parameters":{"allowed":"x,y"}}': "enum('x','y')",
}
JSON = {
    '{"type":"integer"}': "int64",
    '{"type":"integer","minimum":0,"maximum":9}': "int32",
    '{"enum":["a","b",null]}': "enum('a','b')",
    '{"enum":["a","b"]}': "enum('a','b')",
    '{"type":"string","maxLength":7}': "string(7)",
    '{"type":["string","null"]}': "string(255)",
    '{"type":"number","multipleOf":0.01}': "decimal(18,2)",
    '{"type":"string","format":"date-time"}': "timestamptz(3)",
    '{"$ref":"#/$defs/d"}': "date",
    '{"anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]}': "date",
    '{"type":"object"}': "json",
    '{"type":"boolean"}': "bool",
    '{"type":"null"}': None,
    '{"const":5}': "int64",
    '{"type":"string","maxLength":99999}': "text",
    '{"type":"string","contentEncoding":"base64"}': "bytes(255)",
}


@pytest.mark.parametrize(("avro", "type"), AVRO.items())
def test_types_of_avro(tmp_path: Path, avro: str, type: str | None) -> None:
    field = avro if avro[0] in '{["' else f'"{avro}"'
    schema = (
        '{"type":"record","name":"a.b.Orders","fields":[{"name":"x","type":TYPE},{"name":"id","type":"long"}]}'.replace(
            "TYPE", field
        )
    )
    text, spec = drafted(tmp_path, schema)
    assert {name: column.type for name, column in spec.tables["Orders"].columns.items()} == (
        {"id": "int64"} if type is None else {"x": type, "id": "int64"}
    )
    assert (spec.source, spec.tables["Orders"].key) == (None, ["id"])
    assert ("x is left out" in text) == (type is None)


@pytest.mark.parametrize(("json", "type"), JSON.items())
def test_types_of_json_schema(tmp_path: Path, json: str, type: str | None) -> None:
    schema = (
        '{"title":"t","required":["x"],"properties":{"x":TYPE,"y":{"type":"string"}},"$defs":{"d":{"type":"string",'
    ).replace("TYPE", json)
    _, spec = drafted(tmp_path, schema + '"format":"date"}}}')
    columns = spec.tables["t"].columns
    assert (columns["x"].type if "x" in columns else None) == type
    assert type is None or (columns["x"].nullable is False) == ("null" not in json)


def test_schemas_of_data(tmp_path: Path) -> None:
    """A change is its row; several records, and the objects of OpenAPI, are tables; they run on any source."""
    row = '{"type":"record","name":"Value","fields":[{"name":"id","type":"string"},{"name":"u","type":{"type":"string",'
    row += '"logicalType":"uuid"}},{"name":"ok","type":"boolean"},'
    row += '{"name":"at","type":{"type":"int","logicalType":"date"}}]}'
    change = (
        '{"type":"record","name":"Envelope","namespace":"s.shop.orders","fields":[{"name":"before","type":["null",%s]},'
    )
    text, spec = drafted(tmp_path, change % row + '{"name":"after","type":["null","Value"]}]}')
    assert [*spec.tables["orders"].columns] == ["id", "u", "ok", "at"]
    for source in ("mysql", "postgresql", "oracle", "sqlserver"):
        open_job(text, "debezium-json", source=source)
    assert [*drafted(tmp_path, f"[{row}]", "oracle")[1].tables] == ["Value"]
    api = '{"components":{"schemas":{"A":{"properties":{"n":{"type":"integer"}}},"B":{"allOf":[{"$ref":"#/components/'
    _, spec = drafted(tmp_path, api + 'schemas/A"},{"properties":{"m":{"type":"string"}}}]},"C":{"type":"string"}}}}')
    assert {name: [*table.columns] for name, table in spec.tables.items()} == {"A": ["n"], "B": ["n", "m"]}
    for wrong, error in (
        ('{"type":"record"', "dump.sql:1: this is neither SQL nor JSON"),
        ("[]", "there is no record of an Avro schema"),
        ('{"type":"string"}', "no object of a JSON schema"),
        ('{"type":"record","name":"r","fields":[{"name":"n","type":"null"}]}', "no field of it has a type"),
    ):
        with pytest.raises(ScenarioError, match=error):
            drafted(tmp_path, wrong)
