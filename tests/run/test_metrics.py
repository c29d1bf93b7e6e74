"""The counters of a run, read over HTTP while it lasts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest
import yaml

from simulator.cli.progress import ON_RATE
from simulator.errors import OptionError
from simulator.run.job import open_job
from simulator.run.pacing import parse_pace
from simulator.run.pipeline import Run
from simulator.run.plan import Limits
from simulator.run.report.metrics import parse_address, served
from simulator.run.report.metrics import text as metrics_of
from simulator.run.report.record import Latencies
from simulator.run.session import local_run
from simulator.sinks import open_sink

MONITORING: Final = Path(__file__).parents[2] / "docker" / "monitoring"


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


@pytest.mark.parametrize("unit", ["row_changes", "messages", "bytes"])
def test_what_a_rate_asks_for_is_counted_in_its_unit(unit: str) -> None:
    rate = {"row_changes": "1000000/s", "messages": "1000000messages/s", "bytes": "1000MB/s"}[unit]
    with open_sink("memory:") as sink:
        run = local_run(open_job("crud", "canal-json"), sink, limits=Limits(changes=500), pace=parse_pace(rate))
        before = served_names(run)
        run()
        after = metrics_of(run, Latencies())
    assert f"cdcsim_{unit}_wanted_total" in before
    found = dict(line.split(" ") for line in after.splitlines() if not line.startswith("#"))
    assert float(found[f"cdcsim_{unit}_wanted_total"]) >= 500
    assert [name for name in found if "wanted" in name or "behind" in name] == [
        f"cdcsim_{unit}_wanted_total",
        f"cdcsim_{unit}_behind",
    ]


def served_names(run: Run) -> set[str]:
    """The metrics of a run."""
    return {line.split()[2] for line in metrics_of(run, Latencies()).splitlines() if line.startswith("# TYPE ")}


def test_the_dashboard_and_the_rules_ask_for_metrics_that_there_are() -> None:
    """Every metric that they name is one that a run serves, with some rate; so is what the rules record."""
    served = set()
    for rate in ("1000/s", "1000messages/s", "1MB/s"):
        with open_sink("memory:") as sink:
            job = open_job("crud", "canal-json")
            served |= served_names(local_run(job, sink, limits=Limits(changes=1), pace=parse_pace(rate)))
    dashboard = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [variable["query"]["query"] for variable in dashboard["templating"]["list"][1:]]
    (group,) = yaml.safe_load((MONITORING / "rules.yml").read_text("utf-8"))["groups"]
    queries += [rule["expr"] for rule in group["rules"]]
    served |= {rule["record"] for rule in group["rules"] if "record" in rule}
    named = {name for query in queries for name in re.findall(r"\bcdcsim[\w:]+", query)}
    assert named == served
    panels = dashboard["panels"]
    assert len({panel["title"] for panel in panels}) == len({panel["id"] for panel in panels}) == len(panels)
    page = (MONITORING / "README.md").read_text("utf-8")
    assert all(name in page for name in named if name.endswith(("seconds", "open")))


def test_the_rules_and_their_examples_are_about_each_other() -> None:
    """`promtool test rules` runs the examples where Prometheus is installed; here: each alert has one that fires."""
    (group,) = yaml.safe_load((MONITORING / "rules.yml").read_text("utf-8"))["groups"]
    (examples,) = yaml.safe_load((MONITORING / "rules_test.yml").read_text("utf-8"))["tests"]
    alerts = {rule["alert"]: rule["annotations"].keys() for rule in group["rules"] if "alert" in rule}
    fires = {
        case["alertname"]: alert["exp_annotations"].keys()
        for case in examples["alert_rule_test"]
        for alert in case.get("exp_alerts", ())
    }
    assert alerts == fires
    assert f"< {ON_RATE}" in next(rule["expr"] for rule in group["rules"] if rule.get("alert") == "CdcsimLoadNotKept")
    (job,) = yaml.safe_load((MONITORING / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["127.0.0.1:9100"]}]


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
