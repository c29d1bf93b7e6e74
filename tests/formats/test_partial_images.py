"""Rows of which the log lacks columns (binlog_row_image, REPLICA IDENTITY …): written as products do, or refused."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, Final

import pytest
from building import batch_of, table_of
from each import each

from simulator import sources
from simulator.errors import UsageError
from simulator.formats import FORMATS, find
from simulator.model import ROW_KINDS, UPDATE
from simulator.run.job import Job, open_job
from simulator.run.plan import Limits
from simulator.run.scenario import Draft
from simulator.sql.script import script_of
from simulator.truth.decoders import parse

HEAD: Final = """create database d; use d;
create table t(id int auto_increment primary key, a varchar(9), j text, b int default 3);
create table k(a int, b int not null unique, c int);
create table n(a int, b int);
"""
# A script that sets binlog_row_image, and the images of its last row: before and after, `?` for what the log lacks.
LOGGED: Final[list[tuple[str, list[Any] | None, list[Any] | None]]] = [
    ("minimal'; insert into t(a) values('x')", None, [1, "x", "?", "?"]),
    ("minimal'; insert into t(a) values('x'); update t set a='y'", [1, "?", "?", "?"], ["?", "y", "?", "?"]),
    ("minimal'; insert into t(a) values('x'); delete from t", [1, "?", "?", "?"], None),
    ("noblob'; insert into t(a) values('x'); update t set a='y'", [1, "x", "?", 3], [1, "y", "?", 3]),
    ("noblob'; insert into t(a) values('x'); update t set j='y'", [1, "x", "?", 3], [1, "x", "y", 3]),
    ("minimal'; insert into k values(1,2,3); update k set b=7", ["?", 2, "?"], ["?", 7, "?"]),
    ("minimal'; insert into n(a) values(1); update n set b=2", [1, None], ["?", 2]),
    ("minimal'; set binlog_row_image='full'; insert into t(a) values('x')", None, [1, "x", None, 3]),
]


@pytest.mark.parametrize(("script", "before", "after"), LOGGED)
def test_dts_writes_none_where_the_log_has_nothing(script: str, before: Any, after: Any) -> None:
    text = HEAD + f"set binlog_row_image='{script};"
    job = Job(script_of(text, "s.sql"), sources.find("mysql-8.0"), "dts-avro")
    *_, last = (message for message in job.messages(Limits()) if message.kind in ROW_KINDS)
    record = parse("dts-avro", last.value or b"")
    assert [image_of(record["beforeImages"]), image_of(record["afterImages"])] == [before, after]
    assert [field["name"] for field in record["fields"]] == {"t": ["id", "a", "j", "b"], "k": ["a", "b", "c"]}.get(
        record["objectName"][2:], ["a", "b"]
    )


@pytest.mark.parametrize("row_image", ["minimal", "noblob"])
@pytest.mark.parametrize("scenario", ["tour", "crud"])
def test_scenarios_may_have_partial_images(scenario: str, row_image: str) -> None:
    """The key and what changes, or all but texts that do not; compared with the whole rows of the same changes."""

    def records(setting: str) -> list[dict[str, Any]]:
        job = open_job(scenario, "dts-avro", settings=[f"row_image={setting}"])
        found = (message for message in job.messages(Limits(changes=200)) if message.kind in ROW_KINDS)
        return [parse("dts-avro", message.value or b"") for message in found]

    def values(image: list[Any]) -> list[Any]:
        return ["?" if value is not None and "NONE" in (value, value[1]) else value for value in image]

    wholes, parts = records("full"), records(row_image)
    assert len(wholes) == len(parts)
    lacking = 0
    for whole, part in zip(wholes, parts, strict=True):
        names = [field["name"] for field in whole["fields"]]
        old, new = whole["beforeImages"], whole["afterImages"]
        large = {name for name in names if row_image == "minimal" or name == "note"} - {"id"}
        if old is None:
            assert part["afterImages"] == new
            continue
        before = [value if name not in large else "?" for name, value in zip(names, old, strict=True)]
        assert values(part["beforeImages"]) == before
        lacking += "?" in before
        if new is not None:
            large.add("id" if row_image == "minimal" else "")
            rows = zip(names, old, new, strict=True)
            assert values(part["afterImages"]) == [b if name not in large or a != b else "?" for name, a, b in rows]
    assert lacking or (scenario, row_image) == ("crud", "noblob")


@pytest.mark.parametrize("scenario", ["tour", "crud"])
def test_a_scenario_with_partial_images_is_refused_by_products_that_need_whole_rows(scenario: str) -> None:
    with pytest.raises(UsageError, match="has partial ones: row_image is minimal; set it to full"):
        open_job(scenario, "drs-json", settings=["row_image=minimal"])


SETTINGS: Final = """
tables: {t: {columns: {id: int64, u: int32, v: string(20)}, key: [id], unique: {uk: [u, v]}}}
script:
  - transaction: [{insert: t, rows: [{id: 1, u: 5, v: a}]}]
  - transaction: [{update: t, where: {id: 1}, set: {v: b}}]
  - transaction: [{update: t, where: {id: 1}, set: {id: 2}}]
  - transaction: [{delete: t, where: {id: 2}}]
"""
ROWS: Final = [{"id": "1", "u": "5", "v": "a"}, {"id": "1", "u": "5", "v": "b"}, {"id": "2", "u": "5", "v": "b"}]
# Source, setting, format: the rows before and after the two updates, and the deleted row; or why it is refused.
WRITTEN: Final[list[tuple[str, str, str, Any]]] = [
    ("postgresql", "replica_identity: full", "drs-json", [*pairwise(ROWS), ROWS[2]]),
    ("postgresql", "replica_identity: default", "drs-json",
     [(None, ROWS[1]), ({"id": "1"}, ROWS[2]), {"id": "2"}]),
    ("gaussdb", "replica_identity: default", "drs-json", [(None, ROWS[1]), ({"id": "1"}, ROWS[2]), {"id": "2"}]),
    ("postgresql", "replica_identity: index", "drs-json", [*pairwise(ROWS), ROWS[2]]),
    ("postgresql", "replica_identity: default", "cloudcanal-json",
     [({"id": "1"}, ROWS[1]), ({"id": "1"}, ROWS[2]), {"id": "2"}]),
    ("oracle", "supplemental_logging: primary key, unique", "drs-json",
     [({"id": "1", "u": "5", "v": "a"}, ROWS[1]), ({"id": "1"}, {"id": "2"}), ROWS[2]]),
    ("oracle", "supplemental_logging: primary key", "dts-shareplex-json",
     [({"id": "1", "v": "a"}, {"v": "b"}), ({"id": "1"}, {"id": "2"}), ROWS[2]]),
    ("oracle", "supplemental_logging: minimal", "drs-json", "supplemental_logging is minimal; set it to all"),
    ("oracle", "supplemental_logging: minimal", "oms-default", "supplemental_logging is minimal; set it to all"),
    ("gaussdb", "replica_identity: default", "drs-json,gaussdb=distributed", "replica_identity is default; set it to"),
    ("postgresql", "replica_identity: default", "dts-canal-json", "replica_identity is default; set it to full"),
    ("postgresql", "replica_identity: nothing", "drs-json", "the server refuses every UPDATE and DELETE then"),
    ("oceanbase-mysql", "row_image: minimal", "oms-default", "row_image is minimal; set it to full"),
    ("oceanbase-oracle", "row_image: minimal", "cloudcanal-json", "row_image is minimal; set it to full"),
    ("oceanbase-mysql", "row_image: noblob", "oms-default", "has no 'noblob', but full, minimal"),
    ("oracle", "row_image: minimal", "dts-avro", "Oracle has no such setting; it has supplemental_logging"),
    ("sqlserver", "replica_identity: full", "drs-json", "SQL Server has no such setting; remove this key"),
]  # fmt: skip


@each(WRITTEN)
def test_replica_identity_supplemental_logging_and_minimal_mode(
    source: str, setting: str, format: str, expected: Any
) -> None:
    """Settings of a scenario: each product writes what it writes for them, or refuses them by name."""
    draft = Draft(f"{setting}\n{SETTINGS}", "s.yaml")
    if isinstance(expected, str):
        with pytest.raises(UsageError, match=expected):
            open_job(draft, format, source=source)
        return
    values = [json.loads(message.value or b"") for message in open_job(draft, format, source=source).messages(Limits())]
    for value, rows in zip(values[1:], expected, strict=True):
        if "meta" in value:
            found = (value["key"], value["data"]) if "key" in value else value["data"]
        else:
            old, data = value.get("old", value.get("before")), value["data"]
            images = [None if not image else image[0] for image in (old, data)]
            found = tuple(images) if all(images) or isinstance(rows, tuple) else images[0] or images[1]
        assert lowered(found) == lowered(rows)


def lowered(images: Any) -> Any:
    if isinstance(images, tuple):
        return tuple(map(lowered, images))
    return images and {name.lower(): value for name, value in images.items()}


def test_what_postgresql_stores_apart_is_not_in_the_log_of_an_update() -> None:
    """…, nor the row before, where it lacks the key; index: the key is the unique one that is NOT NULL."""
    table = table_of("t", {"id": "int", "u": "int", "doc": "text"}, ["id"], source="postgresql",
                     unique={"uk": ["u"]}, not_null=["u"])  # fmt: skip
    long = "x" * 2001
    rows = [["1", "5", long], ["2", "6", long]]
    batch = batch_of(table, UPDATE, rows, [["1", "4", long], ["2", "6", "short"]], source="postgresql")
    for identity, before in (("default", [(), ()]), ("index", [(1,), ()])):
        logged = {
            int(part.image()[0][0].as_py()): part.logged for part in sources.find("postgresql").logged(batch, identity)
        }
        assert [logged[1].before, logged[2].before] == before
        assert [logged[1].after, logged[2].after] == [(0, 1), None]


def image_of(image: list[Any] | None) -> list[Any] | None:
    if image is None:
        return None
    found: list[Any] = []
    for value in image:
        content = value[1] if isinstance(value, tuple) else value
        if content == "NONE":
            found.append("?")
        elif content is None:
            found.append(None)
        else:
            text = content["value"]
            found.append(text.decode() if isinstance(text, bytes) else int(text))
    return found


@pytest.mark.parametrize("format", [name for name in FORMATS if "mysql" in find(name).sources])
def test_products_that_need_whole_rows_refuse_the_setting(format: str, tmp_path: Any) -> None:
    script = tmp_path / "s.sql"
    script.write_text(HEAD + "set binlog_row_image=minimal; insert into t(a) values('x'); update t set a='y';\n")
    if format in ("canal-json", "dts-avro"):
        open_job(str(script), format)
        return
    product = find(format).product
    with pytest.raises(UsageError) as error:
        open_job(str(script), format)
    assert str(error.value) == (
        f"-f {format}: {product} requires whole row images, and the log of {script} has partial ones: "
        "binlog_row_image is not FULL in turn 4; set it to FULL."
    )
