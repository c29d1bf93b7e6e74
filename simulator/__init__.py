"""cdc-simulator: a CDC producer without a database.

    import simulator

    for message in simulator.messages("orders", "canal-json", limit=20):
        print(message.topic, message.partition, message.value)

Names are loaded on first use; importing this package imports the standard library only.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `typing` takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from simulator.batch import ChangeBatch, MessageBatch
    from simulator.errors import DeliveryFailed, SimulatorError, SinkError, UsageError
    from simulator.hunting.case import Case
    from simulator.hunting.hunt import Found, hunt, replay
    from simulator.library import Simulation, messages, publish, simulate, verify, verify_tables
    from simulator.model import Column, Kind, Message, OrderKey, RowChange, Table
    from simulator.options import PublishOptions, RunOptions, ScenarioOptions
    from simulator.run.summary import Summary
    from simulator.sinks.memory import MemorySink
    from simulator.sinks.sink import Sink
    from simulator.truth.decoders import decode
    from simulator.truth.decoders.change import Change, Mark, Statement
    from simulator.truth.verify.findings import Finding, Verdict
    from simulator.truth.verify.tables.comparer import RowFinding, TableVerdict

__version__ = "0.2.0"

_NAMES = {
    "simulator.batch": ("ChangeBatch", "MessageBatch"),
    "simulator.errors": ("DeliveryFailed", "SimulatorError", "SinkError", "UsageError"),
    "simulator.hunting.case": ("Case",),
    "simulator.hunting.hunt": ("Found", "hunt", "replay"),
    "simulator.library": ("Simulation", "messages", "publish", "simulate", "verify", "verify_tables"),
    "simulator.model": ("Column", "Kind", "Message", "OrderKey", "RowChange", "Table"),
    "simulator.options": ("PublishOptions", "RunOptions", "ScenarioOptions"),
    "simulator.run.summary": ("Summary",),
    "simulator.sinks.memory": ("MemorySink",),
    "simulator.sinks.sink": ("Sink",),
    "simulator.truth.decoders": ("decode",),
    "simulator.truth.decoders.change": ("Change", "Mark", "Statement"),
    "simulator.truth.verify.findings": ("Finding", "Verdict"),
    "simulator.truth.verify.tables.comparer": ("RowFinding", "TableVerdict"),
}

__all__ = [
    "Case",
    "Change",
    "ChangeBatch",
    "Column",
    "DeliveryFailed",
    "Finding",
    "Found",
    "Kind",
    "Mark",
    "MemorySink",
    "Message",
    "MessageBatch",
    "OrderKey",
    "PublishOptions",
    "RowChange",
    "RowFinding",
    "RunOptions",
    "ScenarioOptions",
    "Simulation",
    "SimulatorError",
    "Sink",
    "SinkError",
    "Statement",
    "Summary",
    "Table",
    "TableVerdict",
    "UsageError",
    "Verdict",
    "decode",
    "hunt",
    "messages",
    "publish",
    "replay",
    "simulate",
    "verify",
    "verify_tables",
]


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'simulator' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
