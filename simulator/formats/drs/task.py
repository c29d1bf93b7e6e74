"""What the formats of Huawei Cloud DRS share: the kinds of event that a synchronisation task sends, and its layout.

Spec: "Kafka Message Format" (page of 2024-03-28). No edition of it knows heartbeats or transaction marks.
"""

from __future__ import annotations

from typing import Final

from simulator.formats.drs.options import DrsOptions
from simulator.formats.drs.routing import routing
from simulator.formats.drs.systems.system import System, TableSystem
from simulator.formats.format import Layout, Settings, Writer, of_stream, without_table
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Kind
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


def layout(
    settings: Settings[DrsOptions], format: str, system: System, writer: Writer, container: Container | None = None
) -> Layout:
    """A writer with what all formats share. Raises OptionError for topics that DRS does not offer."""
    sent = sends(settings.options, system)
    return Layout(
        writer,
        routing(settings, format, system),
        container=container,
        sends=sent,
        never=system.never,
        statements=system.statements,
        # a full load opens with the CREATE TABLE of each table
        omits=without_table if READ in sent else of_stream,
        row_images=system.row_images if isinstance(system, TableSystem) else frozenset(),
        event_time="previous commit" if system.previous_commit else "commit",
        columns=(lambda table, kind: system.columns(table)) if isinstance(system, TableSystem) else None,
    )
