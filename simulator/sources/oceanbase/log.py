"""OceanBase's commit log: transaction ids, and the offset of a change in the log stream of its tenant.

Products that read the commit log print these. Those that read OceanBase as if it were MySQL or Oracle print the
positions of such a log.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import Ints
from simulator.sources.log import Entries, Log, spread, text
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oracle.log import OracleLog

# Ids of a tenant and its log stream; first transaction id and byte offset.
TENANT_ID: Final = 1042
LOG_STREAM_ID: Final = 1002
FIRST_TRANSACTION_ID: Final = 52_267_000_000
FIRST_LSN: Final = 112_495_476_000_000
TRANSACTION_BYTES: Final = 1 << 20
ROW_BYTES: Final = 64


class OceanbaseLog(Log):
    """The commit log of a tenant."""

    def redo_lsn(self, entries: Entries) -> Ints:
        """The offset of each entry in its log stream, in bytes."""
        offset_in_transaction = spread(np.maximum(entries.seq, 0), step=ROW_BYTES, share=TRANSACTION_BYTES)
        return FIRST_LSN + entries.txn * TRANSACTION_BYTES + offset_in_transaction

    def transaction_id(self, entries: Entries) -> pa.Array:
        return text(FIRST_TRANSACTION_ID + entries.txn)


class OceanbaseMysqlLog(OceanbaseLog, MysqlLog):
    """Log of a tenant in MySQL mode, which also has a binary log."""


class OceanbaseOracleLog(OceanbaseLog, OracleLog):
    """Log of a tenant in Oracle mode, which also has SCNs."""

    def xid(self, entries: Entries) -> pa.Array:
        return self.transaction_id(entries)
