"""Supplemental logging of the database: which columns of an UPDATE the redo log holds, in both images.

| setting | columns |
| --- | --- |
| all | all |
| minimal | those that changed |
| primary key | these and the primary key, else a unique key that is NOT NULL, else all |
| unique | these and all columns of a unique key of which one changed |
| primary key, unique | both |

A DELETE has the whole row, which is needed to undo it. Source: Oracle's documentation of supplemental logging.
"""

from __future__ import annotations

from simulator.batch import ChangeBatch
from simulator.model import UPDATE
from simulator.sources.partial_images import changed, parts


def as_logged(batch: ChangeBatch, logging: str) -> list[ChangeBatch]:
    """The changes with the columns in the log, one batch per set of columns."""
    table, key = batch.table, list(batch.table.row_key_positions)
    if logging == "all" or batch.kind is not UPDATE:
        return [batch]
    logged = different = changed(batch)
    if "primary key" in logging:
        logged = logged.copy()
        logged[:, key or slice(None)] = True
    if "unique" in logging:
        logged = logged.copy()
        for unique in (table.primary_key, *(constraint.columns for constraint in table.unique_keys)):
            positions = [table.positions[name] for name in unique]
            logged[:, positions] |= different[:, positions].any(axis=1, keepdims=True)
    return parts(batch, logged, logged)
