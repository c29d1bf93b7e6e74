"""What readers of OMS insist on, and the messages of the formats' description.

The first is a consumer that was written against real output (wentaojin/dbms, message/oceanbase: decoder.go, message.go,
consumer.go, group.go): DefaultExtendColumnType, hashed, full and incremental, with DDL.
"""

from __future__ import annotations

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pytest
from building import Beat, Case, Ddl, Rows, Times, block_of, messages_of, table_of

from simulator.model import DELETE, INSERT, READ, UPDATE, Message, SchemaChangeKind
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink

FORMAT: Final = "oms-default-extend-column-type,version=4"
PARTITIONS: Final = 4
SEPARATOR: Final = "\x01"
BINARIES: Final = {"TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "BIT"}


def stream(scenario: str, limit: int | None) -> Iterator[Message]:
    few = ["lifecycles.order.slots=300", "tables.customers.rows=400"] if scenario == "orders" else []
    job = open_job(scenario, FORMAT, source="oceanbase-mysql", settings=few)
    with MemorySink(partitions=PARTITIONS) as sink:
        local_run(job, sink, limits=Limits(0, limit), snapshot=True)()
        yield from sink.messages()


class Refused(Exception):
    """What the consumer would not take."""


def consume(message: Message) -> dict[str, Any]:
    """A message as the consumer decodes it, raises where it does."""
    if not message.key or not message.value:
        raise Refused("an empty key or value")
    record: dict[str, Any] = json.loads(message.value, parse_float=str)
    meta, type = record["allMetaData"], record["recordType"]
    if type not in ("INSERT", "UPDATE", "DELETE", "ROW", "DDL"):
        raise Refused(f"a record of type {type}")
    for name, value in meta.items():
        wanted = int if name == "storeDataSequence" else (str, None.__class__)
        if not isinstance(value, wanted):
            raise Refused(f"{name} is {value!r}")
    if "." not in meta["db"]:
        raise Refused("a database without a tenant")
    if type != "ROW" and meta["storeDataSequence"] <= 0:
        raise Refused("no sequence")
    if type == "DDL":
        if not isinstance(record["postStruct"]["ddl"], str) or not meta["ddlType"]:
            raise Refused("no statement")
        return record
    names, values = (meta[f"record_primary_{what}"] for what in ("key", "value"))
    if names and len(names.split(SEPARATOR)) != len(values.split(SEPARATOR)):
        raise Refused("names and values of the key do not fit")
    struct = record["prevStruct"] if type == "DELETE" else record["postStruct"]
    types = struct.pop("__light_type")
    for column, value in struct.items():
        schema_type = types[column]["schemaType"].upper()
        if value is None:
            continue
        if schema_type in BINARIES:
            base64.b64decode(value, validate=True)
        elif schema_type == "TIMESTAMP" and not re.fullmatch(r"\d+(\.\d+)?|0000-00-00 00:00:00", value):
            raise Refused(f"{column} is {value!r}")
    return record


@pytest.mark.parametrize(("scenario", "limit"), [("tour", None), ("boundary", 600), ("orders", 400)])
def test_the_known_consumer_takes_every_message(scenario: str, limit: int | None) -> None:
    kinds = set()
    for message in stream(scenario, limit):
        record = consume(message)
        kinds.add(record["recordType"])
        if record["recordType"] == "UPDATE":
            # it deletes by record_primary_value and inserts postStruct
            names = record["allMetaData"]["record_primary_key"].split(SEPARATOR)
            assert [record["prevStruct"][name] for name in names] == [record["postStruct"][name] for name in names]
    assert kinds >= ({"ROW", "INSERT", "UPDATE", "DELETE", "DDL"} if scenario == "tour" else {"INSERT"})


def test_it_refuses_what_is_wrong() -> None:
    table = table_of("t", {"id": "int"}, ["id"])
    beat = block_of(Case("", (Beat(),)))
    (heartbeat,) = messages_of(f"{FORMAT},heartbeat=on", "oceanbase-mysql-4.3", beat)
    with pytest.raises(Refused, match="type HEARTBEAT"):
        consume(heartbeat)
    row = block_of(Case("", (Rows(INSERT, table, [["1"]]),)))
    (message,) = messages_of(f"{FORMAT},include_tenant_in_db=off", "oceanbase-mysql-4.3", row)
    with pytest.raises(Refused, match="without a tenant"):
        consume(message)
    statement = block_of(Case("", (Ddl(SchemaChangeKind.TRUNCATE_TABLE, "TRUNCATE TABLE t", table, table),)))
    (message,) = messages_of(FORMAT.partition(",")[0], "oceanbase-mysql-4.3", statement)
    with pytest.raises(KeyError, match="ddlType"):
        consume(message)


def test_statements_stand_on_all_partitions_between_the_changes_around_them() -> None:
    """It counts equal statements until it has one of each partition, and runs them in the order of their sequence."""
    copies: dict[bytes, list[int]] = defaultdict(list)
    last = {"DDL": 0, "row": 0}
    for message in stream("tour", None):
        record = consume(message)
        if record["recordType"] == "ROW":
            continue
        sequence = record["allMetaData"]["storeDataSequence"]
        if record["recordType"] == "DDL":
            copies[message.value or b""].append(message.partition or 0)
            assert sequence > last["row"]
            last["DDL"] = sequence
        else:
            assert sequence > max(last.values())
            last["row"] = sequence
    assert len(copies) > 5
    assert all(sorted(partitions) == list(range(PARTITIONS)) for partitions in copies.values())


# ----------------------------------------------------------------------------------------------------------- examples

# The row of the description, its keys id and region; one transaction of three changes.
ORDERS: Final = table_of(
    "orders",
    {
        "id": "int",
        "region": "varchar(10)",
        "name": "varchar(20)",
        "amount": "decimal(20,10)",
        "created": "datetime(3)",
        "upd_ts": "timestamp(6)",
        "pic": "blob",
        "bits": "bit(16)",
        "note": "text",
    },
    ["id", "region"],
)
WHEN: Final = ["2020-12-31 00:11:11.5", "2020-12-30 16:11:11.012345"]
OLD: Final = ["7", "cn", "张三", "12.3", *WHEN, "hello", "5", None]
NEW: Final = ["7", "cn", "李四", "0", *WHEN, "hello", "5", None]
SMALL: Final = table_of("orders", {"id": "int", "amount": "decimal(20,10)", "upd_ts": "timestamp(6)"}, ["id"])
TIMES: Final = Times(txn=214_708, event_ms=1_609_344_671_012, write_ms=1_609_344_671_987)

META: Final = (
    r'"record_primary_key":"id\u0001region","source_identity":"%s","record_primary_value":"7\u0001cn",'
    '"dbType":"OB_MYSQL",'
)
STRUCT: Final = (
    '{"id":7,"region":"cn","name":"%s","amount":%s,"created":"2020-12-31 00:11:11.5",'
    '"upd_ts":"1609344671.012345","pic":"aGVsbG8=","bits":"%s","note":null}'
)
EXAMPLES: Final = {
    "an update": (
        "oms-default",
        Rows(UPDATE, ORDERS, [NEW], [OLD]),
        '{"allMetaData":{"checkpoint":"1609344671",'
        + META % "np_4w1_source-000-0"
        + '"storeDataSequence":160934467100000,"table_name":"orders","db":"obt1.shop",'
        '"uniqueId":"1042_1002_52267214708_…_0","timestamp":"1609344671"},'
        f'"prevStruct":{STRUCT % ("张三", "12.3000000000", "BQ==")},"recordType":"UPDATE",'
        f'"postStruct":{STRUCT % ("李四", "0E-10", "BQ==")}}}',
    ),
    "a row of a full synchronization": (
        "oms-default",
        Rows(READ, ORDERS, [OLD]),
        r'{"allMetaData":{"checkpoint":"{\"id\":7,\"region\":\"cn\"}",'
        + META % "0"
        + '"table_name":"orders","db":"obt1.shop"},'
        f'"prevStruct":null,"recordType":"ROW","postStruct":{STRUCT % ("张三", "12.3000000000", "AAU=")}}}',
    ),
    "a statement": (
        "oms-default,version=4",
        Ddl(SchemaChangeKind.ADD_COLUMN, "ALTER TABLE `orders` ADD COLUMN `c2` INT", ORDERS, ORDERS),
        '{"allMetaData":{"checkpoint":"1609344671","record_primary_key":null,'
        '"source_identity":"np_4w1_source-000-0","record_primary_value":null,"dbType":"OB_MYSQL",'
        '"storeDataSequence":160934467100000,"ddlType":"ALTER TABLE","table_name":"orders","db":"obt1.shop",'
        '"uniqueId":null,"timestamp":"1609344671"},"prevStruct":null,"recordType":"DDL",'
        '"postStruct":{"ddl":"ALTER TABLE `orders` ADD COLUMN `c2` INT"}}',
    ),
    "a heartbeat": (
        "oms-default,heartbeat=on",
        Beat(),
        '{"allMetaData":{"checkpoint":"1609344671","record_primary_key":null,'
        '"source_identity":"np_4w1_source-000-0","record_primary_value":null,"dbType":"OB_MYSQL","table_name":null,'
        '"db":null,"timestamp":"1609344671"},"prevStruct":null,"recordType":"HEARTBEAT","postStruct":null}',
    ),
    "an update of Canal": (
        "oms-canal-json",
        Rows(UPDATE, ORDERS, [NEW], [OLD]),
        '{"database":"shop","sqlType":{"note":2005,"amount":3,"upd_ts":93,"created":93,"name":12,"bits":-7,"id":4,'
        '"pic":2004,"region":12},"data":[{"note":null,"amount":0E-10,"upd_ts":"1609344671.012345",'
        '"created":"2020-12-31 00:11:11.5","name":"李四","bits":"BQ==","id":7,"pic":"aGVsbG8=","region":"cn"}],'
        '"pkNames":["id","region"],"old":[{"amount":12.3000000000,"name":"张三"}],"mysqlType":{"note":"text",'
        '"amount":"decimal","upd_ts":"timestamp","created":"datetime","name":"varchar","bits":"bit","id":"int",'
        '"pic":"blob","region":"varchar"},"type":"UPDATE","table":"orders","es":1609344671000,"isDdl":false,'
        '"ts":1609344671987,"sql":""}',
    ),
    "a delete of Dataworks": (
        "oms-dataworks,business_name=CRM",
        Rows(DELETE, SMALL, [["7", "0", WHEN[1]]]),
        '{"version":"2.0","schema":{"source":{"dbType":"ob_mysql","dbVersion":null,"dbName":"shop","schema":null,'
        '"table":"orders"},"column":[{"name":"id","type":"INT"},{"name":"amount","type":"DECIMAL"},{"name":"upd_ts",'
        '"type":"TIMESTAMP"}],"pk":["id"]},"payload":{"before":{"data":{"id":7,"amount":0.0000000000,'
        '"upd_ts":"1609344671.012345"}},"after":null,"op":"DELETE","timestamp":{"eventTime":1609344671000,'
        '"systemTime":1609344671987,"checkpointTime":1609344671},"ddl":null,"scn":"160934467100000"},'
        '"extend":{"load_fm":"CRM"}}',
    ),
    "a heartbeat of Dataworks": (
        "oms-dataworks,heartbeat=on",
        Beat(),
        '{"version":"2.0","payload":{"timestamp":{"eventTime":1609344671000},"op":"HEARTBEAT"}}',
    ),
    "an update of SharePlex": (
        "oms-shareplex",
        Rows(UPDATE, ORDERS, [NEW], [OLD]),
        r'{"data":{"amount":0E-10,"name":"李四"},"meta":{"posttime":"2020-12-31T00:11:11","op":"upd","size":1,'
        r'"time":"2020-12-31T00:11:11","idx":"1/1","seq":1,"table":"shop.orders","rowid":"shop.orders-7\u0001cn",'
        '"trans":"52267214708","scn":"160934467100000"},"key":{"note":null,"amount":12.3000000000,'
        '"upd_ts":"1609344671.012345","created":"2020-12-31 00:11:11.5","name":"张三","bits":"BQ==","id":7,'
        '"pic":"aGVsbG8=","region":"cn"}}',
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    """But for where the redo log stood, which is another, and the sequence, which begins at 0 here."""
    format, step, expected = EXAMPLES[name]
    (message,) = messages_of(format, "oceanbase-mysql-4.3", block_of(Case("", (step,), TIMES)))
    text = re.sub(r"(_52267214708_)\d+_", r"\1…_", (message.value or b"").decode())
    text = re.sub(r"(\D160934467)\d{6}\b", r"\g<1>100000", text)
    assert text == expected
