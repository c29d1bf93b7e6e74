"""Rows of which the log lacks columns (binlog_row_image): written as the product does, or refused by name."""

from __future__ import annotations

from typing import Any, Final

import pytest
from decoding import decode

from simulator import sources
from simulator.errors import UsageError
from simulator.formats import FORMATS, find
from simulator.model import ROW_KINDS
from simulator.run.job import Job, open_job
from simulator.run.plan import Limits
from simulator.sql.script import script_of

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
    record = decode("dts-avro", last.value or b"")
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
        return [decode("dts-avro", message.value or b"") for message in found]

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
    with pytest.raises(UsageError, match="row_image: Oracle has no binlog_row_image; remove this key"):
        open_job(scenario, "dts-avro", source="oracle", settings=["row_image=minimal"])


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
