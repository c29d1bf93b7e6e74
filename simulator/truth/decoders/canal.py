"""Decoder of open-source Canal's flat messages, and of other products' dialects with the same members.

`data` and `old` are lists with an object for each row; `old` of an update may have only the changed columns. Sources:
Canal's FlatMessage.java and MQMessageUtils.java, and Flink's canal-json format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from simulator.model import DELETE, UPDATE
from simulator.truth.decoders.change import CHANGED, OPERATIONS, Change, Decoder, Item, Statement, milliseconds, text
from simulator.truth.decoders.json_text import read_object
from simulator.truth.decoders.values import LATIN1, LITERAL, Reading


def items(message: Any) -> Iterator[Item]:
    """The changes of a message, one per row, or its statement."""
    if message["type"] not in OPERATIONS:
        yield Statement(message["sql"], milliseconds(message["es"]))
        return
    op = OPERATIONS[message["type"]]
    data, old = message["data"], message.get("old")
    for index, row in enumerate(data or old):
        yield Change(
            op,
            message["table"],
            (old[index] if op is UPDATE else row) if op in (UPDATE, DELETE) else None,
            None if op is DELETE else row,
            frozenset(message["pkNames"] or ()),
            milliseconds(message["es"]),
            text(message.get("database")),
            text(message.get("id")),
            text(message.get("gtid")),
        )


DECODER: Final = Decoder(
    parse=read_object,
    items=items,
    carries=frozenset(("key", "event_ms", "position")),
    by_source=frozenset(("transaction",)),  # a server with GTIDs
    images={(UPDATE, "before"): CHANGED},
    renewed=frozenset(("id", "ts")),  # batches are counted from 1 in each process (seen of Canal 1.1.8)
    readings={
        "mysql binary": LATIN1,
        "mysql geometry": LATIN1,
        "mysql json": LITERAL,  # numbers as Java prints them
        "mariadb json": Reading(lambda value, type: value.encode("latin1").decode()),
        "mysql enum": Reading(lost="label (its index is there)"),
        "mysql set": Reading(lost="labels (their bits are there)"),
    },
)
