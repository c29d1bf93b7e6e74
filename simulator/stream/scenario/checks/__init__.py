"""Rules of a scenario that need more than one key to judge. Each failure is one sentence at the key that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from simulator.errors import UsageError
from simulator.model import SchemaChangeKind, Table
from simulator.sources import Source, find
from simulator.stream.scenario import tables
from simulator.stream.scenario.checks.entities import check_entities
from simulator.stream.scenario.checks.lifecycles import homes
from simulator.stream.scenario.checks.values import Declared, check_values, literals
from simulator.stream.scenario.each_type import expand
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import unknown


def check(loaded: Loaded, source: Source) -> None:
    """Raise ScenarioError for the first rule that the scenario breaks on this source.

    The literal rows of a script are judged by `ScriptStream`, since that needs running it; whether an update may change
    nothing, and how long keys last, by the generated stream.
    """
    _check_source(loaded, source)
    loaded, _ = expand(loaded, source)
    spec = loaded.spec
    lowered: dict[str, str] = {}
    for name in spec.tables:
        if name.lower() in lowered:
            twin = lowered[name.lower()]
            loaded.fail(("tables", name), f"a table {twin!r} is there already; some servers see no case in names")
        lowered[name.lower()] = name
    first = {name: tables.first_version(loaded, name, source) for name in spec.tables}
    if spec.script is not None:
        _check_script_tables(loaded)
        return
    for name, table in spec.tables.items():
        if not table.created:
            loaded.fail(("tables", name, "created"), "only a script creates tables; a stream has them from the start")
    declared = _declared(loaded, first, source)
    lives = homes(loaded, declared)
    for columns in declared.values():
        for column in columns.values():
            check_values(loaded, column, lives[column.table], source)
    check_entities(loaded, declared, lives, source)


def _check_source(loaded: Loaded, source: Source) -> None:
    if loaded.spec.source is None:
        return
    try:
        own = find(loaded.spec.source)
    except UsageError as error:
        loaded.fail(("source",), str(error))
    if own.id != source.id:
        loaded.fail(("source",), f"the columns have types of {own.title}, so it cannot run as {source.title}")


def _check_script_tables(loaded: Loaded) -> None:
    for name, table in loaded.spec.tables.items():
        for column, spec in table.columns.items():
            for key in ("values", "nulls", "changes"):
                if key in spec.model_fields_set:
                    path = ("tables", name, "columns", column, key)
                    loaded.fail(path, f"{key} is of no use in a script, whose rows say every value")


def _declared(loaded: Loaded, first: Mapping[str, Table], source: Source) -> Mapping[str, Mapping[str, Declared]]:
    """All columns that each table ever has, under the names that they keep; schema changes checked in their order."""
    spec = loaded.spec
    declared = {
        name: {
            column.field: Declared(
                name, column, spec.tables[name].columns[column.field], ("tables", name, "columns", column.field)
            )
            for column in table.columns
            if column.field in spec.tables[name].columns
        }
        for name, table in first.items()
    }
    now = dict(first)
    indexes: set[tuple[str, str]] = set()
    for i in sorted(range(len(spec.schema_changes)), key=lambda i: spec.schema_changes[i].at):
        change, path = spec.schema_changes[i], ("schema_changes", i)
        name = change.table
        if name not in now:
            unknown(loaded, (*path, "table"), "table", name, now)
        applied = tables.apply(loaded, path, now[name], change, source)
        assert applied.after is not None
        now[name] = applied.after
        if change.add_column is not None:
            new = change.add_column
            at = (*path, "add_column")
            if new.name in declared[name]:
                loaded.fail((*at, "name"), f"{name} had a column {new.name!r} before; a new one wants another name")
            column = tables.find_column(loaded, (*at, "name"), applied.after, new.name, source)
            declared[name][new.name] = Declared(name, column, new.column, (*at, "column"))
            literals(loaded, (*at, "default"), [new.default], column.type, source)
        elif change.drop_column is not None:
            before = tables.find_column(loaded, path, _before(applied), change.drop_column.column, source)
            _check_dropped(loaded, (*path, "drop_column", "column"), name, before.field)
        elif applied.kind is SchemaChangeKind.CREATE_INDEX and change.create_index is not None:
            if (name, change.create_index.name) in indexes:
                loaded.fail((*path, "create_index", "name"), f"{name} has an index of this name already")
            indexes.add((name, change.create_index.name))
    return declared


def _before(applied: tables.Applied) -> Table:
    assert applied.before is not None
    return applied.before


def _check_dropped(loaded: Loaded, path: tuple[str | int, ...], table: str, field: str) -> None:
    """An update that sets nothing but the dropped column would change nothing from then on."""
    for name, life in loaded.spec.lifecycles.items():
        for step in life.steps:
            for statement in step.do:
                if statement.update == table and _only(statement.set or (), field):
                    loaded.fail(
                        path, f"step {step.name!r} of {name} sets this column alone; without it, it sets nothing"
                    )


def _only(columns: Iterable[str], field: str) -> bool:
    return set(columns) == {field}
