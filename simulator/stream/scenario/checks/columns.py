"""Checks of all columns: values fit their types, columns do not depend on each other in a circle, keys are unique."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simulator.errors import all_problems
from simulator.sources.source import Source
from simulator.stream.generators.computed import expressions
from simulator.stream.scenario.checks.column import ColumnCheck, Fields, Node
from simulator.stream.scenario.checks.lifecycles import Home
from simulator.stream.scenario.language.values import Values
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.scenario import Field


@dataclass(frozen=True)
class Unique:
    """A unique key of a table, with the columns' fields and the key of the file that declares it."""

    table: str
    name: str
    fields: Sequence[str]
    path: Key


def check_columns(
    loaded: Loaded, fields: Fields, homes: Mapping[str, Home], source: Source, unique: Iterable[Unique]
) -> None:
    """Raises ScenarioError for columns with impossible values."""
    needs: dict[Node, list[Node]] = {}
    with all_problems() as part:
        for table, columns in fields.items():
            for name, field in columns.items():
                values = field.spec.values
                check = ColumnCheck(loaded, source, field, (*field.path, "values", values.kind), fields, homes)
                with part():
                    if field.spec.nulls and not field.column.nullable:
                        loaded.fail((*field.path, "nulls"), f"{field.column.name} cannot be null")
                with part():
                    check.values(values)
                    needs[table, name] = check.needs
        for table in fields:
            with part():
                _check_key(loaded, table, fields, homes)
        for unique_key in unique:
            with part():
                _check_unique(loaded, unique_key, fields, homes, source)
    _no_circles(loaded, fields, needs)


def _no_circles(loaded: Loaded, fields: Fields, needs: Mapping[Node, list[Node]]) -> None:
    done: set[Node] = set()

    def visit(node: Node, trail: tuple[Node, ...]) -> None:
        if node in trail:
            circle = " -> ".join(".".join(n) for n in (*trail[trail.index(node) :], node))
            field = fields[node[0]][node[1]]
            path = (*field.path, "values", field.spec.values.kind)
            loaded.fail(path, f"these columns depend on each other: {circle}")
        if node not in done:
            for need in needs[node]:
                visit(need, (*trail, node))
            done.add(node)

    for node in needs:
        visit(node, ())


def _check_key(loaded: Loaded, table: str, fields: Fields, homes: Mapping[str, Home]) -> None:
    """Fails unless the key differs between all rows that are alive at the same time."""
    key = loaded.spec.tables[table].key
    values = {name: fields[table][name].spec.values for name in key}
    for name, generated in values.items():
        path = fields[table][name].path
        if generated.kind == "references" and len(key) == 1:
            loaded.fail(path, "references alone are no key, since several rows may refer to one")
        if not generated.generator.unique and generated.kind not in ("row", "of", "references"):
            loaded.fail(
                path,
                f"a key needs unique values, and {generated.kind} may repeat one: use sequence, uuid, of, or row with "
                "another column",
            )
    if not key or any(generated.generator.unique for generated in values.values()):
        return
    if loaded.spec.tables[table].link(key[0]) == tuple(key):
        _check_link(loaded, table, key, fields, homes)
    elif not _copies_are_unique(loaded, table, list(values.values()), homes):
        loaded.fail(
            ("tables", table, "key"),
            "these columns do not make rows unique: use sequence, uuid, or of another table's key with row",
        )


def _check_link(loaded: Loaded, table: str, key: Sequence[str], fields: Fields, homes: Mapping[str, Home]) -> None:
    """Fails unless the references of a key can be unique together: to permanent rows, drawn evenly, never updated."""
    spec, home = loaded.spec.tables[table], homes[table]
    for name in key:
        field = fields[table][name]
        reference, path = field.spec.values.arguments, (*field.path, "values", "references")
        if not homes[reference.table].permanent:
            loaded.fail(
                (*path, "table"),
                f"{reference.table} has no permanent rows, to which references that are unique together must be",
            )
        if reference.skew != 1 or reference.recent:
            loaded.fail(
                path, "references that are unique together with others are drawn evenly: leave out skew, recent"
            )
        updated = home.lifecycle is None and spec.mix.update and field.spec.changes and name not in spec.key
        if updated or any(name in columns for _, _, columns in home.updates):
            loaded.fail(
                field.path,
                "a reference that is unique together with others stays as it is: write `changes: no`, "
                "or leave it out of `set`",
            )


def _copies_are_unique(loaded: Loaded, table: str, values: Sequence[Values], homes: Mapping[str, Home]) -> bool:
    """Whether copies of another table's key make rows unique: together with `row`, or if each has one row."""
    copies = [
        copy.table
        for copy in (value.arguments for value in values if value.kind == "of")
        if copy.via is None and list(loaded.spec.tables[copy.table].key) == [copy.name]
    ]
    home = homes[table]
    one_each = any(home.single or home.counted_as == homes[source].counted_as for source in copies)
    return one_each or (bool(copies) and "row" in (value.kind for value in values))


def _check_unique(loaded: Loaded, key: Unique, fields: Fields, homes: Mapping[str, Home], source: Source) -> None:
    """Fails unless rows that are alive at the same time differ in a unique key; nulls may repeat where the system
    allows it.
    """

    def lasts(field: Field) -> bool:
        """Whether neither nulls nor the default of older rows make values repeat."""
        null = [field.column.name == fields[key.table][name].column.name for name in key.fields]
        nulls = field.spec.nulls or (field.since is not None and field.added_default is None)
        return (not nulls or source.may_repeat(null)) and field.added_default is None

    deciding = [field for field in (fields[key.table][name] for name in key.fields) if lasts(field)]
    values = [field.spec.values for field in deciding]
    if len(deciding) == len(key.fields) and loaded.spec.tables[key.table].link(key.fields[0]) == tuple(key.fields):
        _check_link(loaded, key.table, key.fields, fields, homes)
        return
    primary = [fields[key.table][name].spec.values.kind for name in loaded.spec.tables[key.table].key]
    has_unique = any(_is_made_of_unique(value, fields[key.table], primary) for value in values)
    if not has_unique and not _copies_are_unique(loaded, key.table, values, homes):
        loaded.fail(
            key.path,
            f"the columns of the unique key {key.name!r} may repeat values: give one of them a sequence or a uuid, "
            "without nulls, or write `of` another table's key with row",
        )


def _is_made_of_unique(values: Values, columns: Mapping[str, Field], primary: Sequence[str]) -> bool:
    """Whether values never repeat: a sequence, a uuid, or a text that contains such a value of the same row."""
    if values.generator.keyed(values.arguments) and primary == ["sequence"]:
        return True
    if values.kind != "derived":
        return values.generator.unique
    match expressions.parse(values.arguments):
        case ast.Call(func=ast.Name(id="concat"), args=arguments):
            read = [columns[argument.id] for argument in arguments if isinstance(argument, ast.Name)]
            texts = sum(isinstance(argument, ast.Constant) for argument in arguments)
            single = len(read) == 1 and len(read) + texts == len(arguments)
            # the default of an added column repeats
            always_set = single and not read[0].spec.nulls and read[0].since is None
            return always_set and read[0].spec.values.generator.unique
    return False
