"""The fifteen samples of OMS's page, written by our formats from the rows they show, byte for byte.

`samples/oms-3.3.1.txt` has them as printed ("Data formats", OMS Community Edition V3.3.1), but for white space. They
were made of rows whose columns are named after Java types; an editor renamed the columns of most maps to col1, col2 ….
All corrections stand below; each makes the page agree with itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from building import codec_of

from simulator.batch import ChangeBatch, Envelope
from simulator.delivery.pack import Packing, cut
from simulator.formats.oms import canal_json as oms_canal_json
from simulator.formats.oms import dataworks as oms_dataworks
from simulator.formats.oms import default as oms_default
from simulator.formats.oms import default_extend_column_type as oms_default_extend_column_type
from simulator.formats.oms import shareplex as oms_shareplex
from simulator.formats.oms.types.classes import CLASSES, ValueStyle
from simulator.formats.oms.types.columns import Columns, OmsType, types_of
from simulator.model import ABSENT, DELETE, INSERT, UPDATE, Column, ColumnType, Kind, Table, TableId
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import JACKSON, quote
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Field, Members, Order, table_order

PRINTED: Final = Path(__file__).parents[1] / "samples" / "oms-3.3.1.txt"
SOURCE: Final = "oceanbase-mysql-4.3"

# ------------------------------------------------------------------------------------------------------------ the page


def words(text: str) -> list[str]:
    return text.split()


# The columns that col1, col2 … stand for.
DEFAULT: Final = words(
    "int8 int16 int32 int64 bigInt float32 float64 string bytes decimal localDate localTime localDateTime "
    "timestamp_in_long"
)
CANAL: Final = words(
    "localDateTime string float32 float64 int16 localTime int32 int64 bytes int8 localDate decimal bigInt timestamp"
)
SHAREPLEX: Final = words(
    "localDateTime string intervalDayToSecond float32 float64 int16 localTime boolean zonedDateTime int32 int64 bytes "
    "intervalYearToMonth int8 localDate decimal bigInt timestamp"
)
DATAWORKS: Final = words(
    "int8 int16 int32 int64 float32 float64 bigInt boolean string bytes decimal localDate localTime localDateTime "
    "timestamp zonedDateTime intervalDayToSecond intervalYearToMonth"
)
NAMES: Final = {
    "oms-default": DEFAULT,
    "oms-default-extend-column-type": DEFAULT,
    "oms-canal-json": CANAL,
    "oms-dataworks": DATAWORKS,
    "oms-shareplex": SHAREPLEX,
}

# A double and a decimal: the very number that the double 1e-307 is.
NUMBER: Final = Decimal.from_float(1e-307)


class Raw(str):
    """A JSON number as it is printed."""


def compact(value: Any) -> str:
    """JSON without blanks, numbers as they were read."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(k, JACKSON)}:{compact(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return quote(value, JACKSON) if isinstance(value, str) else json.dumps(value)


def printed(format: str, kind: Kind) -> Any:
    text = PRINTED.read_text(encoding="utf-8").split(f"--- {format} {kind.name}\n")[1].split("\n")[0]
    # commas behind the last member
    return json.loads(re.sub(r",([}\]])", r"\1", text), parse_int=Raw, parse_float=Raw)


def corrected(format: str, kind: Kind) -> str:
    """The sample with the page's slips mended."""
    names = NAMES[format]

    def named(row: Any) -> Any:
        if row is None:
            return None
        # "col16" between col5 and col7 of a Default row is col6
        row = {"col6" if name == "col16" and "col6" not in row else name: value for name, value in row.items()}
        return {names[int(n[3:]) - 1] if re.fullmatch(r"col\d+", n) else n: value for n, value in row.items()}

    message = printed(format, kind)
    match format:
        case "oms-default" | "oms-default-extend-column-type":
            for image in ("prevStruct", "postStruct"):
                message[image] = row = named(message[image])
                if row is not None and format == "oms-default":
                    # cut short on the page; in full in the samples of the other formats
                    row["float64"] = row["decimal"] = Raw(NUMBER)
        case "oms-canal-json":
            for member in ("sqlType", "mysqlType"):
                message[member] = named(message[member])
            for member in ("data", "old"):
                message[member] = message[member] and [named(row) for row in message[member]]
            message["pkNames"] = ["int8", "int16"]
        case "oms-dataworks":
            for image in ("before", "after"):
                if message["payload"][image]:
                    message["payload"][image]["data"] = named(message["payload"][image]["data"])
            message["schema"]["pk"] = ["pkName1", "pkName2"]
        case "oms-shareplex":
            for member in ("data", "key"):
                if member in message:
                    message[member] = named(message[member])
            message["meta"]["rowid"] = "mock_database.mock_table-3\x01129"
    return compact(message)


# ------------------------------------------------------------------------------------------------------------- the row

ZONED: Final = "2020-11-25 00:01:02.012345 Asia/Shanghai"
LOCAL: Final = np.datetime64("2020-11-25T00:01:02", "us").astype(np.int64)


def of_mysql(typed: str, **others: Any) -> OmsType:
    """A type of the table, but for what differs."""
    return replace(types_of("mysql")[typed], **others)


# Columns by name: their types, which are real ones but for a few names, and their value.
COLUMNS: Final[Mapping[str, tuple[OmsType, pa.Array]]] = {
    "int8": (of_mysql("tinyint"), pa.array([3])),
    "int16": (of_mysql("smallint"), pa.array([129])),
    "int32": (of_mysql("int"), pa.array([2147483646])),
    "int64": (of_mysql("bigint", name="INT64"), pa.array([9223372036854775806])),
    "bigInt": (of_mysql("bigint"), pa.array([10223372036854775806], pa.uint64())),
    "float32": (of_mysql("float"), pa.array([1.2222], pa.float32())),
    # a BigDecimal that was never rounded to 16 digits
    "float64": (of_mysql("decimal", name="DOUBLE", code=8), pa.array([format(NUMBER, "f")])),
    "decimal": (of_mysql("decimal"), pa.array([format(NUMBER, "f")])),
    "boolean": (OmsType(CLASSES["Long"], "BOOLEAN", 16), pa.array([True])),
    "string": (of_mysql("varchar"), pa.array(["hello world"])),
    "bytes": (of_mysql("blob"), pa.array([b"hello world"])),
    "localDate": (of_mysql("date"), pa.array([18591], pa.int32()).cast(pa.date32())),
    "localTime": (of_mysql("time"), pa.array([62_000_000]).cast(pa.duration("us"))),
    "localDateTime": (of_mysql("datetime"), pa.array([int(LOCAL)]).cast(pa.timestamp("us"))),
    "timestamp": (of_mysql("timestamp"), pa.array([1606233662_012345]).cast(pa.timestamp("us"))),
    "zonedDateTime": (types_of("oracle")["timestamp with time zone"], pa.array([ZONED])),
    "intervalDayToSecond": (types_of("oracle")["interval day to second"], pa.array(["+03 00:00:00.000000"])),
    "intervalYearToMonth": (types_of("oracle")["interval year to month"], pa.array(["+04-00"])),
}


def base(name: str) -> str:
    return name.removesuffix("_in_long")


def type_of(type: ColumnType) -> OmsType:
    return COLUMNS[base(type.name)][0]


@dataclass(frozen=True)
class Sample:
    """What a format's samples were written with: its layout, options, table, and members that a test's row lacks."""

    layout: Any
    options: str
    table: str
    overrides: Mapping[str, Any]
    times: Mapping[Kind, tuple[int, int]]  # of the change and of writing it, epoch milliseconds
    order: Order = table_order
    plain: bool = False
    seq_size: tuple[int, int] = (1, 1)


NEVER: Final = {"checkpoint": None, "source_identity": None, "uniqueId": ABSENT}
DEFAULT_OPTIONS: Final = "db_type=OCEANBASE,include_tenant_in_db=off,sequence_enabled=off"
DEFAULT_TIMES: Final = dict.fromkeys((INSERT, UPDATE, DELETE), (1609344671000, 0))
SAMPLES: Final = {
    "oms-default": Sample(oms_default.layout, DEFAULT_OPTIONS, "db_name.table_name", NEVER, DEFAULT_TIMES),
    "oms-default-extend-column-type": Sample(
        oms_default_extend_column_type.layout, DEFAULT_OPTIONS, "database.table", NEVER, DEFAULT_TIMES
    ),
    "oms-canal-json": Sample(
        oms_canal_json.layout,
        "canal_full_type=ROW",
        "database.table",
        {},
        {
            INSERT: (1609344671000, 1618323429026),
            UPDATE: (1609344671000, 1618364572908),
            DELETE: (1609344671000, 1618364660278),
        },
        hash_order,
    ),
    "oms-dataworks": Sample(
        oms_dataworks.layout,
        "sequence_enabled=off,business_name=test",
        "db.tab",
        {"pk": ["pkName1", "pkName2"]},
        {
            INSERT: (1647581000000, 1647581000795),
            UPDATE: (1647581038000, 1647581038674),
            DELETE: (1647581072000, 1647581072976),
        },
        plain=True,
    ),
    "oms-shareplex": Sample(
        oms_shareplex.layout,
        "transaction_enabled=on",
        "mock_database.mock_table",
        {"trans": "shareplex_transaction_id", "scn": "123456789"},
        {
            # 2020-11-25T00:01:02 +08:00, and the times of writing
            INSERT: (1606233662000, 1607318520000),
            UPDATE: (1606233662000, 1607320749000),
            DELETE: (1606233662000, 1607319250000),
        },
        hash_order,
        seq_size=(1, 10),
    ),
}


def overridden(fields: tuple[Field, ...], values: Mapping[str, Any]) -> tuple[Field, ...]:
    """Fields with others' values put in, however deep they stand."""

    def inside(value: Any) -> Any:
        if isinstance(value, Members):
            return Members(overridden(value.fields, values))
        if isinstance(value, Mapping):
            return {key: inside(each) for key, each in value.items()}
        return value

    return tuple(Field(f.name, values[f.name] if f.name in values else inside(f.value)) for f in fields)


def written(format: str, kind: Kind) -> str:
    sample = SAMPLES[format]
    codec = codec_of(f"{format},{sample.options}", SOURCE)
    columns = Columns(type_of, ValueStyle(plain=sample.plain))
    # maps are in the order of their keys' hashes, lists of columns in the table's
    names = NAMES[format] if NAMES[format] is DEFAULT else [name for name in DATAWORKS if name in NAMES[format]]
    database, _, name = sample.table.partition(".")
    table = Table(TableId(database, name), tuple(Column(n, ColumnType(n)) for n in names), ("int8", "int16"))
    image = tuple(COLUMNS[base(n)][1] for n in names)
    new = tuple(pa.array(["hello world 2020"]) if n == "string" else a for n, a in zip(names, image, strict=True))
    numbers = {name: np.array([1]) for name in Envelope.ARRAYS}
    numbers |= {n: np.array([v]) for n, v in zip(("event_ms", "write_ms"), sample.times[kind], strict=True)}
    numbers |= {n: np.array([v]) for n, v in zip(("seq", "size"), sample.seq_size, strict=True)}
    before, after = {INSERT: (None, image), UPDATE: (image, new), DELETE: (image, None)}[kind]
    batch = ChangeBatch(table, kind, Envelope(phase=1, **numbers), after, before)
    fields = sample.layout(codec.settings, columns).writer.values.fields
    encoder = Encoder(overridden(fields, sample.overrides), columns.cell, JACKSON, sample.order)
    packed = cut(batch, Packing().events(batch), topic="t", partition=None, key=None)
    (message,) = encoder.encode(packed).to_pylist()
    return str(message)


@pytest.mark.parametrize("kind", [INSERT, UPDATE, DELETE], ids=lambda kind: kind.name)
@pytest.mark.parametrize("format", SAMPLES)
def test_sample(format: str, kind: Kind) -> None:
    assert written(format, kind) == corrected(format, kind)
