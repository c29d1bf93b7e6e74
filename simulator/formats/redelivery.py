"""Restart rules of all products, by product and source.

Captured from Canal 1.1.8, Maxwell 1.44.0 and Debezium 3.6.3 (Kafka Connect and embedded) that were killed or stopped
and started again. The other products cannot be run; their pages say this much:

* DTS, "Use a Kafka client to consume tracked data" and "Modify the consumption checkpoint": a checkpoint is a time in
  seconds; records after the last committed one may come again. They lie ready in DTS's store, so they are kept as
  they are.
* OMS, "Synchronize data from OceanBase Database to Kafka": after an interruption there may be duplicates of about the
  last minute.
* DRS, "From PostgreSQL to Kafka": after a pause there may be duplicates, which share their `id`.
* CloudCanal: resumes from a stored position.

Decided where they say nothing: whole transactions come again, write times are new, all that comes from the log is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from simulator.delivery.redelivery import Redelivery

_WRITTEN: Final = "the time of the second writing"

CANAL: Final = Redelivery(
    "transaction", "canal.file.flush.period", 1000, "captured", stop="transaction",
    renewed={"id": "counts from 1 in each life", "ts": _WRITTEN},
)  # fmt: skip
MAXWELL: Final = Redelivery(
    "transaction", "none: the position is stored every second", 1000, "captured",
    renewed={"key": "of DDL: another UUID", "old": "of DDL: `primary-key` comes last", "def": "of DDL: as `old`",
             "push_ts": _WRITTEN},
)  # fmt: skip
_DEBEZIUM: Final = {
    "ts_ms": _WRITTEN,
    "ts_us": _WRITTEN,
    "ts_ns": _WRITTEN,
    "header __debezium.context.runId": "another one in each life",
}
DEBEZIUM: Final = Redelivery(
    "record", "offset.flush.interval.ms", 60_000, "captured", snapshots_again=True, renewed=_DEBEZIUM
)
# The offset of a transaction's last row does not count the commit, which is read again.
DEBEZIUM_GTID: Final = replace(DEBEZIUM, repeats_commit=True)
# Without GTIDs every DDL statement of the schema history counts as older than the stored position.
DEBEZIUM_BINLOG: Final = replace(DEBEZIUM_GTID, fails_at_ddl=True)
DTS: Final = Redelivery("second", "the consumer's commits of checkpoints", 5000, "documented", rewrites=False)
OMS: Final = Redelivery(
    "second", "none: about a minute", 60_000, "documented",
    renewed={"ts": _WRITTEN, "payload.timestamp.systemTime": _WRITTEN, "meta.posttime": _WRITTEN},
)  # fmt: skip
DRS: Final = Redelivery(
    "transaction", "none: pause or failure of the task", 1000, "documented", renewed={"ts": _WRITTEN}
)
CLOUDCANAL: Final = Redelivery(
    "transaction", "none: the position is stored now and then", 1000, "decided", stop="transaction",
    renewed={"ts": _WRITTEN, "sendTs": _WRITTEN, "ts_ms": _WRITTEN, "source.ts_ms": _WRITTEN,
             "bornTimestamp": _WRITTEN, "tags": "with the time of the second writing"},
)  # fmt: skip

# Rules by product, for people.
RULES: Final[Mapping[str, Redelivery]] = {
    "Canal": CANAL,
    "Maxwell": MAXWELL,
    "Debezium": DEBEZIUM,
    "Debezium for MySQL": DEBEZIUM_BINLOG,
    "Debezium for MySQL with GTIDs and MariaDB": DEBEZIUM_GTID,
    "DTS": DTS,
    "OMS": OMS,
    "DRS": DRS,
    "CloudCanal": CLOUDCANAL,
}
