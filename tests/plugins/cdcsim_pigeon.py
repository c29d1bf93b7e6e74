"""A package of its own: a sink with a kind of broker that nobody else knows, and a format that writes to it.

`pigeon:DIR?partitions=3` is a broker whose partitions are files, DIR/TOPIC.PARTITION, with a message a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simulator.batch import MessageBatch
from simulator.errors import OptionError
from simulator.formats import find
from simulator.sinks.ledger import Parcel
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents, Transport
from simulator.sinks.url import parse_options, whole_number

OPTIONS = {"partitions": whole_number(1), "colour": str}


def parse_url(url: str) -> tuple[Path, dict[str, Any]]:
    place, _, query = url.removeprefix("pigeon:").partition("?")
    if not Path(place).is_dir():
        raise OptionError(f"--to {url}: there is no loft {place!r}.")
    return Path(place), parse_options(query, OPTIONS, "a pigeon URL")


class PigeonSink(Sink):
    """Appends to the files; what is flushed has arrived."""

    def __init__(self, loft: Path, options: dict[str, Any]) -> None:
        super().__init__()
        self._loft, self._partitions = loft, options.get("partitions", 1)

    def partitions(self, topic: str) -> int:
        return int(self._partitions)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        messages = list(batch.messages())
        for parcel in parcels:
            with (self._loft / f"{parcel.topic}.{parcel.partition}").open("a", encoding="utf-8") as file:
                for row in parcel.rows.tolist():
                    key, value = messages[row].key, messages[row].value
                    file.write(json.dumps([key and key.decode(), value and value.decode()]) + "\n")
            self.ledger.acknowledge_parcel(parcel)


def opened(place: tuple[Path, dict[str, Any]], contents: Contents) -> PigeonSink:
    return PigeonSink(*place)


PIGEON = Transport(
    form="pigeon:DIR", parse=parse_url, open=opened, broker="pigeon", resumes=True, binary=False, options=OPTIONS,
    may_change=("colour",),
)  # fmt: skip

# A product that reads ToyDB and writes to pigeons alone.
FORMAT = replace(
    find("oms-default"), id="toy", title="Toy", product="Toy", sources=("toydb",), source="toydb", brokers=("pigeon",)
)
