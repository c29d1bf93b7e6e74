"""Alibaba's own SDK reads our DTS records: every kind, and every type of column of every source.

SDK 2.0.0 was compiled with version A of the schema. It takes every DateTime's fraction for microseconds, so that
it reads fractions of every source as microseconds, which is the default; it knows neither full load nor commands of
MongoDB: INIT and COMMAND are UNKNOWN to it. PostgreSQL's NaN and Infinity it reads as a Float alone.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from functools import cache
from typing import Any, Final

import pytest
from building import batch_of, block_of, codec_of, encoded, messages_of, table_of, with_effect
from cases import cases_of, samples_of
from jvm import Reader

from simulator.formats.cloudcanal import dts_avro as cloudcanal_dts_avro
from simulator.formats.dts.avro import FORMAT
from simulator.model import INSERT
from simulator.sources import SOURCES, find
from simulator.truth.decoders import parse

pytestmark = pytest.mark.jvm

SYSTEMS: Final = [f"{id}-{SOURCES[id][2][0]}" for id in FORMAT.sources]
# What the SDK calls the records of the union.
NAMES: Final = {
    "Integer": "INTEGER_NUMERIC",
    "Character": "STRING",
    "Decimal": "DECIMAL_NUMERIC",
    "Float": "FLOAT_NUMERIC",
    "Timestamp": "UNIX_TIMESTAMP",
    "DateTime": "DATETIME",
    "TimestampWithTimeZone": "DATETIME",
    "BinaryGeometry": "WKB_GEOMETRY",
    "TextGeometry": "WKT_GEOMETRY",
    "BinaryObject": "BINARY_ENCODING_OBJECT",
    "TextObject": "TEXT_ENCODING_OBJECT",
}


@cache
def values(format: str, source: str) -> list[bytes]:
    """All messages of all cases."""
    return [
        message.value or b"" for case in cases_of(source) for message in messages_of(format, source, block_of(case))
    ]


def ask(sdk: Reader, records: list[bytes]) -> list[Any]:
    """The SDK's answers, a text where it failed."""
    answers = sdk.ask([record.hex().encode() for record in records])
    return [json.loads(line) if not line.startswith(b"ERROR") else line.decode() for (line,) in answers]


def same(ours: Any, theirs: list[str] | None) -> bool:
    """Whether the SDK's type and text of a value are what we wrote."""
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if ours == "NONE" or ours[1] == "NONE":
        return theirs[0] == "NONE"
    record, value = ours[0].rpartition(".")[2], ours[1]
    type, text = theirs
    if type != NAMES[record] and not (record == "TimestampWithTimeZone" and "TIMESTAMP" in type):
        return False
    match record:
        case "Integer" | "TextObject" | "TextGeometry":
            return bool(text == value["value"])
        case "Character":
            return bool(text == value["value"].decode(CODECS.get(value["charset"], value["charset"])))
        case "Decimal":
            return Decimal(text) == Decimal(value["value"])
        case "Float":
            number = float(text)
            return number == value["value"] or (math.isnan(number) and math.isnan(value["value"]))
        case "BinaryObject":
            return bool(text == value["value"].hex().upper())
        case "Timestamp":
            return "." in text and text.startswith(("19", "20"))
        case "DateTime":
            return digits(text, value)
        case "TimestampWithTimeZone":
            return digits(text, value["value"])
    return bool(text)


def digits(text: str, value: dict[str, int | None]) -> bool:
    """Whether a text has the members of a DateTime but for the fraction."""
    there = members({name: number for name, number in value.items() if name != "millis"})
    return [int(part) for part in re.findall(r"\d+", text)][: len(there)] == there


CODECS: Final = {"utf8mb4": "utf-8", "utf8": "utf-8", "utf8mb3": "utf-8"}


def members(value: dict[str, int | None]) -> list[int]:
    """The members of a DateTime that are there, without signs."""
    return [abs(number) for number in value.values() if number is not None]


@pytest.mark.parametrize("source", SYSTEMS)
def test_values_of_every_type_are_read(sdk: Reader, source: str) -> None:
    """The least and the greatest value of each type, and all that is odd."""
    format = with_effect("dts-avro", source)
    types, system = samples_of(source).types, find(source)
    records: list[bytes] = []
    for text in types:
        table = table_of("t", {"id": samples_of(source).plain, "c": text}, ["id"], source=source)
        literals = system.boundary_values(table.columns[1].type)
        rows = [[str(number), literal] for number, literal in enumerate(literals, 1)]
        batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=source)
        records += encoded(codec_of(format, source), batch)
    wrong = []
    for record, told in zip(records, ask(sdk, records), strict=True):
        ours = parse(format, record)
        if isinstance(told, str):
            wrong.append((ours["afterImages"], told))
        else:
            wrong += [pair for pair in zip(ours["afterImages"], told["after"], strict=True) if not same(*pair)]
    assert wrong == []
    assert len(records) > 5 * len(types) // 2


@pytest.mark.parametrize("source", SYSTEMS)
@pytest.mark.parametrize(
    "options", ["", ",schema_variant=A", ",product=subscription", ",row_image=minimal,rds_hidden_pk=on"]
)
def test_every_record_is_read(sdk: Reader, source: str, options: str) -> None:
    kinds = read_all(sdk, with_effect(f"dts-avro{options}", source), source)
    rows = {"INSERT", "UPDATE", "DELETE", "COMMAND" if source.startswith("mongodb") else "DDL"}
    assert kinds == rows | ({"BEGIN", "COMMIT", "HEARTBEAT"} if "subscription" in options else {"INIT"})


@pytest.mark.parametrize("source", [f"{id}-{SOURCES[id][2][0]}" for id in cloudcanal_dts_avro.FORMAT.sources])
@pytest.mark.parametrize("options", ["", ",minimal=on,init_op=INIT"])
def test_every_record_of_cloudcanal_is_read(sdk: Reader, source: str, options: str) -> None:
    kinds = read_all(sdk, with_effect(f"cloudcanal-dts-avro{options}", source), source)
    rows = {"INSERT", "UPDATE", "DELETE", "COMMAND" if source.startswith("mongodb") else "DDL"}
    assert kinds == rows | ({"INIT"} if options else set())


def test_records_whose_fields_say_what_is_a_key_are_not_read(sdk: Reader) -> None:
    """The wider schema is another one: a reader of the stock schema takes each isPk for what follows."""
    records = values("cloudcanal-dts-avro,ispk_field=on", "mysql-8.0")
    told = ask(sdk, records)
    decoded = [parse("cloudcanal-dts-avro,ispk_field=on", record) for record in records]
    rows = [place for place, record in enumerate(decoded) if record["fields"]]
    assert len(rows) > 50
    assert all(isinstance(told[place], str) for place in rows)


def read_all(sdk: Reader, format: str, source: str) -> set[str]:
    """All records of all cases, which the SDK reads as they were written; the operations that were among them."""
    records = values(format, source)
    kinds = set()
    for record, told in zip(records, ask(sdk, records), strict=True):
        ours = parse(format, record)
        assert not isinstance(told, str), (told, ours)
        kinds.add(ours["operation"])
        assert told["operation"] == ours["operation"]
        assert told["sdk"] == ("UNKNOWN" if ours["operation"] in ("INIT", "COMMAND") else ours["operation"])
        assert (told["id"], told["timestamp"]) == (ours["id"], ours["sourceTimestamp"])
        assert (told["position"], told["tags"]) == (ours["sourcePosition"], ours["tags"])
        if ours["fields"] is None:
            assert told["text"] == ours["afterImages"]
            continue
        assert list(told["numbers"].items()) == [(field["name"], field["dataTypeNumber"]) for field in ours["fields"]]
        assert sorted(told["keys"]) == sorted(json.loads(ours["tags"]["pk_uk_info"]).get("PRIMARY", []))
        for side in ("before", "after"):
            written, read = ours[f"{side}Images"], told[side]
            assert (written is None) == (read is None)
            wrong = [pair for pair in zip(written or [], read or [], strict=True) if not same(*pair)]
            assert wrong == [], ours
    return kinds


def test_related_sources(sdk: Reader) -> None:
    for options, type, source, tables in (
        ("drds=on", "MySQL", "mysql-8.0", r"shop_[a-z]{4}_000\d[.]customers_[a-z]{4}_\d\d"),
        ("source_type=DRDS", "DRDS", "mysql-8.0", "shop[.]customers"),
        ("source_type=PPAS", "PPAS", "postgresql-16", "shop[.]customers"),
    ):
        (case,) = [case for case in cases_of(source) if case.name == "insert"]
        format = f"dts-avro,{options}"
        (told,) = ask(sdk, [message.value or b"" for message in messages_of(format, source, block_of(case))])
        assert told["source"] == type
        assert re.fullmatch(tables, f"{told['database']}.{told['table']}"), told
        assert told["after"][0] == ["INTEGER_NUMERIC", "1001"]


def test_texts_in_other_character_sets(sdk: Reader) -> None:
    sets = {"latin1": "é", "gbk": "中文", "utf8": "é中", "ucs2": "中", "sjis": "日本", "euckr": "한", "big5": "中"}
    columns = {"id": "int", **{name: f"varchar(9) character set {name}" for name in sets}}
    batch = batch_of(table_of("t", columns, ["id"]), INSERT, [["1", *sets.values()]])
    (told,) = ask(sdk, encoded(codec_of("dts-avro", "mysql-5.7"), batch))
    assert told["after"][1:] == [["STRING", text] for text in sets.values()]


def test_the_sdk_does_not_know_utf8mb3(sdk: Reader) -> None:
    """What MySQL calls utf8 from 8.0.28 on: the SDK prints such a text as its bytes."""
    batch = batch_of(table_of("t", {"id": "int", "v": "varchar(9) character set utf8"}, ["id"]), INSERT, [["1", "é中"]])
    (told,) = ask(sdk, encoded(codec_of("dts-avro", "mysql-8.0"), batch))
    assert told["after"][1] == ["STRING", "utf8mb3_'C3A9E4B8AD'"]


def test_dates_and_times_as_the_sdk_prints_them(sdk: Reader) -> None:
    (case,) = [case for case in cases_of("mysql-8.0") if case.name == "dates and times"]
    records = [message.value or b"" for message in messages_of("dts-avro", "mysql-8.0", block_of(case))]
    first, *_ = ask(sdk, records)
    assert [value[1] for value in first["after"][1:]] == [
        "2024-02-29",
        "2024-02-29 12:34:56.0",
        "2024-02-29 12:34:56.789",
        "2024-02-29 12:34:56.789123",
        "2024-02-29 12:34:56.0",
        "2024-02-29 12:34:56.789123",
        "12:34:56.0",
        "12:34:56.789",
    ]


@pytest.mark.parametrize("source", ["oracle-21c", "sqlserver-2022"])
def test_nanoseconds_are_too_many_for_it(sdk: Reader, source: str) -> None:
    """It multiplies what is already nanoseconds, so that microseconds are the default."""
    answers = ask(sdk, values("dts-avro,oracle_frac=ns", source))
    failed = [answer for answer in answers if isinstance(answer, str)]
    assert failed
    assert all("StringIndexOutOfBounds" in answer for answer in failed), failed


def test_a_record_with_a_byte_too_few_is_an_error(sdk: Reader) -> None:
    record = values("dts-avro,schema_variant=A", "mysql-8.0")[0]
    assert isinstance(ask(sdk, [record[:-1]])[0], str)
