"""Exact bytes of every case in every format: a file for each format, options and source, with its own list of cases.

    --- format
    canal-json,gtid=on
    --- source
    mysql-8.0
    --- cases
    all
    --- case
    update one column
    --- from
    captured: 1.1.8-mysql8.0.31-operations, line 9; es, id and ts are ours
    --- key
    (none)
    --- value
    {"data":[…

Files are `goldens/FORMAT/NAME.txt`. `cases` is there where a file holds all cases of its source; without it, a file has
those it names, which its options change. `log` is there where the source's log lacks columns of rows: the setting of
its server. Values of binary formats, and keys that are made like them, stand there in hex, values with a `view`: the
value decoded, for the eye; the hex decides. `from` is `captured` (a file of `captures/`, or a product and its version),
`documented` (page and date) or `derived` (from what). A case has several messages, or `--- nothing` where the product
sends none.

`--update-goldens` writes keys, values and views anew and keeps `from`; a new case gets `from: ?`, which fails until
somebody has read it and said. A new file needs its head and the names of its cases (`--- case`), no more.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from building import block_of, codec_of, messages_of
from cases import case_of, samples_of
from decoded_comparison import problems_of

from simulator.formats import FORMATS, find
from simulator.model import Message
from simulator.truth.decoders import parse

HERE: Final = Path(__file__).parents[1]
GOLDENS: Final = HERE / "goldens"
PATHS: Final = sorted(GOLDENS.glob("*/*.txt"))

# -------------------------------------------------------------------------------------------------------------- files


@dataclass(frozen=True)
class Golden:
    """A message: its key, its value as it stands in the file, and the value's view where the value is hex."""

    key: bytes | None
    value: bytes | None
    view: bytes | None = None


@dataclass
class GoldenCase:
    """A case of a file: where its bytes are known from, and its messages."""

    source: str = "?"
    messages: list[Golden] = field(default_factory=list)


@dataclass
class GoldenFile:
    """What a file's head says, and its cases by name."""

    format: str = ""
    source: str = ""
    log: str = ""
    whole: bool = False
    cases: dict[str, GoldenCase] = field(default_factory=dict)


def read(path: Path) -> GoldenFile:
    """A file. Lines end at 0x0A only: old versions write other control characters raw."""
    file, case, key = GoldenFile(), GoldenCase(), None
    for section, text in re.findall(rb"^--- (.+)\n((?:(?!--- ).*\n)*)", path.read_bytes(), re.MULTILINE):
        text = text.removesuffix(b"\n")
        match section:
            case b"format":
                file.format = text.decode()
            case b"source":
                file.source = text.decode()
            case b"log":
                file.log = text.decode()
            case b"cases":
                file.whole = text == b"all"
            case b"case":
                case = GoldenCase()
                assert file.cases.setdefault(text.decode(), case) is case, (
                    f"{path}: {text.decode()!r} stands there twice"
                )
            case b"from":
                case.source = text.decode()
            case b"key":
                key = None if text == b"(none)" else text
            case b"value":
                case.messages.append(Golden(key, None if text == b"(none)" else text))
            case b"view":
                case.messages[-1] = Golden(key, case.messages[-1].value, text)
            case _:
                assert section == b"nothing", f"{path}: no section {section!r}"
    return file


def text_of(file: GoldenFile) -> bytes:
    sections = [("format", file.format.encode()), ("source", file.source.encode())]
    if file.log:
        sections.append(("log", file.log.encode()))
    if file.whole:
        sections.append(("cases", b"all"))
    for name, case in file.cases.items():
        sections += [("case", name.encode()), ("from", case.source.encode())]
        for golden in case.messages:
            sections += [
                (name, b"(none)" if part is None else part)
                for name, part in (("key", golden.key), ("value", golden.value))
            ]
            if golden.view is not None:
                sections.append(("view", golden.view))
        if not case.messages:
            sections.append(("nothing", b""))
    return b"".join(b"--- %b\n%b" % (name.encode(), text and text + b"\n") for name, text in sections)


def view(format: str, value: bytes) -> bytes:
    """A binary value decoded: a line for each member."""
    document: dict[str, Any] = parse(format, value)
    dump = json.JSONEncoder(ensure_ascii=False, default=lambda data: {"hex": data.hex()}).encode
    return ("{" + ",".join(f"\n  {dump(name)}: {dump(part)}" for name, part in document.items()) + "\n}").encode()


def made(format: str, source: str, name: str) -> list[Golden]:
    """The messages of a case."""
    return goldens(format, messages_of(format, source, block_of(case_of(name, source, format))))


def goldens(format: str, messages: Sequence[Message]) -> list[Golden]:
    declared = find(format.partition(",")[0])
    binary, container = declared.binary, codec_of(declared.id, declared.source).layout.container
    keys = container is not None and container.keys

    def golden(message: Message) -> Golden:
        key = message.key.hex().encode() if message.key is not None and keys else message.key
        if message.value is None or not binary:
            return Golden(key, message.value)
        return Golden(key, message.value.hex().encode(), view(format, message.value))

    return [golden(message) for message in messages]


# -------------------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(path: Path, request: pytest.FixtureRequest) -> None:
    file = read(path)
    names = [case.name for case in samples_of(file.source).cases] if file.whole else list(file.cases)
    actual, problems = {}, []
    for name in names:
        block = block_of(case_of(name, file.source, file.format), log=file.log)
        messages = messages_of(file.format, file.source, block)
        actual[name] = goldens(file.format, messages)
        if file.whole:
            problems += [f"{name}, {each}" for each in problems_of(file.format, file.source, block, messages)]
    assert not problems, "\n".join(["decoded, the messages are not the changes that they were made of:", *problems])
    if request.config.getoption("update_goldens"):
        file.cases = {name: file.cases.get(name, GoldenCase()) for name in names}
        for name, messages in actual.items():
            file.cases[name].messages = messages
        path.write_bytes(text_of(file))
    where, accept = path.relative_to(HERE.parent), f'pytest "{request.node.nodeid}" --update-goldens'
    if list(file.cases) != names:
        odd = sorted(set(names) ^ set(file.cases)) or "another order"
        pytest.fail(f"{where} has not the cases of {file.source}: {odd}. Write them with: {accept}", pytrace=False)
    differing = [name for name in names if file.cases[name].messages != actual[name]]
    if differing:
        texts = [
            f"{name!r}\nexpected, {len(file.cases[name].messages)} messages:\n{shown(file.cases[name].messages)}\n"
            f"actual, {len(actual[name])} messages:\n{shown(actual[name])}"
            for name in differing
        ]
        pytest.fail(
            "\n".join([f"{where}: {len(differing)} of {len(names)} cases differ.", *texts, f"If right: {accept}"]),
            pytrace=False,
        )
    for name, case in file.cases.items():
        if not re.match(r"(captured|documented|derived): .", case.source):
            pytest.fail(
                f"{where}: {name!r}: `from` says where the bytes are known from, not {case.source!r}.", pytrace=False
            )


def shown(messages: list[Golden]) -> str:
    return "\n".join(f"{golden.key!r} {golden.view or golden.value!r}" for golden in messages)


def test_text_of_files() -> None:
    """A file stands in its format's folder, and is what would be written; its values can be read."""
    for path in PATHS:
        file = read(path)
        assert path.parent.name == file.format.partition(",")[0], path
        assert text_of(file) == path.read_bytes(), path
        for golden in [golden for case in file.cases.values() for golden in case.messages if golden.view is None]:
            if golden.value is not None:  # 1.1.6 writes control characters raw
                json.loads(golden.value, strict="1.1.6" not in file.format)


def test_every_format_has_goldens_of_all_cases() -> None:
    whole = {file.format for file in map(read, PATHS) if file.whole}
    assert {format.partition(",")[0] for format in whole} == set(FORMATS)


def test_names_fit_every_file_system() -> None:
    for path in GOLDENS.rglob("*"):
        assert re.fullmatch(r"[a-z0-9.-]{1,40}", path.name), path
    assert set(GOLDENS.rglob("*.txt")) == set(PATHS)


@cache
def capture(name: str) -> list[bytes]:
    return gzip.decompress((HERE / "captures" / "canal" / f"{name}.jsonl.gz").read_bytes()).split(b"\n")


_OURS: Final = re.compile(rb'"es":\d+|"id":\d+(?=,"isDdl")|"ts":\d+(?=,"type")')


def test_captured_goldens_are_in_the_capture() -> None:
    """`captured: FILE, line N[-M]; es, id and ts are ours`: the lines hold the same bytes but for those."""
    for name, case in ((f"{path}, {name}", case) for path in PATHS for name, case in read(path).cases.items()):
        match = re.fullmatch(r"captured: (\S+), lines? (\d+)(?:-(\d+))?; es, id and ts are ours", case.source)
        assert match or not case.source.startswith("captured"), case.source
        if match:
            lines = capture(match[1])
            theirs = lines[int(match[2]) - 1 : int(match[3] or match[2])]
            ours = [golden.value for golden in case.messages]
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
    assert made("dts-canal-json", "mysql-8.0", "the page's delete") == [Golden(None, compact(json.loads(PAGE_DELETE)))]
    assert made("dts-canal-json", "mysql-8.0", "the page's statement") == [Golden(None, compact(json.loads(PAGE_DDL)))]


def test_the_page_example_of_an_old_instance() -> None:
    """Two corrections: members stand in alphabetical order, and `old` has every column, the key too."""
    document = json.loads(PAGE_DELETE_OLD)
    document["old"] = [{"id": "500000287", **document["old"][0]}]
    corrected = compact(dict(sorted(document.items())))
    format = "dts-canal-json,images=before-2022-03-20"
    assert made(format, "mysql-8.0", "the page's delete of before 2022-03-20") == [Golden(None, corrected)]
