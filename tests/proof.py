"""PROOF.md: what is shown, by which test. Made of goldens, captures, tests and the tables of the benchmarks.

`pytest tests/test_docs.py -k proof --update-goldens` writes it. A count on the page may be lower than what is there, so
that a new golden alone need not rewrite it.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from simulator.formats import FORMATS
from simulator.formats.listing import listed

HERE: Final = Path(__file__).parent
PAGE: Final = HERE / "PROOF.md"
ORIGINS: Final = ("captured", "documented", "derived")
KINDS: Final = ("full sync", "insert", "update", "delete", "DDL", "heartbeat")
# A reader's program, by the fixture that a test of it takes; `readers/conftest.py` has their versions.
READERS: Final = {
    "flink": "Flink's formats, 2.3.0",
    "canal": "Canal's own FlatMessage, 1.1.8",
    "sdk": "Alibaba's subscription SDK, 2.0.0",
    "gson": "Gson, 2.15.0",
    "driver": "MongoDB's BSON library, 4.11.1",
    "later": "MongoDB's BSON library, 5.14.0",
    "paimon": "Paimon's CDC parser, 1.2.0",
    "seatunnel": "SeaTunnel's `canal_json`, 2.3.8",
    "converter": "Confluent's Avro converter, 7.0.16",
    "sink": "Debezium's JDBC sink, 3.6.0",
}
# Where captures lie, what made them, and the tests that give them again.
CAPTURES: Final = {
    "canal": ("Canal", "formats/test_captured_canal.py"),
    "canal-apps": ("Canal, behind applications,", "sql/test_captured_apps.py"),
    "debezium": ("Debezium 3.6.3", "formats/test_captured_debezium.py"),
    "postgresql": ("Texts of values, PostgreSQL", "sources/test_postgresql_types.py"),
}
# How many of Debezium's captured messages are equal, and all.
COUNTS: Final = re.compile(r"assert counts == \((\d+), (\d+)\)")
# Captures whose rows alone are compared.
ROWS: Final = {"postgresql15": "sql/test_debezium_rows.py"}
# Servers whose captures have a shorter name.
SERVERS: Final = {
    "my57": "mysql5.7",
    "my80": "mysql8.0",
    "mysql": "mariadb",
    "postgres": "postgresql15",
    "values": "itself",
}
# What goes wrong, what holds then, and the test.
FAULTS: Final = (
    (
        "any schedule of answers, kills and other runs",
        "no message is lost, no number is false",
        "run/test_delivery_model.py::test_no_schedule_loses_a_message",
    ),
    ("`kill -9` of a run with `--resume`, to files", "files have every message once", "run/test_resume.py::test_kill"),
    (
        "`kill -9` of a run with `--resume`, to each broker",
        "every message is there; what comes twice was on its way",
        "brokers/test_schedules.py::test_no_schedule_loses_a_message",
    ),
    (
        "a topic or queue is deleted between two parts of a run",
        "the run is refused, on Kafka and RocketMQ also if the topic was made again",
        "brokers/test_runs.py::test_a_topic_that_was_deleted_is_missed",
    ),
    (
        "a broker stops and starts again",
        "it costs time alone, and order holds",
        "brokers/test_runs.py::test_a_broker_that_stops_and_starts_again_only_costs_time",
    ),
    (
        "a broker stays away",
        "a sentence, exit status 1, what was delivered",
        "brokers/test_runs.py::test_a_broker_that_stops_and_starts_again_only_costs_time",
    ),
    (
        "a request fails for a moment",
        "it is sent again, in order",
        "brokers/test_kafka.py::test_a_request_that_fails_for_a_moment_is_sent_again",
    ),
    ("the broker's disk is full", "a sentence", "brokers/test_kafka.py::test_a_broker_whose_disk_is_full"),
    (
        "a transaction fails",
        "it leaves nothing behind",
        "brokers/test_kafka.py::test_a_transaction_that_fails_leaves_nothing_behind",
    ),
    (
        "a queue of RabbitMQ is full",
        "refused messages are reported",
        "brokers/test_rabbitmq.py::test_a_queue_that_is_full",
    ),
    (
        "this machine's disk is full",
        "whole lines stay",
        "sinks/test_sinks.py::test_a_disk_that_becomes_full_leaves_whole_lines",
    ),
    (
        "a worker process is killed",
        "the run ends, and says so",
        "run/test_workers.py::test_a_worker_that_is_killed_ends_the_run",
    ),
    (
        "a task of Spark is done again",
        "files have no message twice",
        "spark/test_files.py::test_a_task_that_is_done_again_changes_nothing",
    ),
    (
        "a task of Spark hangs, a query is killed",
        "nothing is lost",
        "spark/test_cluster.py::test_a_stuck_task_and_a_killed_query",
    ),
    ("a sender of Spark dies", "order holds in each partition", "brokers/test_spark.py::test_a_sender_that_dies"),
    (
        "what was sent is dropped, doubled, swapped, altered, moved, cut",
        "`verify` finds each, and names 99 of 100 rightly",
        "truth/test_mutations.py::test_every_mutation_is_found_and_named",
    ),
    (
        "a run sends again after a restart",
        "`verify --at-least-once` tells it from doubling",
        "brokers/test_topics_read_back.py::test_reading_takes_nothing_away",
    ),
    (
        "a queue lacks a message, has one twice, and two in another order",
        "`verify --from` finds each on RabbitMQ and RocketMQ",
        "brokers/test_topics_read_back.py::test_what_is_wrong_in_a_partition_is_found",
    ),
    (
        "released consumers over crashes of the product, failovers, late partitions",
        "Flink's tables with keys are right; those of Debezium's JDBC sink, too ([test](sql/test_debezium_sink.py))",
        "readers/test_flink_faults.py::test_flink_upserts",
    ),
    (
        "Spark's AutoCDC over the same",
        "its tables are right if the place in the log, or in the partition, orders the changes",
        "spark/test_autocdc.py::test_a_place_orders_the_changes",
    ),
    (
        "Spark's AutoCDC, ordered by a clock",
        "`verify` names the rows that are lost, and why",
        "spark/test_autocdc.py::test_a_clock_does_not",
    ),
    (
        "released consumers with bugs: Flink 2.3.0, Paimon 1.2.0, SeaTunnel 2.3.8",
        "`hunt` finds them, and names the change",
        "readers/test_hunted_consumers.py::test_flink_retracts_another_row",
    ),
    (
        "a consumer ignores deletes, takes old rows",
        "`verify --table` says which change is missing",
        "truth/test_causes.py::test_wrong_consumers_are_told_why",
    ),
)
# Tables of the benchmarks, by their first cells.
BENCHMARKS: Final = ("| broker | | cdcsim", "| `volume.py` |", "| | messages/s | CPU s a million | bytes each")


TEMPLATE: Final = """\
# Proof

What is shown, and the test that shows it; made by [proof.py](proof.py). Counts of messages are lower bounds.

## Formats

Bytes of each message of [goldens](goldens), held by [test_goldens.py](formats/test_goldens.py): *captured* from the
product, *documented* by its vendor, or *derived* from its code or its other messages. *Read by*: programs that we did
not write. Kinds of events are `yes`, an `option`, `by source`, or `no` where the product sends nothing.

{formats}

Every format besides: [replayed](formats/test_replay_messages.py) against the closed form of the rows,
[decoded](formats/test_decoded.py) for each type of each source, [refused](formats/test_contract.py) where the
product does not offer it.

## Captures

Recorded from real servers. What was run there runs here, and gives the same again; the few exceptions stand in each
test, with their reasons. Of Debezium's messages, heartbeats aside, {equal} of {all} are the same byte for byte where a
server of the same version runs the script ([test_debezium_rows.py](sql/test_debezium_rows.py)).

{captures}

## Faults

{faults}

## Benchmarks beside their anchors

Of [benchmarks](benchmarks/README.md), which says how and on what machine.

{benchmarks}
"""


def page() -> str:
    """The page's text."""
    text = (HERE / "benchmarks" / "README.md").read_text("utf-8")
    faults = [(fault, holds, link(test)) for fault, holds, test in FAULTS]
    formats = [format_row(row) for row in listed() if row["id"] in FORMATS]
    equal, all = COUNTS.findall((HERE / "sql" / "test_debezium_rows.py").read_text("utf-8"))[0]
    return TEMPLATE.format(
        equal=f"{int(equal):,}",
        all=f"{int(all):,}",
        formats=table(("format", *KINDS, *ORIGINS, "read by"), formats),
        captures=table(("recorded from", "on", "messages", "held by"), [*capture_rows()]),
        faults=table(("what goes wrong", "what holds", "test"), faults),
        benchmarks="\n\n".join(text[text.index("\n" + head) + 1 :].partition("\n\n")[0] for head in BENCHMARKS),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def link(test: str) -> str:
    """The file of a test, `formats/test_x.py::test_y`, as a link. Raises ValueError where the test is not there."""
    file, _, name = test.partition("::")
    if name and not re.search(rf"^def {name}\(", (HERE / file).read_text("utf-8"), re.MULTILINE):
        raise ValueError(f"tests/proof.py names {test}, which is not there")
    return f"[{name or file.rpartition('/')[2]}]({file})"


def format_row(row: Mapping[str, Any]) -> Sequence[str]:
    """A format's line, of what `cdcsim formats` says of it."""
    counts, events = origins(row["id"]), (row["events"][kind] for kind in KINDS)
    return f"`{row['id']}`", *events, *(str(counts[origin]) for origin in ORIGINS), readers(row["id"]) or "–"


def origins(format: str) -> Counter[str]:
    """How many messages of a format's goldens are of each origin. A section ends with the next `---` line."""
    counts: Counter[str] = Counter()
    for path in sorted((HERE / "goldens" / format).glob("*.txt")):
        origin = ""
        for section, text in re.findall(rb"^--- (\w+)\n((?:(?!--- ).*\n)*)", path.read_bytes(), re.MULTILINE):
            if section == b"from":
                origin = text.partition(b":")[0].decode().strip()
            elif section == b"value":
                counts[origin] += 1
    assert counts.keys() <= set(ORIGINS), (format, counts)
    return counts


def readers(format: str) -> str:
    """The readers whose tests name a format, as links to these."""
    found: dict[str, list[str]] = {}
    for path in (*sorted((HERE / "readers").glob("test_*.py")), *(HERE / "sql").glob("test_*_sink.py")):
        text = path.read_text("utf-8")
        if re.search(rf"(?<![\w-]){re.escape(format)}(?![\w-])", text):
            for name in READERS:
                if re.search(rf"\b{name}: Reader\b", text):
                    found.setdefault(name, []).append(path.relative_to(HERE).as_posix())
    return "; ".join(f"{READERS[name]} ({', '.join(link(file) for file in files)})" for name, files in found.items())


def capture_rows() -> Iterator[Sequence[str]]:
    """Captures by product and version, and by server."""
    for folder, (product, test) in CAPTURES.items():
        counts: Counter[tuple[str, str]] = Counter()
        for path in sorted((HERE / "captures" / folder).glob("*.jsonl.gz")):
            if ".meta." in path.name:
                continue
            version, _, rest = path.name.removesuffix(".jsonl.gz").partition("-")
            product_version, server = (version, rest.partition("-")[0]) if version[0].isdigit() else ("", version)
            counts[f"{product} {product_version}".strip(), SERVERS.get(server, server)] += gzip.decompress(
                path.read_bytes()
            ).count(b"\n")
        for (recorded, server), count in sorted(counts.items()):
            yield recorded, server, f"{count:,}", link(ROWS.get(server, test))


def problems(written: str) -> list[str]:
    """Lines of a written page that do not hold, or are missing; a count does not hold if it is too high."""
    wrong = []
    actual = page()
    if shape(written) != shape(actual):
        wrong = [f"- {line}" for line in sorted(set(shape(written).splitlines()) ^ set(shape(actual).splitlines()))]
    else:
        for old, new in zip(written.splitlines(), actual.splitlines(), strict=True):
            if old != new and any(a > b for a, b in zip(counted(old), counted(new), strict=True)):
                wrong.append(f"- {old}")
    return wrong


_COUNT: Final = re.compile(r"(?<=\| )[\d,]+(?= \|)")


def shape(text: str) -> str:
    """The text without the counts of tables."""
    head, separator, benchmarks = text.partition("\n## Benchmarks")
    return _COUNT.sub("#", head) + separator + benchmarks


def counted(line: str) -> list[int]:
    return [int(count.replace(",", "")) for count in _COUNT.findall(line)]
