"""A run's faults as sentences: the kinds, their rates, and the product's restart rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.delivery.redelivery import Redelivery
from simulator.run.faults.spec import KINDS, OCCURRING, Faults, Kind

_AGAIN = {
    "record": "the record after the last one stored, in mid-transaction, too",
    "transaction": "the begin of a transaction",
    "second": "the begin of a second",
}


def described(faults: Faults, rule: Redelivery | None = None) -> Iterator[str]:
    """A line for each fault: its rate, what happens, and whether a correct consumer survives it; then what comes again
    after a restart. `rule`: the restart rule of the format, if there is one."""
    for kind in faults.kinds:
        if kind.name == "flush":
            continue
        places = [place for place in faults.places if place.fault == kind.name]
        rate_text = f"{len(places)} times" if places else _rate(kind, faults.rates[kind.name])
        yield f"{kind.name} ({rate_text}): {kind.text}; {_fate(kind)}"
    if faults.restarting and rule is not None:
        yield again(rule, faults.rates.get("flush"))
    elif flush_ms := faults.rates.get("flush"):
        yield f"positions are stored every {flush_ms / 1000:g} s"


def again(rule: Redelivery, flush_ms: float | None = None) -> str:
    """Sentence about what comes again after a restart."""
    every = f"{(flush_ms or rule.interval_ms) / 1000:g} s"
    renewed = ", ".join(rule.renewed) or "no member"
    return (
        f"a restart reads on from {_AGAIN[rule.resumes]}, stored every {every} ({rule.setting}); renewed: {renewed}; "
        f"all else is kept ({rule.evidence})"
    )


def undefined(faults: Faults) -> Iterator[str]:
    """A line for each fault that no consumer survives: which expected rows stay defined."""
    for kind in faults.kinds:
        if not kind.survivable:
            yield f"{kind.name}: {kind.text}, so no consumer has all of these rows; defined stay {kind.then}"


def facts(faults: Faults) -> list[dict[str, Any]]:
    """The faults for programs."""
    return [
        {"fault": kind.name, "rate": faults.rates.get(kind.name), "unit": kind.unit, "survivable": kind.survivable,
         "text": kind.text, "defined": kind.then}
        for kind in faults.kinds
    ]  # fmt: skip


def fates(faults: Faults, counts: Mapping[str, int]) -> Iterator[str]:
    """A line for each kind of fault that occurred, in the order of the table; then the faults that struck nothing."""
    for name, kind in OCCURRING.items():
        if count := counts.get(name):
            yield f"{count:,} × {name}: {kind.text}; {_fate(kind)}"
    if idle := [kind.name for kind in faults.kinds if kind.unit.startswith("share") and not _occurred(kind, counts)]:
        yield f"struck nothing: {', '.join(idle)}"


def _occurred(kind: Kind, counts: Mapping[str, int]) -> bool:
    """Whether a kind occurred; clocks and stalls are not counted."""
    return kind.name in counts or kind.name in ("clock-step", "stall")


def table() -> str:
    """The kinds of fault as a table in Markdown."""
    head = "| fault | by default | what happens | a correct consumer |\n| --- | --- | --- | --- |"
    return "\n".join([head, *(f"| `{k.name}` | {_default(k)} | {k.text} | {_fate(k)} |" for k in KINDS)]) + "\n"


def rules(by_product: Mapping[str, Redelivery]) -> str:
    """The restart rules of products as a table in Markdown; members that are not listed as renewed are repeated."""
    head = (
        "| product | reads on from | stored every (setting) | a clean stop repeats | without a stored position | "
        "DDL in what comes again | renewed: new value | evidence |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    lines = [head]
    for product, rule in by_product.items():
        renewed = "; ".join(f"`{name}`: {value}" for name, value in rule.renewed.items()) or "nothing"
        stop = "the transaction in flight" if rule.stop == "transaction" else "nothing"
        stop = "the last END" if rule.repeats_commit else stop
        setting = f"{rule.interval_ms / 1000:g} s ({rule.setting})"
        lost = "a new snapshot" if rule.snapshots_again else "not simulated"
        ddl = "fails at rows older than it" if rule.fails_at_ddl else "comes again"
        cells = (product, _AGAIN[rule.resumes], setting, stop, lost, ddl, renewed, rule.evidence)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _default(kind: Kind) -> str:
    if kind.unit == "places":
        return "`3301.12`, or `3301.12@3287.0`"
    return "the product's" if kind.name == "flush" else _rate(kind, kind.default)


def _rate(kind: Kind, value: float) -> str:
    match kind.unit:
        case "restarts":
            return f"{value:g} in a million turns"
        case "milliseconds" | "turns":
            return f"{value:,g} {'ms' if kind.unit == 'milliseconds' else 'turns'}"
    return f"{value:.10g} of {kind.unit.removeprefix('share of ')}"


def _fate(kind: Kind) -> str:
    return "survives it" if kind.survivable else f"cannot survive it; defined stay {kind.then}"
