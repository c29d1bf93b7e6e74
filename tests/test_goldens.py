"""Exact bytes of every case in every format, in `goldens/<text of -f>/<source>.txt`.

    --- case
    update one column
    --- from
    captured: 1.1.8-mysql8.0.31-operations, line 9; es, id and ts are ours
    --- key
    (none)
    --- value
    {"data":[…

Values of binary formats stand there in hex.
`from` is `captured` (a file of `captures/`, or a product and its version), `documented` (page and date) or `derived`
(from what). A case has several messages, or `--- nothing` where the product sends none. `--update-goldens` writes keys
and values anew and keeps `from`; a new case gets `from: ?`, which fails until somebody has read it and said.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from building import Case, block_of, messages_of
from cases import cases_of
from decoding import decode
from golden_files import FILES

from simulator.formats import FORMATS, find

HERE: Final = Path(__file__).parent
GOLDENS: Final = HERE / "goldens"


def by_name(source: str, format: str | None = None) -> dict[str, Case]:
    """The cases that a source is tested with."""
    return {case.name: case for case in cases_of(source, format)}


ITEMS: Final = [
    (format, source, name) for (format, source), names in FILES.items() for name in names or list(by_name(source))
]


# -------------------------------------------------------------------------------------------------------------- files


@dataclass
class Golden:
    """A case in a file: where its bytes are known from, and (key, value) of each message; keys may be none."""

    source: str
    messages: list[tuple[bytes | None, bytes]]


def path_of(format: str, source: str) -> Path:
    # a slash cannot stand in a folder's name
    return GOLDENS / format.replace("/", "-") / f"{source}.txt"


def read(path: Path) -> dict[str, Golden]:
    """The cases of a file by name. Lines end at 0x0A only: old versions write other control characters raw."""
    found: dict[str, Golden] = {}
    golden, section, key = Golden("", []), "", None
    for line in path.read_bytes().removesuffix(b"\n").split(b"\n") if path.exists() else ():
        if line.startswith(b"--- "):
            section = line[4:].decode()
            assert section in ("case", "from", "key", "value", "nothing"), f"{path}: no section {section!r}"
        elif section == "case":
            golden = Golden("", [])
            assert found.setdefault(line.decode(), golden) is golden, f"{path}: {line.decode()!r} stands there twice"
        elif section == "from":
            golden.source = line.decode()
        elif section == "key":
            key = None if line == b"(none)" else line
        else:
            assert section == "value", f"{path}: text after {section!r}"
            golden.messages.append((key, line))
    return found


def write(path: Path, goldens: Mapping[str, Golden]) -> None:
    lines: list[bytes] = []
    for name, golden in goldens.items():
        lines += [b"--- case", name.encode(), b"--- from", golden.source.encode()]
        for key, value in golden.messages:
            lines += [b"--- key", b"(none)" if key is None else key, b"--- value", value]
        if not golden.messages:
            lines.append(b"--- nothing")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines) + b"\n")


def made(format: str, source: str, name: str) -> list[tuple[bytes | None, bytes]]:
    messages = messages_of(format, source, block_of(by_name(source, format)[name]))
    binary = find(format.partition(",")[0]).binary
    return [(m.key, (m.value or b"").hex().encode() if binary else m.value or b"") for m in messages]


# -------------------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize(("format", "source", "name"), ITEMS, ids=lambda part: part)
def test_golden(format: str, source: str, name: str, request: pytest.FixtureRequest) -> None:
    path = path_of(format, source)
    goldens, messages = read(path), made(format, source, name)
    if request.config.getoption("update_goldens"):
        goldens.setdefault(name, Golden("?", [])).messages = messages
        order = FILES[format, source] or list(by_name(source))
        write(path, {known: goldens[known] for known in order if known in goldens})
    accept = f'pytest "{request.node.nodeid}" --update-goldens'
    where = f"{path.relative_to(HERE.parent)}: {name!r}"
    if name not in goldens:
        pytest.fail(f"{where} is not there. Write it with: {accept}", pytrace=False)
    golden = goldens[name]
    if golden.messages != messages:
        expected = "\n".join(repr(value) for _, value in golden.messages)
        actual = "\n".join(repr(value) for _, value in messages)
        pytest.fail(
            f"{where} differs.\nexpected, {len(golden.messages)} messages:\n{expected}\n"
            f"actual, {len(messages)} messages:\n{actual}\nIf the new bytes are right: {accept}",
            pytrace=False,
        )
    if not re.match(r"(captured|documented|derived): .", golden.source):
        pytest.fail(f"{where}: `from` says where the bytes are known from, not {golden.source!r}.", pytrace=False)


def test_files_hold_their_cases() -> None:
    assert {path_of(*file) for file in FILES} == set(GOLDENS.rglob("*.txt")), (
        "a file without tests, or tests without one"
    )
    for file, names in FILES.items():
        assert list(read(path_of(*file))) == (names or list(by_name(file[1]))), f"{path_of(*file)} has other cases"


def test_every_format_has_goldens_of_all_cases() -> None:
    whole = {format for (format, _), names in FILES.items() if names is None}
    assert whole == set(FORMATS)


def test_values_can_be_read() -> None:
    for format, source in FILES:
        for golden in read(path_of(format, source)).values():
            for _, value in golden.messages:
                if "1.1.6" in format:  # which writes control characters raw
                    json.loads(value, strict=False)
                else:
                    binary = find(format.partition(",")[0]).binary
                    decode(format, bytes.fromhex(value.decode()) if binary else value)


_OURS: Final = re.compile(rb'"es":\d+|"id":\d+(?=,"isDdl")|"ts":\d+(?=,"type")')


@pytest.mark.parametrize(("format", "source"), FILES)
def test_captured_goldens_are_in_the_capture(format: str, source: str) -> None:
    """`captured: FILE, line N[-M]; es, id and ts are ours`: the lines hold the same bytes but for those."""
    for name, golden in read(path_of(format, source)).items():
        match = re.fullmatch(r"captured: (\S+), lines? (\d+)(?:-(\d+))?; es, id and ts are ours", golden.source)
        assert match or not golden.source.startswith("captured"), golden.source
        if match:
            lines = gzip.decompress((HERE / "captures" / "canal" / f"{match[1]}.jsonl.gz").read_bytes()).split(b"\n")
            theirs = lines[int(match[2]) - 1 : int(match[3] or match[2])]
            ours = [value for _, value in golden.messages]
            assert [_OURS.sub(b"", line) for line in theirs] == [_OURS.sub(b"", line) for line in ours], name


# ------------------------------------------------------------------------------------------------- a page's examples

# Alibaba Cloud DTS, "Data storage formats in message queues" (2026-02-07), section Canal Json: the examples as printed,
# but for white space and comments.
PAGE_DELETE_OLD: Final = """
{"old": [{"shipping_type": "aaa"}], "database": "dbname", "es": 1600161894000, "id": 58, "isDdl": false,
"mysqlType": {"id": "bigint", "shipping_type": "varchar"}, "pkNames": ["id"], "sql": "",
"sqlType": {"id": -5, "shipping_type": 12}, "table": "tablename", "ts": 1600161894771, "type": "DELETE"}
"""
PAGE_DELETE: Final = """
{"data": [{"id": "500000287", "shipping_type": null}], "database": "dbname", "es": 1600161894000, "id": 58,
"isDdl": false, "mysqlType": {"id": "bigint", "shipping_type": "varchar"}, "pkNames": ["id"], "sql": "",
"sqlType": {"id": -5, "shipping_type": 12}, "table": "tablename", "ts": 1600161894771, "type": "DELETE"}
"""
PAGE_DDL: Final = """
{"database":"dbname", "es":1600161894000, "id":58, "isDdl":true, "sql":"eg:createxxx", "table":"tablename",
"ts":1600161894771, "type":"DDL"}
"""


def compact(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def test_the_page_examples() -> None:
    assert made("dts-canal-json", "mysql-8.0", "the page's delete") == [(None, compact(json.loads(PAGE_DELETE)))]
    assert made("dts-canal-json", "mysql-8.0", "the page's statement") == [(None, compact(json.loads(PAGE_DDL)))]


def test_the_page_example_of_an_old_instance() -> None:
    """Two corrections: members stand in alphabetical order, and `old` has every column, the key too."""
    document = json.loads(PAGE_DELETE_OLD)
    document["old"] = [{"id": "500000287", **document["old"][0]}]
    corrected = compact(dict(sorted(document.items())))
    format = "dts-canal-json,images=before-2022-03-20"
    assert made(format, "mysql-8.0", "the page's delete of before 2022-03-20") == [(None, corrected)]
