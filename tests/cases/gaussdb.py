"""The named changes on GaussDB's types: PostgreSQL's, and those of the types that GaussDB adds."""

from __future__ import annotations

from typing import Final

from building import Case, Rows, table_of

from cases import Samples
from cases.postgresql import MORE, samples_for
from simulator.model import INSERT, UPDATE
from simulator.sources import find

GAUSSDB: Final = find("gaussdb")

ADDED: Final = table_of(
    "added",
    {
        "id": "integer",
        "ti": "tinyint",
        "tu": "tinyint unsigned",
        "su": "smallint unsigned",
        "iu": "integer unsigned",
        "bu": "bigint unsigned",
        "nu": "number(10,2)",
        "nv": "nvarchar2(20)",
        "cl": "clob",
        "ra": "raw",
        "bl": "blob",
        "sd": "smalldatetime",
    },
    ["id"],
    source="gaussdb",
)
_LOW: Final = ["1", "0", "0", "0", "0", "0", "-99999999.99", "", "", "", "", "1970-01-01 00:00:00"]
_HIGH: Final = [
    "2",
    "255",
    "255",
    "65535",
    "4294967295",
    "18446744073709551615",
    "99999999.99",
    "hé中😀",
    "lo\nng",
    "DEADBEEF",
    "00ff10",
    "2024-02-29 12:34:30",
]
_NULLS: Final = ["3", *[None] * 11]

_SHARED: Final = samples_for("gaussdb", GAUSSDB.types, [*MORE, "number(10,2)", "varchar2(20)", "nvarchar2(20)"])
_ADDED_CASES: Final = [
    Case(
        "types that GaussDB adds",
        (Rows(INSERT, ADDED, [_LOW, _HIGH, _NULLS], statements=[0, 1, 2]),),
        source="gaussdb",
    ),
    Case("update of types that GaussDB adds", (Rows(UPDATE, ADDED, [_LOW], [["1", *_HIGH[1:]]]),), source="gaussdb"),
]
SAMPLES: Final = Samples(
    cases=[*_SHARED.cases, *_ADDED_CASES],
    types=_SHARED.types,
    plain=_SHARED.plain,
    large=[*_SHARED.large, "clob", "blob"],
    options=_SHARED.options,
)
