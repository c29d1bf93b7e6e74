"""Columns that take their values from other columns, and keys: that what they name is there, alive and unique."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial
from typing import Final

import pyarrow as pa

from simulator.sources import Source
from simulator.stream.generators import expressions
from simulator.stream.scenario.checks.lifecycles import Home
from simulator.stream.scenario.checks.values import NUMBERS, carrier
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.scenario import Field
from simulator.stream.scenario.tables import unknown

Columns = Mapping[str, Mapping[str, Field]]
Homes = Mapping[str, Home]
Node = tuple[str, str]  # table and column
# Sums and products are made in 64 bits.
MOST_DIGITS: Final = 18


def check_entities(loaded: Loaded, columns: Columns, homes: Homes, source: Source) -> None:
    """Raise ScenarioError for references, copies, expressions and keys that cannot be."""
    _Entities(loaded, columns, homes, source).check()


class _Entities:
    def __init__(self, loaded: Loaded, columns: Columns, homes: Homes, source: Source) -> None:
        self.loaded, self.columns, self.homes, self.source = loaded, columns, homes, source
        self.needs: dict[Node, list[Node]] = {}

    def check(self) -> None:
        for table, columns in self.columns.items():
            for name, field in columns.items():
                kind = field.spec.values.kind
                path = (*field.path, "values", kind)
                if kind == "references":
                    self._references(path, field)
                elif kind == "of":
                    self._of(path, field)
                elif kind == "derived":
                    self._derived(path, field)
                else:
                    self.needs[table, name] = []
        self._no_cycles()
        for table in self.columns:
            self._key(table)

    def _home(self, field: Field) -> Home:
        return self.homes[field.table]

    def _fits(self, path: Key, field: Field, other: Field) -> None:
        """The other column's values must be values of this one."""
        old, new = other.column.type, field.type
        ddl = self.source.ddl
        if ddl.type_name(old) != ddl.type_name(new) and not ddl.widens(old, new):
            was, here = ddl.type_name(old), ddl.type_name(new)
            self.loaded.fail(path, f"{other.table}.{other.column.name} is {was}, which does not fit into {here}")
        if other.column.nullable and not field.column.nullable:
            self.loaded.fail(path, f"{other.table}.{other.column.name} may be null and {field.column.name} not")

    # ------------------------------------------------------------------------------------------------------ references

    def _references(self, path: Key, field: Field) -> None:
        loaded, values = self.loaded, field.spec.values
        assert values.references is not None
        table = values.references.table
        at = (*path, "table")
        if table not in self.columns:
            unknown(loaded, at, "table", table, self.columns)
        spec = loaded.spec.tables[table]
        if len(spec.key) != 1:
            loaded.fail(at, f"{table} has no key of a single column to refer to")
        if not self.homes[table].eternal:
            loaded.fail(
                at,
                f"no row of {table} lives for the whole stream; its lifecycle must repeat, with {table} in the first "
                "step, or its mix must leave more updates than the rows that are deleted take",
            )
        key = spec.key[0]
        if spec.key_updates or any(key in columns for _, _, columns in self.homes[table].updates):
            loaded.fail(at, f"the key of {table} changes, so nothing may refer to it")
        self._fits(path, field, self.columns[table][key])
        self.needs[field.table, field.name] = [(table, key)]

    # -------------------------------------------------------------------------------------------------------------- of

    def _of(self, path: Key, field: Field) -> None:
        loaded, home = self.loaded, self._home(field)
        table, _, name = (field.spec.values.of or "").partition(".")
        self._same_entity(path, field, table)
        if name not in self.columns[table]:
            unknown(loaded, path, f"column of {table}", name, self.columns[table])
        other = self.homes[table]
        if table != field.table:
            if other.inserted > home.inserted:
                loaded.fail(path, f"{table} is inserted after {field.table}, so it has no value to copy yet")
            if other.deleted is not None and other.deleted < max(home.settings(field.name)):
                loaded.fail(path, f"{table} is deleted before {field.table}.{field.column.name} is set")
            if not other.single and other.counted_as != home.counted_as:
                loaded.fail(path, f"{table} has several rows; {field.table} must have as many, with rows: {table}")
        self._fits(path, field, self.columns[table][name])
        self._follows_key(path, field, table, name)
        self.needs[field.table, field.name] = [(table, name)]

    def _same_entity(self, path: Key, field: Field, table: str) -> None:
        if table not in self.columns:
            unknown(self.loaded, path, "table", table, self.columns)
        mine, other = self._home(field).lifecycle, self.homes[table].lifecycle
        if table != field.table and (mine is None or mine != other):
            self.loaded.fail(path, f"{table} is not in the lifecycle of {field.table}; references reach other entities")

    def _follows_key(self, path: Key, field: Field, table: str, name: str) -> None:
        """A copy of a key changes together with it."""
        if name not in self.loaded.spec.tables[table].key:
            return
        home, name_here = self._home(field), field.name
        copied = {step for step, _, columns in home.updates if name_here in columns}
        for step, place, columns in self.homes[table].updates:
            there = home.inserted < place and (home.deleted is None or home.deleted > place)
            if name in columns and there and step not in copied:
                self.loaded.fail(
                    path,
                    f"step {step!r} changes the key {table}.{name}, so it must set {field.table}.{name_here} as well",
                )

    # --------------------------------------------------------------------------------------------------------- derived

    def _derived(self, path: Key, field: Field) -> None:
        text = field.spec.values.derived or ""
        try:
            tree = expressions.parse(text)
        except ValueError as error:
            self.loaded.fail(path, str(error))
        needs: list[Node] = []
        _Expression(self, path, field, needs).walk(tree, aggregated=None)
        self.needs[field.table, field.name] = needs

    def _no_cycles(self) -> None:
        done: set[Node] = set()

        def visit(node: Node, trail: tuple[Node, ...]) -> None:
            if node in trail:
                round_trip = " -> ".join(".".join(n) for n in (*trail[trail.index(node) :], node))
                field = self.columns[node[0]][node[1]]
                path = (*field.path, "values", field.spec.values.kind)
                self.loaded.fail(path, f"these columns wait for each other: {round_trip}")
            if node not in done:
                for need in self.needs[node]:
                    visit(need, (*trail, node))
                done.add(node)

        for node in self.needs:
            visit(node, ())

    # ------------------------------------------------------------------------------------------------------------- keys

    def _key(self, table: str) -> None:
        """The key's values must differ between all rows that ever live at the same time."""
        key = self.loaded.spec.tables[table].key
        if not key:
            return
        kinds = {name: self.columns[table][name].spec.values.kind for name in key}
        for name, kind in kinds.items():
            path = self.columns[table][name].path
            if kind in ("sequence", "uuid", "row", "of"):
                continue
            if kind == "references":
                if len(key) == 1:
                    self.loaded.fail(path, "references alone make no key, since several rows may refer to one")
                continue
            self.loaded.fail(
                path,
                f"a key wants values that are unique, not {kind}: sequence, uuid, of, or row beside another column",
            )
        if any(kind in ("sequence", "uuid") for kind in kinds.values()):
            return
        home = self.homes[table]
        copies = [name for name, kind in kinds.items() if kind == "of" and self._is_unique(table, name)]
        one_each = any(self._one_each(home, table, name) for name in copies)
        if not one_each and not (copies and "row" in kinds.values()):
            self.loaded.fail(
                ("tables", table, "key"),
                "these columns do not make rows unique; a sequence, a uuid, or of another table's key with row does",
            )

    def _source_of(self, table: str, name: str) -> Node:
        other, _, column = (self.columns[table][name].spec.values.of or "").partition(".")
        return other, column

    def _is_unique(self, table: str, name: str) -> bool:
        """Whether a column copies what is a table's whole key."""
        other, column = self._source_of(table, name)
        return list(self.loaded.spec.tables[other].key) == [column]

    def _one_each(self, home: Home, table: str, name: str) -> bool:
        """Whether there is one row for each row of the table whose key is copied."""
        other = self.homes[self._source_of(table, name)[0]]
        return home.single or home.counted_as == other.counted_as


class _Expression:
    """One derived column's expression walked through: names must be there, and each part a number or a text."""

    def __init__(self, entities: _Entities, path: Key, field: Field, needs: list[Node]) -> None:
        self.entities, self.path, self.field, self.needs = entities, path, field, needs
        self.fail = partial(entities.loaded.fail, path)
        self._check_digits(field)
        self.is_text = carrier(field.type, entities.source) == "text"

    def walk(self, tree: ast.expr, *, aggregated: str | None, number: bool = False) -> None:
        """`aggregated` is the table inside whose sum, min or max this stands; `number` if a text will not do."""
        number = number or not self.is_text
        match tree:
            case ast.Constant(value=bool()):
                self.fail(f"{ast.unparse(tree)} is no number and no text")
            case ast.Constant(value=str()) if number:
                self.fail(f"{ast.unparse(tree)} is a text where a number is wanted; texts belong into concat(…)")
            case ast.Name(id=name):
                self._column(self.field.table, name, number)
                if aggregated is not None and aggregated != self.field.table:
                    self.fail(f"{name!r} is a column of this row; inside the brackets columns are written table.column")
            case ast.Attribute(value=ast.Name(id=table), attr=name):
                self._of_table(table, name, aggregated, number)
            case ast.BinOp(left=left, right=right):
                self.walk(left, aggregated=aggregated, number=True)
                self.walk(right, aggregated=aggregated, number=True)
            case ast.UnaryOp(operand=operand):
                self.walk(operand, aggregated=aggregated, number=True)
            case ast.Call(func=ast.Name(id="concat"), args=arguments):
                if number:
                    self.fail("concat(…) makes a text where a number is wanted")
                for argument in arguments:
                    self.walk(argument, aggregated=aggregated)
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                self._aggregate(name, argument, aggregated)

    def _aggregate(self, name: str, argument: ast.expr, aggregated: str | None) -> None:
        if aggregated is not None:
            self.fail(f"{name}(…) cannot stand inside another sum, count, min or max")
        if name == "count":
            if not isinstance(argument, ast.Name):
                self.fail("count(…) wants the name of a table")
            self._table(argument.id)
            return
        read = {table for table, _ in expressions.columns(argument) if table is not None}
        if len(read) != 1:
            self.fail(f"{name}(…) wants columns of one table, written table.column")
        (table,) = read
        self._table(table)
        self.walk(argument, aggregated=table, number=True)

    def _table(self, table: str) -> None:
        self.entities._same_entity(self.path, self.field, table)

    def _of_table(self, table: str, name: str, aggregated: str | None, number: bool) -> None:
        self._table(table)
        if aggregated is None and table != self.field.table and not self.entities.homes[table].single:
            self.fail(f"an entity has several rows of {table}; they want sum(…), min(…) or max(…)")
        if aggregated is None and table != self.field.table:
            other, home = self.entities.homes[table], self.entities.homes[self.field.table]
            if other.inserted > min(home.settings(self.field.name)):
                self.fail(f"{table} has no row yet when {self.field.table}.{self.field.column.name} is set")
        self._column(table, name, number)

    def _column(self, table: str, name: str, number: bool) -> None:
        columns = self.entities.columns[table]
        if name not in columns:
            unknown(self.entities.loaded, self.path, f"column of {table}", name, columns)
        type = columns[name].column.type
        if number and carrier(type, self.entities.source) not in NUMBERS:
            text = self.entities.source.ddl.type_name(type)
            self.fail(f"{table}.{name} is {text}; sums and products want integers or decimals")
        self._check_digits(columns[name])
        self.needs.append((table, name))

    def _check_digits(self, field: Field) -> None:
        source = self.entities.source
        arrow, name = source.types.arrow_type(field.type), f"{field.table}.{field.column.name}"
        # a whole number of 19 digits is how some systems hold one of 64 bits
        if pa.types.is_decimal(arrow) and arrow.precision > MOST_DIGITS + (arrow.scale == 0):
            self.fail(f"{name} has {arrow.precision} digits; expressions reckon with up to {MOST_DIGITS}")
        if pa.types.is_string(arrow) and carrier(field.type, source) in NUMBERS:
            self.fail(f"{name} says not how many digits it has; expressions reckon with columns that do")
