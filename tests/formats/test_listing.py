"""The list of formats that needs no import is what the formats say."""

from __future__ import annotations

import json

import pytest

from simulator.formats import FORMATS, find, listing


def test_the_list_is_made_of_the_formats(request: pytest.FixtureRequest) -> None:
    rows = [listing.row(find(name)) for name in FORMATS]
    text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    if request.config.getoption("--update-goldens"):
        listing.FILE.write_text(text, encoding="utf-8")
    assert listing.FILE.read_text("utf-8") == text, "run pytest tests/formats/test_listing.py --update-goldens"
    assert [row["id"] for row in listing.listed()] == sorted(FORMATS)
