"""Turns a scenario file into a scenario: tables for each type, all checks, schema changes, pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from simulator.errors import UsageError, all_problems
from simulator.model import SchemaChangeKind, Table, UniqueKey
from simulator.sources import SPEAKS, find
from simulator.sources.source import Source
from simulator.stream.scenario import tables
from simulator.stream.scenario.checks.column import literals
from simulator.stream.scenario.checks.columns import Unique, check_columns
from simulator.stream.scenario.checks.lifecycles import homes
from simulator.stream.scenario.each_type import expand
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.scenario import Change, Field, Scenario
from simulator.stream.scenario.tables import unknown
from simulator.values.pools import Pool, ask_faker, shipped


def resolve(loaded: Loaded, source: Source, *, seed: int | None = None) -> Scenario:
    """The scenario on this source; `seed` None: the scenario's. Raises ScenarioError for the rules that it breaks.

    `ScriptStream` checks the literal rows of a script by running it. The generated stream checks that updates change
    something, that keys do not run out, and the number of heartbeats.
    """
    _check_source(loaded, source)
    _check_row_images(loaded, source)
    loaded, each_type = expand(loaded, source)
    spec = loaded.spec if seed is None else loaded.spec.model_copy(update={"seed": seed})
    lowered: dict[str, str] = {}
    first: dict[str, Table] = {}
    with all_problems() as part:
        for name, table in spec.tables.items():
            with part():
                if name.lower() in lowered:
                    twin = lowered[name.lower()]
                    loaded.fail(("tables", name), f"duplicate table {twin!r}: some servers ignore case in names")
                lowered[name.lower()] = name
                if spec.script is None and not table.created:
                    loaded.fail(("tables", name, "created"), "only a script can create tables; remove this key")
            with part():
                first[name] = tables.first_version(loaded, name, source)
        if spec.script is not None:
            _check_script_tables(loaded)
    fields: Mapping[str, Mapping[str, Field]] = {}
    changes: tuple[Change, ...] = ()
    if spec.script is None:
        fields, changes, unique = _fields(loaded, first, source)
        check_columns(loaded, fields, homes(loaded, fields), source, unique)
    return Scenario(
        spec,
        loaded.file,
        loaded.name,
        loaded.data,
        source=source,
        first_tables=tuple(first.values()),
        fields=fields,
        changes=changes,
        pools=_pools(fields),
        each_type={first[name].id: type for name, type in each_type.items()},
    )


def _check_source(loaded: Loaded, source: Source) -> None:
    if loaded.spec.source is None:
        return
    try:
        declared = find(loaded.spec.source)
    except UsageError as error:
        loaded.fail(("source",), str(error))
    if declared.id not in (source.id, SPEAKS.get(source.id)):
        loaded.fail(("source",), f"the columns have types of {declared.title}, so it cannot run on {source.title}")
    if not source.has_schemas:
        schemas: dict[Key, str | None] = {("schema",): loaded.spec.db_schema}
        schemas |= {("tables", name, "schema"): table.db_schema for name, table in loaded.spec.tables.items()}
        for path, schema in schemas.items():
            if schema is not None:
                loaded.fail(path, f"{declared.title} has no schemas inside of databases; use database")


def _check_row_images(loaded: Loaded, source: Source) -> None:
    for setting, value in loaded.spec.row_images.items():
        source_setting, values = source.row_image_setting, source.row_images
        if value == "nothing" and setting == source_setting:
            problem = "the server refuses every UPDATE and DELETE then, and logs an INSERT as with default; use default"
            loaded.fail((setting,), problem)
        if value and setting != source_setting:
            instead = (
                f"it has {source_setting} ({', '.join(values)}): use that, or remove this key"
                if source_setting
                else "remove this key"
            )
            loaded.fail((setting,), f"{source.title} has no such setting; {instead}")
        if value and value not in values:
            loaded.fail((setting,), f"{source.title} has no {value!r}, but {', '.join(values)}")


def _check_script_tables(loaded: Loaded) -> None:
    with all_problems() as part:
        for name, table in loaded.spec.tables.items():
            for column, spec in table.columns.items():
                for key in ("values", "nulls", "changes"):
                    with part():
                        if key in spec.model_fields_set:
                            problem = f"{key} has no effect in a script, whose rows contain every value; remove it"
                            loaded.fail(("tables", name, "columns", column, key), problem)


def _fields(
    loaded: Loaded, first: Mapping[str, Table], source: Source
) -> tuple[Mapping[str, Mapping[str, Field]], tuple[Change, ...], Sequence[Unique]]:
    """All columns of each table at any time, by permanent name, the schema changes checked in order, and all unique
    keys.
    """
    spec = loaded.spec
    # a key that the source composes is not a column of the scenario
    fields = {
        name: {
            column.field: Field(
                name, column, spec.tables[name].columns[column.field], ("tables", name, "columns", column.field)
            )
            for column in table.columns
            if column.field in spec.tables[name].columns
        }
        for name, table in first.items()
    }
    unique = [
        _unique(name, table, key, ("tables", name, "unique"))
        for name, table in first.items()
        for key in table.unique_keys
    ]
    current = dict(first)
    changes: list[Change] = []
    indexes: set[tuple[str, str]] = set()
    wrong: set[str] = set()  # tables with a faulty change: later changes cannot be checked
    with all_problems() as part:
        for i in sorted(range(len(spec.schema_changes)), key=lambda i: spec.schema_changes[i].at):
            if (name := spec.schema_changes[i].table) in wrong:
                continue
            wrong.add(name)
            with part():
                change, path = spec.schema_changes[i], ("schema_changes", i)
                if name not in current:
                    unknown(loaded, (*path, "table"), "table", name, current)
                applied = tables.apply(loaded, path, current[name], change, source)
                changes.append(Change(change.at, name, applied))
                after = current[name] = changes[-1].after
                if change.add_column is not None:
                    new = change.add_column
                    where_key = (*path, "add_column")
                    if new.name in fields[name]:
                        loaded.fail(
                            (*where_key, "name"), f"{name} had a column {new.name!r} before; choose another name"
                        )
                    column = tables.find_column(loaded, (*where_key, "name"), after, new.name, source)
                    default = new.default if source.ddl.fills_columns else None
                    fields[name][new.name] = Field(
                        name, column, new.column, (*where_key, "column"), since=change.at, added_default=default
                    )
                    literals(loaded, (*where_key, "default"), [new.default], column.type, source)
                elif change.drop_column is not None:
                    before = tables.find_column(loaded, path, _before(applied), change.drop_column.column, source).field
                    _check_dropped(loaded, (*path, "drop_column", "column"), name, before)
                    fields[name][before] = replace(fields[name][before], until=change.at)
                elif applied.kind is SchemaChangeKind.CREATE_INDEX and change.create_index is not None:
                    if (name, change.create_index.name) in indexes:
                        loaded.fail((*path, "create_index", "name"), f"{name} has an index of this name already")
                    indexes.add((name, change.create_index.name))
                    if change.create_index.unique:
                        unique.append(_unique(name, after, after.unique_keys[-1], (*path, "create_index")))
                wrong.discard(name)
    return fields, tuple(changes), unique


def _unique(name: str, table: Table, key: UniqueKey, path: Key) -> Unique:
    return Unique(name, key.name, [table.columns[table.positions[column]].field for column in key.columns], path)


def _before(applied: tables.Applied) -> Table:
    assert applied.before is not None
    return applied.before


def _check_dropped(loaded: Loaded, path: tuple[str | int, ...], table: str, field: str) -> None:
    """Fails if an update sets only the dropped column, since it would change nothing from then on."""
    for name, life in loaded.spec.lifecycles.items():
        for _, step in life.walk():
            for statement in step.do:
                if statement.update == table and _only(statement.set or (), field):
                    loaded.fail(path, f"step {step.name!r} of {name} sets only this column, and would then set none")


def _only(columns: Iterable[str], field: str) -> bool:
    return set(columns) == {field}


def _pools(fields: Mapping[str, Mapping[str, Field]]) -> dict[Pool, tuple[str, ...] | None]:
    """The texts of all pools; None for shipped ones."""
    values = [field.spec.values for columns in fields.values() for field in columns.values()]
    pools = [pool for value in values for pool in value.generator.pools(value.arguments)]
    return {pool: None if shipped(pool) else ask_faker(pool) for pool in pools}
