"""Decoders as people use them: what changes carry is what is declared, bytes that are no message are one sentence."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import pytest
from command import ROOT

import simulator
from simulator.formats import FORMATS
from simulator.model import ROW_KINDS, Message
from simulator.truth.decoders import DECODERS, find
from simulator.truth.decoders.change import MEMBERS, Change
from simulator.truth.losses import table

PAGE: Final = ROOT / "simulator" / "truth" / "README.md"
BETWEEN: Final = re.compile(r"(?<=<!-- losses -->\n).*(?=<!-- end -->)", re.DOTALL)


@cache
def messages(format: str) -> list[Message]:
    return [each for each in simulator.messages("tour", format, snapshot=False) if each.kind in ROW_KINDS]


def test_every_format_has_a_decoder() -> None:
    assert list(DECODERS) == list(FORMATS)


def test_the_table_is_made_of_the_decoders(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text("utf-8")
    made = BETWEEN.sub(lambda _: table(), text)
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(made, encoding="utf-8")
    assert text == made, "run pytest tests/truth/test_decoders.py --update-goldens, and read simulator/truth/README.md"


@pytest.mark.parametrize("format", FORMATS)
def test_changes_carry_what_is_declared(format: str) -> None:
    """Members that are declared are in every change, the others in none."""
    changes = [change for each in messages(format) if each.value for change in simulator.decode(format, each.value)]
    assert len(changes) >= sum(each.value is not None for each in messages(format)) > 10
    for change in changes:
        assert isinstance(change, Change)
        carried = {name for name in MEMBERS if getattr(change, name) is not None}
        assert find(format).carries <= carried <= find(format).carries | find(format).by_source, change
        assert change.lost == find(format).lost
        for image in (change.before, change.after):
            assert all(isinstance(value, str | bytes | dict | None) for value in (image or {}).values())


@pytest.mark.parametrize("format", ["dts-avro", "cloudcanal-debezium", "cloudcanal-dts-avro"])
def test_changes_of_oracle_carry_their_transaction(format: str) -> None:
    (message,) = simulator.messages("crud", format, source="oracle", limit=1)
    (change,) = simulator.decode(format, message.value or b"")
    assert isinstance(change, Change)
    assert change.transaction is not None


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("broken", [b"", b"{}", b"[1]", b"null", b"\x00", b"\xff\xfe", b'{"type":"INSERT","data":[]}'])
def test_other_bytes_are_one_sentence(format: str, broken: bytes) -> None:
    with pytest.raises(simulator.UsageError, match=rf"^these \d+ bytes are no message of {format}: ") as error:
        simulator.decode(format, broken)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("format", FORMATS)
def test_a_message_that_is_cut_is_none(format: str) -> None:
    value = messages(format)[0].value
    assert value is not None
    for size in (len(value) - 1, len(value) // 2, 11):
        with pytest.raises(simulator.UsageError, match="are no message of"):
            simulator.decode(format, value[:size])


def test_members_of_a_record_are_texts() -> None:
    value = next(each.value for each in messages("dts-avro") if each.kind.name == "UPDATE")
    (change,) = simulator.decode("dts-avro", value or b"")
    assert isinstance(change, Change)
    assert change.before is not None
    assert dict(change.before) == {
        "id": "3", "name": "Linus", "email": "linus@example.com", "balance": "12.30", "vip": "0",
        "note": "likes penguins", "joined": "2024-05-01", "seen_at": "2024-05-01 09:59:59.123",
    }  # fmt: skip
    assert (change.table, change.database, change.key) == ("customers", "shop", frozenset({"id"}))
    assert change.event_ms == 1_714_557_603_000
