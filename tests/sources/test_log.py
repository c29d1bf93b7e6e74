"""Each source has one log: one change stands at one position in every format that prints one, and positions rise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_scenarios import loaded, rendered, scenarios

from simulator import formats, sources
from simulator.delivery.marks import marks
from simulator.model import MARKS, READ, Heartbeat, Kind, Message, OrderKey
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.sources.log import Entries, Log, entries, entry
from simulator.sources.mongodb.log import MongodbLog
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oceanbase.log import OceanbaseLog
from simulator.sources.oracle.log import SCN_PER_TRANSACTION, OracleLog
from simulator.sources.postgresql.log import PostgresqlLog
from simulator.sources.sqlserver.log import SqlserverLog
from simulator.stream.engine.block import Block
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario import loader
from simulator.stream.scenario.resolve import resolve
from simulator.truth.decoders import parse
from simulator.truth.decoders.json_text import Number

UUID: Final = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
SCENARIO: Final = """
seed: 3
rate: 5
heartbeat: 1s
transactions: {1: 50, 2..4: 50}
tables:
  items:
    columns:
      id: {type: int64, values: {sequence: {start: 1}}}
      code: {type: string(8), values: {pattern: '??-##'}}
      qty: {type: int32, values: {range: [0, 500]}}
    key: id
    rows: 12
    rows_per_statement: 2
    mix: {insert: 1, update: 6, delete: 1}
schema_changes:
  - {at: 11, table: items, create_index: {name: ix, columns: [code]}}
  - {at: 11, table: items, add_column: {name: note, column: {type: string(9), nulls: 0.5}}}
"""
SCRIPT: Final = """
CREATE DATABASE shop; USE shop; SET NAMES latin1; SET sql_mode = 'ANSI_QUOTES,NO_ZERO_DATE';
CREATE TABLE t (id int PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 1), (2, 2);
SET GTID_NEXT = 'AAAAAAAA-71ca-11e1-9e33-c80aa9429562:7';
UPDATE t SET v = v + 1;
SET GTID_NEXT = 'automatic';
BEGIN; DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (3, 3); COMMIT;
"""

Facts = Mapping[str, Any]
# By the place in the stream; single events have no kind.
Stands = dict[OrderKey, tuple[Kind | None, Facts]]


# ---------------------------------------------------------------------------------------------------- what the log has


def logged(block: Block, log: Log, phase: int = 1) -> Stands:
    """What the log says of all that stands in a block."""
    found: Stands = {}
    marked = [marks(block.batches, kind, "shop") for kind in MARKS] if phase else []
    for batch in (*block.batches, *(each for each in marked if each is not None)):
        places = zip(batch.envelope.turn.tolist(), batch.envelope.ordinal.tolist(), strict=True)
        for place, each in zip(places, facts(log, entries(batch.envelope)), strict=True):
            found[OrderKey(phase, *place)] = (batch.kind, each)
    return found | {event.order: (None, facts(log, entry(event))[0]) for event in block.events}


@cache
def history(source: str) -> tuple[ChangeStream, list[Block], Stands]:
    """The scenario on a source: its stream, the blocks of a snapshot and of some turns, and what the log says of all
    that stands in them."""
    stream = ChangeStream(resolve(loader.read(SCENARIO, "items.yaml"), sources.find(source)))
    snapshot, block = list(stream.snapshot(0)), stream.read(0, stream.border(60))
    stands = logged(block, stream.source.log)
    for each in snapshot:
        stands |= logged(each, stream.source.log, 0)
    return stream, [*snapshot, block], stands


def facts(log: Log, at: Entries) -> list[Facts]:
    """All that the log says of each entry, by the names that products have for it."""
    columns: dict[str, Any] = {
        "position": log.position(at),
        "number": log.number(at),
        "commit_number": log.commit_number(at),
        "transaction": log.transaction_id(at),
        "commit": log.position(at.commit),
    }
    if isinstance(log, MysqlLog):
        columns |= {"file": log.file(at), "pos": log.offset(at), "gtid": log.gtid(at, UUID)}
        columns |= {"gtid_set": log.gtid_set(at, UUID), "begin": log.offset(at.begin)}
        columns |= {"thread": log.thread(at), "sql_mode": log.sql_mode(at), "charset": log.charset(at)}
        columns["file_number"] = log.file_number(at)
    if isinstance(log, OracleLog):
        columns["xid"] = log.xid(at)
    if isinstance(log, MongodbLog):
        columns["ordinal"] = log.cluster_times(at)[1]
    if isinstance(log, OceanbaseLog):
        columns["redo_lsn"] = log.redo_lsn(at)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


# --------------------------------------------------------------------------------------------------- what formats print


def canal(value: Any, log: Log) -> Facts:
    return {"gtid_set": value["gtid"]}


def dts_canal(value: Any, log: Log) -> Facts:
    return {"gtid": value["gtid"]} if "gtid" in value else {}


def dts_shareplex(value: Any, log: Log) -> Facts:
    meta = value["meta"]
    named = "gtid" if isinstance(log, MysqlLog) else "transaction"
    trans = {} if meta["trans"] == meta["scn"] else {named: meta["trans"]}
    return {"commit_number": int(meta["scn"]), **trans}


def dts_avro(value: Any, log: Log) -> Facts:
    if value["operation"] in ("INIT", "INSERT") and not value["sourcePosition"]:
        return {}
    position, safe, tags = value["sourcePosition"], value["safeSourcePosition"], value["tags"]
    names = {"GTID": "gtid", "GTID_SET": "gtid_set", "thread_id": "thread"}
    names |= {"Q_SQL_MODE_CODE": "sql_mode", "Q_CHARSET_CODE": "charset"}
    printed = {fact: tags[name] for name, fact in names.items() if name in tags}
    printed |= {name: int(value) for name, value in printed.items() if "gtid" not in name}
    if isinstance(log, MysqlLog):
        (pos, file), (begin, begun) = position.split("@"), safe.split("@")
        assert file == begun
        return printed | {"file_number": int(file), "pos": int(pos), "begin": int(begin)}
    assert position == safe
    if isinstance(log, MongodbLog):
        return {"position": position.replace("_", ":")}
    return {"position": position, "transaction": value["sourceTxid"]}


def debezium(value: Any, log: Log) -> Facts:
    source = value["source"]
    names = {"file": "file", "pos": "pos", "gtid": "gtid", "thread": "thread"}
    if isinstance(log, OracleLog):
        names = {"scn": "position", "commit_scn": "commit", "txId": "xid"}
    if isinstance(log, PostgresqlLog):
        names = {"lsn": "number", "txId": "transaction"}
        source = source | ({"txId": str(source["txId"])} if source["txId"] else {})
    if isinstance(log, SqlserverLog):
        names = {"change_lsn": "position", "commit_lsn": "commit"}
    if isinstance(log, MongodbLog):
        names = {"ord": "ordinal"}
    if isinstance(log, OceanbaseLog):
        names = {"txId": "transaction"}
    return {fact: source[name] for name, fact in names.items() if source.get(name) is not None}


def oms_default(value: Any, log: Log) -> Facts:
    meta = value["allMetaData"]
    printed = {"transaction": meta["transId"]} if "transId" in meta else {}
    parts = (meta.get("uniqueId") or "").split("_")
    if isinstance(log, OceanbaseLog) and len(parts) > 1:
        return printed | {"transaction": parts[2], "redo_lsn": int(parts[3])}
    if isinstance(log, MysqlLog) and len(parts) > 1:
        return printed | {"file": parts[0], "pos": int(parts[1])}
    return printed | ({"transaction": parts[0], "position": parts[1]} if len(parts) > 1 else {})


def oms_shareplex(value: Any, log: Log) -> Facts:
    return {"transaction": value["meta"]["trans"]} if value["meta"]["trans"] else {}


def drs(value: Any, log: Log) -> Facts:
    return {"position": value["clusterTime"]}


# Format: how its positions are read, and the sources on which it prints some (None: all that it offers).
PRINTED: Final[Mapping[str, tuple[Callable[[Any, Log], Facts], tuple[str, ...] | None]]] = {
    "canal-json,gtid=on": (canal, None),
    "dts-canal-json,gtid=on": (dts_canal, ("mysql",)),
    "dts-shareplex-json,ddl=on": (dts_shareplex, None),
    "dts-avro": (dts_avro, None),
    "dts-avro,product=subscription": (dts_avro, None),
    "cloudcanal-dts-avro": (dts_avro, None),
    "cloudcanal-debezium,ddl_statements=all": (debezium, None),
    "cloudcanal-debezium,gtid=on,source_members=debezium": (debezium, ("mariadb", "mysql")),
    "oms-default,extended_meta=on": (oms_default, None),
    "oms-default-extend-column-type,extended_meta=on": (oms_default, None),
    "oms-shareplex": (oms_shareplex, None),
    "drs-json": (drs, ("mongodb",)),
}


def read(format: str, message: Message, log: Log) -> Facts:
    """The positions of a message; bare numbers of JSON are whole ones."""
    printed = PRINTED[format][0](parse(format, message.value or b""), log)
    return {name: int(value) if isinstance(value, Number) else value for name, value in printed.items()}


def offered(format: str, sources_: tuple[str, ...] | None) -> tuple[str, ...]:
    return sources_ or formats.find(format.partition(",")[0]).sources


@pytest.mark.parametrize(
    ("format", "source"),
    [(format, source) for format, (_, some) in PRINTED.items() for source in offered(format, some)],
)
def test_one_change_one_position(format: str, source: str) -> None:
    stream, blocks, stands = history(source)
    renderer = rendered(stream, format)
    batches = [batch for block in blocks if (batch := renderer.render(block)) is not None]
    kinds = set()
    for message in chain.from_iterable(batch.messages() for batch in batches):
        order = message.order
        if order.phase and order not in stands:
            order = replace(order, ordinal=order.ordinal - 1)  # the insert of a split update is the same change
        kind, said = stands[order]
        printed = read(format, message, stream.source.log)
        if printed:
            kinds.add(kind)
        assert printed == {name: said[name] for name in printed}, f"{format} {source} {kind} {order}"
    assert kinds - {READ, None}, "no position was printed"


@pytest.mark.parametrize("format", [name for name in PRINTED if "mysql" in offered(name, PRINTED[name][1])])
def test_sql_scripts_have_the_same_positions(format: str, tmp_path: Path) -> None:
    """There the executed GTID sets are known, those of other servers too."""
    path = tmp_path / "script.sql"
    path.write_text(SCRIPT, encoding="utf-8")
    job = open_job(str(path), format, source="mysql-8.0")
    log = job.source.log
    assert isinstance(log, MysqlLog)
    stands = logged(job.stream.read(0, 100), log)
    other = UUID.replace("3e11fa47", "aaaaaaaa")
    assert {said["gtid"] for kind, said in stands.values() if kind is not None} == {
        f"{UUID}:3", f"{other}:7", f"{UUID}:4",
    }  # fmt: skip
    # a script is one session
    assert {said["thread"] for _, said in stands.values()} == {1000}
    sessions = {(said["sql_mode"], said["charset"]) for kind, said in stands.values() if kind is not None}
    assert sessions == {(4 + (1 << 24), 8)}
    for message in job.messages(Limits(0)):
        printed = read(format, message, log)
        assert printed == {name: stands[message.order][1][name] for name in printed}
        if "gtid_set" in printed and not printed["gtid_set"].endswith(("-3", ":1", "-2")):
            assert f",{other}:7" in printed["gtid_set"]


# ------------------------------------------------------------------------------------------------------ positions rise


def in_order(stream: ChangeStream, turns: int) -> tuple[Entries, npt.NDArray[np.int64]]:
    """All entries in stream order, and the kind of each."""
    block = stream.read(0, stream.border(turns))
    batches = [*block.batches, *(each for kind in MARKS if (each := marks(block.batches, kind, "shop")) is not None)]
    parts = [(entries(batch.envelope), batch.envelope.turn, batch.envelope.ordinal, batch.kind) for batch in batches]
    for event in block.events:
        kind = Kind.HEARTBEAT if isinstance(event, Heartbeat) else Kind.DDL
        parts.append((entry(event), np.array([event.order.turn]), np.array([event.order.ordinal]), kind))
    order = np.lexsort([np.concatenate([part[i] for part in parts]) for i in (2, 1)])
    names = ("txn", "seq", "size", "event_ms", "in_second")
    arrays = [np.concatenate([getattr(part[0], name) for part in parts])[order] for name in names]
    kinds = np.concatenate([np.full(len(part[0]), part[3]) for part in parts])[order]
    return Entries(*arrays), kinds


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(list(sources.SOURCES)), scenarios())
def test_positions_rise_along_the_stream(source: str, scenario: dict[str, Any]) -> None:
    """Positions rise strictly, and ids of transactions change where transactions do. A heartbeat has the position
    reached, which the next entry may share. Of MongoDB all entries of a transaction have one."""
    found = sources.find(source)
    log = found.log
    at, kinds = in_order(ChangeStream(resolve(loaded(scenario), found)), 150)
    numbers, beats = log.number(at), kinds == Kind.HEARTBEAT
    assert (np.diff(numbers) >= 0).all()
    borders = np.diff(at.txn) != 0
    # an SCN is a time: changes of a long transaction share the last one before its commit
    shared = isinstance(log, OracleLog) & (at.seq > SCN_PER_TRANSACTION - 2)
    halves = np.diff(at.seq) == 0  # of an update of the key stand in one entry
    rises = ~beats[:-1] & ~(halves & ~borders) & (borders if log.one_a_transaction else ~shared[1:] & ~shared[:-1])
    assert (np.diff(numbers)[rises] > 0).all()
    if log.one_a_transaction:
        assert (np.diff(numbers)[~borders & ~beats[:-1]] == 0).all()
    assert (log.number(at.begin) <= numbers).all()
    assert (numbers <= log.number(at.commit)).all()
    ids = log.transaction_id(at).to_pylist()
    assert borders.tolist() == [a != b for a, b in pairwise(ids)]
    assert len(set(ids)) == borders.sum() + 1


@pytest.mark.parametrize("source", sources.SOURCES)
def test_a_transaction_of_any_size_stays_in_its_share(source: str) -> None:
    """Positions of a very long transaction never fall, and its commit stands before the next one begins."""
    log = sources.find(source).log
    if isinstance(log, MongodbLog):
        return  # positions do not depend on the size
    size, zero = 10_000_000, np.zeros(6, dtype=np.int64)
    seq = np.array([-1, 0, 1, 5000, 10_000_000, 10_000_001], dtype=np.int64)
    at = Entries(zero + 1023, seq, zero + size, zero, zero)
    numbers = log.number(at).tolist()
    assert numbers == sorted(numbers)
    after = Entries(zero + 1024, zero - 1, zero, zero, zero)
    assert numbers[-1] < log.number(after)[0]


def test_snapshot_rows_stand_where_the_log_begins() -> None:
    zero = np.zeros(1, dtype=np.int64)
    begins = {}
    for source in ("mysql", "mysql-5.7", "oracle", "postgresql", "sqlserver", "oceanbase-oracle"):
        log = sources.find(source).log
        begins[source] = log.position(Entries(zero, zero - 1, zero, zero, zero))[0].as_py()
    assert begins == {
        "mysql": "mysql-bin.000001:157",
        "mysql-5.7": "mysql-bin.000001:154",
        "oracle": "14589000000000",
        "postgresql": "0/16B6C50",
        "sqlserver": "0000002a:00000000:0000",
        "oceanbase-oracle": "14589000000000",
    }


def test_transaction_ids() -> None:
    def ids(source: str, *txn: int) -> list[str]:
        numbers = np.array(txn, dtype=np.int64)
        found: list[str] = sources.find(source).log.transaction_id(Entries(*[numbers] * 5)).to_pylist()
        return found

    assert ids("oracle", 6, 16) == ["7.0.411499", "7.1.411499"]
    assert ids("postgresql", 0, 4294966561, 4294966565) == ["731", "4294967292", "3"]
    assert ids("sqlserver", 916, (1 << 32) + 1) == ["0000:00000394", "0001:00000001"]
    assert ids("oceanbase-mysql", 214708) == ["52267214708"]
    oracle = sources.find("oracle").log
    assert isinstance(oracle, OracleLog)
    # slot 0x0a of undo segment 2: low bytes first
    assert oracle.xid(Entries(*[np.array([101])] * 5)).to_pylist() == ["02000a006b470600"]


def test_mariadb_has_gtids_of_its_own(tmp_path: Path) -> None:
    log = sources.find("mariadb").log
    assert isinstance(log, MysqlLog)
    at = Entries(*[np.array([0, 1, 7])] * 5)
    assert log.gtid(at).to_pylist() == [None, "0-1-1", "0-1-7"]
    assert log.gtid_set(at).to_pylist() == ["", "0-1-1", "0-1-7"]
    path = tmp_path / "script.sql"
    path.write_text(
        "CREATE DATABASE shop; USE shop; CREATE TABLE t (v int); INSERT INTO t VALUES (1);", encoding="utf-8"
    )
    for format in ("canal-json,gtid=on", "cloudcanal-debezium,gtid=on"):
        *_, last = open_job(str(path), format, source="mariadb").messages(Limits(0))
        assert b'"gtid":"0-1-3"' in (last.value or b""), format


def test_executed_gtid_sets() -> None:
    log = sources.find("mysql").log
    assert isinstance(log, MysqlLog)
    at = Entries(*[np.array([0, 1, 2, 3])] * 5)
    assert log.gtid_set(at, "u").to_pylist() == ["", "u:1", "u:1-2", "u:1-3"]
    assert log.gtid_set(at, "u", before=5).to_pylist() == ["u:1-5", "u:1-6", "u:1-7", "u:1-8"]
    assert log.gtid(at, "u").to_pylist() == [None, "u:1", "u:2", "u:3"]
