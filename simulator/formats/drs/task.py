"""Common layout of Huawei Cloud DRS's formats, and the kinds of event that a synchronisation task sends.

Spec: "Kafka Message Format" (page of 2024-03-28). No edition of it knows heartbeats or transaction marks.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from simulator.delivery.steps.times import previous_commits
from simulator.formats.drs.options import DrsOptions
from simulator.formats.drs.routing import routing
from simulator.formats.drs.systems.system import System, TableSystem
from simulator.formats.format import Layout, Settings
from simulator.formats.known import Known, down_to
from simulator.formats.redelivery import DRS
from simulator.formats.writing import OneMessage, Values, outside_tables, without_table
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Column, Kind, Table
from simulator.wire.avro import Container

PRODUCT: Final = "Huawei Cloud DRS"
SPEC: Final = "Kafka Message Format, 2024-03-28"
SENDS: Final = frozenset({READ, INSERT, UPDATE, DELETE, DDL})
SILENT: Final = frozenset({BEGIN, COMMIT, HEARTBEAT})


def sends(options: DrsOptions, system: System) -> frozenset[Kind]:
    """The kinds of event that a task sends."""
    ddl = system.ddl if options.sync_ddl is None else options.sync_ddl
    full_sync = system.full_sync if options.full_sync is None else options.full_sync
    return SENDS - (frozenset() if ddl else {DDL}) - (frozenset() if full_sync else {READ})


@dataclass(frozen=True, kw_only=True)
class SomeColumns(OneMessage):
    """Messages without the columns that DRS filters out."""

    system: TableSystem

    def columns(self, table: Table, kind: Kind) -> Collection[int]:
        return self.system.columns(table)


def layout(
    settings: Settings[DrsOptions],
    format: str,
    system: System,
    values: Values,
    container: Container | None = None,
    *,
    unit_us: int = 1,
) -> Layout:
    """The layout of all formats around their values. `unit_us`: microseconds of the last digit of timestamps in UTC.
    Raises OptionError for topics that DRS does not offer."""

    def known(column: Column) -> Known | None:
        in_utc = settings.source.family(column.type) == "timestamptz" or column.type.name == system.in_utc
        return down_to(unit_us) if unit_us > 1 and in_utc else None

    sent = sends(settings.options, system)
    return Layout(
        SomeColumns(values, system=system) if isinstance(system, TableSystem) else OneMessage(values),
        routing(settings, format, system),
        known=known,
        container=container,
        sends=sent,
        statements=system.statements,
        # a full load opens with the CREATE TABLE of each table
        omits=without_table if READ in sent else outside_tables,
        row_images=system.row_images if isinstance(system, TableSystem) else frozenset(),
        steps=(previous_commits,) if system.previous_commit else (),
        redelivery=DRS,
    )
