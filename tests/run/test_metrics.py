"""The counters of a run, read over HTTP while it lasts."""

from __future__ import annotations

import re
from urllib.request import urlopen

import pytest

from simulator.errors import OptionError
from simulator.run.job import open_job
from simulator.run.metrics import parse_address, served
from simulator.run.plan import Limits
from simulator.run.record import Latencies
from simulator.run.session import local_run
from simulator.sinks import open_sink


def test_counters() -> None:
    latencies = Latencies()
    with open_sink("memory:?partitions=2") as sink:
        sink.ledger.latencies = latencies
        run = local_run(open_job("crud", "canal-json"), sink, limits=Limits(changes=500))
        with served(("127.0.0.1", 0), run, latencies) as port:
            run()
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=120) as answer:
                text = answer.read().decode()
    found = dict(line.split(" ") for line in text.splitlines() if not line.startswith("#"))
    assert int(found["cdcsim_messages_delivered_total"]) == int(found["cdcsim_messages_sent_total"]) == 500
    assert found["cdcsim_row_changes_delivered_total"] == "500"
    assert (found["cdcsim_messages_failed_total"], found["cdcsim_messages_open"]) == ("0", "0")
    assert (
        0
        < float(found['cdcsim_latency_seconds{quantile="0.5"}'])
        <= float(found['cdcsim_latency_seconds{quantile="1"}'])
    )
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
    assert {re.sub(r"\{.*", "", name) for name in found} <= names


@pytest.mark.parametrize("text", ["9100", "host", "host:99999", "a b:1", ":9100"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(OptionError, match="write a host and a port"):
        parse_address(text)


def test_percentiles_are_those_of_a_sorted_list() -> None:
    import numpy as np

    latencies = Latencies()
    seconds = np.arange(1, 10_001) / 1000
    for part in np.array_split(seconds, 7):
        latencies(part)
    found = latencies.percentiles()
    for percent in (50, 90, 99):
        assert found[f"p{percent}"] == pytest.approx(percent * 100, rel=0.05)
    assert found["max"] == 10_000
