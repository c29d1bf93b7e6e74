"""The pytest plugin as a user has it: the README's example passes, wrong consumers fail with words that help."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, environment

# By name, so that it is the same whether or not the package is installed with its entry point.
OPTIONS = ["-p", "no:cdcsim", "-p", "simulator.pytest_plugin", "-p", "no:cacheprovider"]
END = "--- end of run ---\n"

TASKS = (ROOT / "simulator" / "cli" / "README.md").read_text("utf-8")
EXAMPLE = re.findall(r"```python\n(# test_\w+\.py\n.*?)```", TASKS, re.DOTALL)

TESTS = """
import json

import pytest

SMALL = {"tables.customers.rows": 50, "lifecycles.product.slots": 50, "lifecycles.order.slots": 300}
ORDERS = pytest.mark.cdc("orders", "canal-json", limit=200, seed=7, settings=SMALL)


@ORDERS
def test_rows_that_differ(cdc):
    rows = [dict(row) for row in cdc.expected["shop.orders"]]
    rows[3]["status"] = "x"
    del rows[5]
    cdc.assert_rows("shop.orders", [*rows, {"id": 9}])


@ORDERS
def test_values_of_python_are_right_too(cdc):
    typed = cdc("orders", "canal-json", limit=200, seed=7, settings=SMALL, typed=True).expected
    cdc.assert_rows("shop.orders", typed["shop.orders"])
    cdc.assert_rows("shop.orders", [{**row, "total": row["total"] + "0"} for row in cdc.expected["shop.orders"]])


def test_changes_are_those_of_the_messages(cdc):
    deletes = [change.before["id"] for change in cdc.changes if change.kind.name == "DELETE"]
    sent = [json.loads(value) for value in cdc.values]
    assert deletes == [row["id"] for value in sent if value["type"] == "DELETE" for row in value["data"]] != []


@ORDERS
def test_kafka(cdc_kafka):
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": cdc_kafka.bootstrap_servers, "group.id": "mine"})
    consumer.assign([TopicPartition(cdc_kafka.topic, partition, 0) for partition in range(4)])
    got = [consumer.poll(60) for _ in cdc_kafka.messages]
    assert sorted((m.partition(), m.value()) for m in got) == sorted((m.partition, m.value) for m in cdc_kafka.messages)
    consumer.close()


def test_topics_by_table(cdc_kafka):
    assert cdc_kafka("orders", "dts-canal-json", topic="{database}.{table}").topics[0] == "shop.coupons"


@pytest.mark.cdc("crud", "canal-json", limit=40_000)
def test_more_than_the_broker_keeps(cdc_kafka):
    pass


def test_golden(cdc, cdc_golden):
    cdc_golden([json.loads(value)["type"] for value in cdc.values])


@pytest.mark.cdc("ordesr")
def test_no_such_scenario(cdc):
    pass


@pytest.mark.cdc("crud", limt=5)
def test_no_such_option(cdc):
    pass


@pytest.mark.cdc("crud", "canal-json", 5)
def test_an_option_without_its_name(cdc):
    pass
"""


def pytest_in(folder: Path, *runs: list[str]) -> list[str]:
    """What pytest prints with each of these lists of arguments, one run after the other in one process."""
    program = f"import pytest\nfor run in {runs}:\n    pytest.main([*{OPTIONS}, *run])\n    print({END!r})"
    # other plugins that are installed here are no concern of it
    alone = {**environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=alone, capture_output=True, text=True, timeout=900, check=True
    )
    return done.stdout.split(END)[:-1]


def test_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDCSIM_KAFKA", raising=False)
    (example,) = EXAMPLE
    (tmp_path / "test_readme.py").write_text(example)
    (tmp_path / "test_mine.py").write_text(TESTS)
    golden = tmp_path / "goldens" / "test_mine" / "test_golden.txt"
    golden.parent.mkdir(parents=True)
    golden.write_text('[\n  "CREATE"\n]\n')

    out, updated = pytest_in(tmp_path, ["-q"], ["-q", "test_mine.py::test_golden", "--cdc-update"])
    assert re.search(r"2 failed, \d+ passed, 4 errors", out), out
    assert re.search(r"shop\.orders: 3 rows are not as expected, of \d+\.", out)
    assert re.search(r"id=\d+: status is 'x', expected '\w+'\n.*last change: UPDATE at turn \d", out)
    assert re.search(r"id=\d+: missing: \{'id'", out)
    assert "id=9: not expected: {'id': 9}" in out
    assert "goldens/test_mine/test_golden.txt differs; if this is right: pytest 'test_mine.py::test_golden'" in out
    assert re.search(r'^E +-  "CREATE"$', out, re.MULTILINE)
    assert "no scenario 'ordesr'. Did you mean 'orders'?" in out
    assert "simulate has no option 'limt'. Did you mean 'limit'?" in out
    assert "the marker cdc takes a scenario, a format, and options by their names, not 5." in out
    assert re.search(
        r"keeps 5 MiB of a partition and dropped [\d,]+ messages: take a smaller limit or smaller tables", out
    )
    assert "Traceback" not in out

    assert "1 passed" in updated, updated
    assert '"UPDATE"' in golden.read_text()


def test_pytest_starts_without_the_simulator() -> None:
    program = (
        "import sys, pytest, simulator.pytest_plugin\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'numpy', 'pyarrow', 'pydantic', 'yaml', 'faker', 'orjson', 'confluent_kafka'}, loaded\n"
        "assert 'simulator.library' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True, timeout=600)
