"""The list of formats that needs no import is what the formats say."""

from __future__ import annotations

import json

import pytest

from simulator.formats import FORMATS, find, listing
from simulator.formats.documents import members_of


def test_the_list_is_made_of_the_formats(request: pytest.FixtureRequest) -> None:
    rows = [listing.row(find(name)) for name in FORMATS]
    text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    if request.config.getoption("--update-goldens"):
        listing.FILE.write_text(text, encoding="utf-8")
    assert listing.FILE.read_text("utf-8") == text, "run pytest tests/formats/test_listing.py --update-goldens"
    assert [row["id"] for row in listing.listed()] == sorted(FORMATS)


# Members and options that no page, message or code of the product or its users says, or not wholly; "(partition)" is
# the text and the hash behind the partition of a row.
DECIDED = {
    "drs-json": ["sqlType", "(partition)", "(topic)", "sync_ddl"],
    "drs-avro": ["fields", "(partition)"],
    "dts-avro": ["sourcePosition", "sourceTxid", "fields", "(partition)", "split_on_key_update", "oracle_frac"],
    "dts-canal-json": ["mysqlType", "sqlType", "(partition)", "(topic)"],
    "dts-shareplex-json": ["split_on_key_update", "meta.trans", "(partition)"],
    "cloudcanal-json": ["data", "jdbcType", "pks", "batch_rows", "(partition)"],
    "cloudcanal-canal-json": ["data", "sqlType", "pkNames", "batch_rows", "(partition)"],
    "cloudcanal-debezium": ["after", "source.gtid", "source.txId", "(partition)"],
    "cloudcanal-dts-avro": ["gtid", "oracle_frac", "(partition)"],
    "oms-default": [
        "allMetaData.checkpoint",
        "allMetaData.timestamp",
        "ob_lob_nulls",
        "split_key_update",
        "(partition)",
    ],
    "oms-dataworks": ["payload.op", "schema.column", "payload.timestamp.checkpointTime", "(partition)"],
    "oms-shareplex": ["transaction_enabled", "(partition)", "(topic)"],
}
# Of these, what a page, a printed message or code of the product says.
PUBLISHED = {
    "canal-json": ["(partition)", "data", "es"],
    "drs-json": ["mysqlType", "es", "isDdl"],
    "dts-canal-json": ["es", "isDdl", "ts"],
    "oms-default": ["allMetaData.record_primary_value", "recordType", "legacy_types"],
    "cloudcanal-debezium": ["op", "source.connector"],
}


@pytest.mark.parametrize(("table", "decided"), [(DECIDED, True), (PUBLISHED, False)])
def test_what_is_decided_here_is_marked(table: dict[str, list[str]], decided: bool) -> None:
    """`cdcsim formats ID` shows the marks."""
    wrong = []
    for format, names in table.items():
        marks = {name: member.decided for name, member in members_of(find(format)).items()}
        marks |= {option.name: option.decided for option in find(format).options}
        wrong += [(format, name) for name in names if marks[name] is not decided]
    assert not wrong
