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
    from simulator.run.pipeline import Summary
    from simulator.sinks.memory import MemorySink
    from simulator.sinks.sink import Sink
    from simulator.truth.decoders import decode
    from simulator.truth.decoders.change import Change, Mark, Statement
    from simulator.truth.verify.findings import Finding, Verdict
    from simulator.truth.verify.tables import RowFinding, TableVerdict

__version__ = "0.2.0"

_HOMES = {
    "Case": "simulator.hunting.case",
    "Change": "simulator.truth.decoders.change",
    "ChangeBatch": "simulator.batch",
    "Column": "simulator.model",
    "DeliveryFailed": "simulator.errors",
    "Finding": "simulator.truth.verify.findings",
    "Found": "simulator.hunting.hunt",
    "Kind": "simulator.model",
    "Mark": "simulator.truth.decoders.change",
    "MemorySink": "simulator.sinks.memory",
    "Message": "simulator.model",
    "MessageBatch": "simulator.batch",
    "OrderKey": "simulator.model",
    "PublishOptions": "simulator.options",
    "RowChange": "simulator.model",
    "RowFinding": "simulator.truth.verify.tables",
    "RunOptions": "simulator.options",
    "ScenarioOptions": "simulator.options",
    "Simulation": "simulator.library",
    "SimulatorError": "simulator.errors",
    "Sink": "simulator.sinks.sink",
    "SinkError": "simulator.errors",
    "Statement": "simulator.truth.decoders.change",
    "Summary": "simulator.run.pipeline",
    "Table": "simulator.model",
    "TableVerdict": "simulator.truth.verify.tables",
    "UsageError": "simulator.errors",
    "Verdict": "simulator.truth.verify.findings",
    "decode": "simulator.truth.decoders",
    "hunt": "simulator.hunting.hunt",
    "messages": "simulator.library",
    "publish": "simulator.library",
    "replay": "simulator.hunting.hunt",
    "simulate": "simulator.library",
    "verify": "simulator.library",
    "verify_tables": "simulator.library",
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
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simulator' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
