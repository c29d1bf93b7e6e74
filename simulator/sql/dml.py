"""INSERT, REPLACE, UPDATE and DELETE on rows in memory, with what a server does round them: defaults, counters,
generated columns, checks, foreign keys, triggers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.model import DELETE, INSERT, UPDATE
from simulator.sources import mysql
from simulator.sql import queries, relations
from simulator.sql.assign import assign, implicit
from simulator.sql.catalog import Compiled, Field
from simulator.sql.comparing import sort_key
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions import Scope, Source, collation_of, compiled
from simulator.sql.plans import plan_of
from simulator.sql.rows import Data, Row
from simulator.sql.session import Session
from simulator.sql.values import truth_of

# A column's value that the statement leaves to the column.
DEFAULT: Final = object()
MOST_RESERVED: Final = 65_535
# Literals of a column whose stored form is kept.
MOST_KNOWN: Final = 4096


class Counter:
    """AUTO_INCREMENT within a statement: how many values are reserved at once (innodb_autoinc_lock_mode 1 and 2).

    A statement with a list of rows reserves as many as it has rows, one that reads them 1, 2, 4 …; what is left over is
    lost.
    """

    def __init__(self, data: Data, expected: int) -> None:
        self.data, self.expected = data, expected
        self.next = self.end = 0
        self.times = 0
        self.first = 0

    def take(self) -> int:
        if self.next >= self.end:
            count = self.expected if self.expected and not self.times else min(1 << self.times, MOST_RESERVED)
            self.times += 1
            self.next = self.data.next_auto
            self.end = self.next + count
            self.data.next_auto = self.end
        self.next += 1
        self.first = self.first or self.next - 1
        return self.next - 1

    def seen(self, value: int) -> None:
        """A value that was given; the counter goes on behind it."""
        if value >= self.data.next_auto:
            self.data.next_auto = value + 1
        if self.next <= value < self.end:
            self.next = value + 1


class Inserter:
    """Rows put into one table by one statement."""

    def __init__(self, session: Session, data: Data, places: Sequence[int], mode: str, expected: int) -> None:
        self.session, self.data, self.places, self.mode = session, data, tuple(places), mode
        self.fields = data.definition.fields
        self.rules = session.rules(ignore=mode == "ignore")
        self.counter = Counter(data, expected)
        plan = self.plan = plan_of(data, session)
        self.expected = expected
        if plan.stored is None or plan.stored[0] is not self.rules:
            plan.stored = (self.rules, [{} for _ in self.fields])
        self.stored = plan.stored[1]
        self.touched = frozenset(self.places if data.auto_place is None else (*self.places, data.auto_place))
        self.rest = [i for i in range(len(self.fields)) if i not in self.touched]
        if data.auto_place is not None and data.auto_place not in self.places:
            self.rest.append(data.auto_place)
        self.on_duplicate: Callable[[int, list[Any]], None] | None = None
        self.watched = bool(self.plan.generated or self.plan.checks or self.plan.triggers or data.definition.foreign)

    def insert(self, values: Sequence[Any], row_number: int) -> None:
        """One row; `values` are those of the named columns, DEFAULT where the column decides."""
        row: list[Any] = [None] * len(self.fields)
        for place, value in zip(self.places, values, strict=True):
            row[place] = self._stored(place, value, row_number)
        for place in self.rest:
            row[place] = self._default(place)
        self._put(row, row_number)

    def _put(self, row: list[Any], row_number: int) -> None:
        session, data = self.session, self.data
        for trigger in self.plan.triggers if self.watched else ():
            relations.fire(session, trigger, "insert", True, None, row, self.rules, row_number)
        auto = data.auto_place
        if auto is not None:
            given = row[auto]
            if given is None or (not given and "NO_AUTO_VALUE_ON_ZERO" not in session.modes):
                row[auto] = self.counter.take()
            else:
                self.counter.seen(int(given))
        if self.watched:
            self._finish(row, row_number)
        made = tuple(row)
        conflict = data.conflict(made)
        if conflict is not None:
            self._duplicate(made, conflict, row_number)
            return
        if self.watched and not relations.parents_there(session, data, made, ignore=self.mode == "ignore"):
            return
        number = data.add(made)
        session.changed(data, number, None)
        session.log_row(data, INSERT, None, made, self.touched)
        for trigger in self.plan.triggers if self.watched else ():
            relations.fire(session, trigger, "insert", False, None, row, self.rules, row_number)

    def _finish(self, row: list[Any], row_number: int) -> None:
        finish(self.session, self.data, row, self.rules, row_number)

    def _duplicate(self, row: Row, conflict: tuple[int, Any], row_number: int) -> None:
        session, data = self.session, self.data
        if self.mode == "ignore":
            return
        if self.mode == "replace":
            self._replace(row, row_number)
        elif self.on_duplicate is not None:
            self.on_duplicate(conflict[0], list(row))
        else:
            error = data.duplicate(conflict[1], row)
            if session.server.key_with_table:
                error = SqlError(1062, error.text.split("'")[1], f"{data.definition.id.name}.{conflict[1].key.name}")
            raise error

    def _replace(self, row: Row, row_number: int) -> None:
        """REPLACE: the conflicting rows are deleted but for the last, which is logged as an update where it can be."""
        session, data = self.session, self.data
        deletes = any(one[0].event == "delete" for one in self.plan.triggers)
        while (conflict := data.conflict(row)) is not None:
            number, index = conflict
            old = data.rows[number]
            last_key = index is data.indexes[-1]
            if last_key and not deletes and not relations.is_parent(session, data):
                data.put(number, row)
                session.changed(data, number, old)
                if old != row:
                    session.log_row(data, UPDATE, old, row, self.touched)
                return
            relations.delete_children(session, data, old)
            data.put(number, None)
            session.changed(data, number, old)
            session.log_row(data, DELETE, old, None)
        number = data.add(row)
        session.changed(data, number, None)
        session.log_row(data, INSERT, None, row, self.touched)

    def _stored(self, place: int, value: Any, row_number: int) -> Any:
        one = self.fields[place]
        if value is DEFAULT:
            return None if one.generated is not None else self._default(place, named=True)
        if one.generated is not None:
            raise SqlError(3105, one.name, self.data.definition.id.name)
        if value is None:
            return null_for(self.session, one, multiple=self.expected > 1, ignore=self.mode == "ignore")
        if type(value) not in (str, Decimal):
            return assign(value, one, row_number, self.rules)
        # the same literals come again and again: dates, states, prices
        known = self.stored[place]
        found = known.get(value)
        if found is None or type(found[0]) is not type(value):
            found = (value, assign(value, one, row_number, self.rules))
            if len(known) < MOST_KNOWN:
                known[value] = found
        return found[1]

    def _default(self, place: int, *, named: bool = False) -> Any:
        one = self.fields[place]
        default = self.plan.defaults.get(place)
        if default is not None:
            return default(())
        if one.auto or one.nullable or one.generated is not None:
            return None
        if self.rules.strict or (named and not self.mode and self.session.strict):
            if mysql.family(one.type) == "enum":
                return 1
            raise SqlError(1364, one.name)
        return implicit(one.type)

    def done(self) -> None:
        self.session.generated_ids = self.counter.first
        if self.counter.first:
            self.session.last_insert_id = self.counter.first


def null_for(session: Session, one: Field, *, multiple: bool = False, ignore: bool = False) -> Any:
    """What a NULL becomes in a column. Raises SqlError 1048."""
    if one.nullable or one.auto:
        return None
    if one.type.name == "timestamp" and session.settings["old_timestamps"]:
        digits = one.type.length or 0
        return session.now_us // int(10 ** (6 - digits)) * int(10 ** (6 - digits))
    if ignore or (multiple and not session.strict):
        return implicit(one.type)
    raise SqlError(1048, one.name)


def finish(session: Session, data: Data, row: list[Any], rules: Any, row_number: int) -> None:
    """Generated columns and checks of a row that is about to be stored."""
    plan = plan_of(data, session)
    for place, generate in plan.generated:
        value = generate([row])
        row[place] = None if value is None else assign(value, data.definition.fields[place], row_number, rules)
    for i, one in enumerate(data.definition.fields):
        if row[i] is None and not one.nullable and not one.auto:
            raise SqlError(1048, one.name)
    for name, check in plan.checks:
        if truth_of(check([row])) is False:
            raise SqlError(3819, name)


# ------------------------------------------------------------------------------------------------------------- INSERT


def insert(session: Session, node: exp.Insert, *, replace: bool = False) -> None:
    """INSERT [IGNORE] … VALUES | SELECT | SET, ON DUPLICATE KEY UPDATE; REPLACE."""
    target = node.this
    columns = None
    if isinstance(target, exp.Schema):
        columns = [one.name for one in target.expressions]
        target = target.this
    if not isinstance(target, exp.Table):
        raise Unsupported(f"INSERT INTO {target.sql('mysql')[:40]}")
    data = session.table(target.db, target.name)
    definition = data.definition
    if columns is None:
        places = [i for i, one in enumerate(definition.fields) if not one.invisible]
    else:
        places = [_place(definition, name, "field list") for name in columns]
        for i, place in enumerate(places):
            if place in places[:i]:
                raise SqlError(1110, columns[i])
    mode = "replace" if replace else "ignore" if node.args.get("ignore") else ""
    body = node.expression
    if isinstance(body, exp.Values):
        lists = [one.expressions for one in body.expressions]
        if columns is None and lists and not lists[0]:
            places = []
        for number, values in enumerate(lists, 1):
            if len(values) != len(places):
                raise SqlError(1136, number)
        inserter = Inserter(session, data, places, mode, len(lists))
        _on_duplicate(session, node, data, inserter)
        known = Source(target.name, definition.id.database, tuple(f.name for f in definition.fields), definition.fields)
        scope = Scope(session, (known,), "field list", run_query=queries.run_query)
        for number, values in enumerate(lists, 1):
            # a column that stands among the values is the one that was set before it
            row: list[Any] = [None] * len(definition.fields)
            made = []
            for place, one in zip(places, values, strict=True):
                value = _value(one, scope, [row])
                made.append(value)
                if value is not DEFAULT and value is not None and isinstance(one, exp.Expression):
                    row[place] = value
            inserter.insert(made, number)
    elif isinstance(body, exp.Select | exp.Union | exp.Subquery):
        query = queries.prepare(body, session)
        if len(query.names) != len(places):
            raise SqlError(1136, 1)
        inserter = Inserter(session, data, places, mode, 0)
        _on_duplicate(session, node, data, inserter)
        for number, read in enumerate(query.run([]), 1):
            inserter.insert(read, number)
    else:
        raise Unsupported("this form of INSERT")
    inserter.done()


def _place(definition: Any, name: str, where: str) -> int:
    place = definition.place(name)
    if place is None:
        raise SqlError(1054, name, where)
    return int(place)


def _value(node: Any, scope: Scope, env: Any) -> Any:
    if isinstance(node, exp.Var) and node.name.upper() == "DEFAULT":
        return DEFAULT
    if isinstance(node, exp.Literal | exp.Null | exp.Neg | exp.HexString | exp.BitString | exp.Boolean):
        return compiled(node, scope)(env)
    return compiled(node, scope)(env)


def _on_duplicate(session: Session, node: exp.Insert, data: Data, inserter: Inserter) -> None:
    conflict = node.args.get("conflict")
    if conflict is None:
        return
    definition = data.definition
    names = tuple(one.name for one in definition.fields)
    existing = Source(definition.id.name, definition.id.database, names, definition.fields)
    alias = node.expression.alias if isinstance(node.expression, exp.Values) else ""
    new = Source(alias or "?new", "", names, definition.fields)
    sources = (existing, new) if alias else (existing,)
    scope = Scope(session, sources, "field list", inserted=new, run_query=queries.run_query)
    sets = _assignments(conflict.expressions, definition, scope)

    def update(number: int, row: list[Any]) -> None:
        old = data.rows[number]
        change_row(session, data, number, old, sets, inserter.rules, 1, [list(old), row])

    inserter.on_duplicate = update


def _assignments(nodes: Sequence[Any], definition: Any, scope: Scope) -> list[tuple[int, Compiled]]:
    """`a = a + 1, b = DEFAULT` as places and functions."""
    made: list[tuple[int, Compiled]] = []
    for one in nodes:
        if not isinstance(one, exp.EQ):
            raise Unsupported(f"the assignment {one.sql('mysql')[:40]!r}")
        place = _place(definition, one.this.name, "field list")
        right = one.expression
        default = (isinstance(right, exp.Var) and right.name.upper() == "DEFAULT") or (
            isinstance(right, exp.Column) and right.name.upper() == "DEFAULT" and not right.this.quoted
        )
        made.append((place, (lambda env: DEFAULT) if default else compiled(right, scope)))
    return made


# ------------------------------------------------------------------------------------------------------ UPDATE, DELETE


def change_row(
    session: Session,
    data: Data,
    number: int,
    old: Row,
    sets: Sequence[tuple[int, Compiled]],
    rules: Any,
    row_number: int,
    env: list[Any],
    *,
    ignore: bool = False,
) -> bool:
    """Set columns of one row, from left to right; nothing is logged where nothing changed."""
    fields, plan = data.definition.fields, plan_of(data, session)
    row = env[0]
    for place, value_of in sets:
        one = fields[place]
        value = value_of(env)
        if value is DEFAULT:
            default = plan.defaults.get(place)
            if default is None and not one.nullable and one.generated is None:
                raise SqlError(1364, one.name)
            row[place] = default(()) if default is not None else None
        elif one.generated is not None:
            raise SqlError(3105, one.name, data.definition.id.name)
        elif value is None:
            row[place] = (
                implicit(one.type) if not one.nullable and not session.strict else null_for(session, one, ignore=ignore)
            )
            if one.auto and row[place] is None:
                row[place] = 0
        else:
            row[place] = assign(value, one, row_number, rules)
    named = {place for place, _ in sets}
    for trigger in plan.triggers:
        relations.fire(session, trigger, "update", True, old, row, rules, row_number)
    if tuple(row) != old:
        for i, one in enumerate(fields):
            if one.on_update and i not in named:
                digits = one.type.length or 0
                us = session.now_us // int(10 ** (6 - digits)) * int(10 ** (6 - digits))
                row[i] = us if one.type.name == "timestamp" else session.zone.to_local(us)
                named.add(i)
    if plan.generated or plan.checks or plan.triggers:
        finish(session, data, row, rules, row_number)
        named |= {place for place, _ in plan.generated if row[place] != old[place]}
    made = tuple(row)
    if _same(made, old):
        return False
    conflict = data.conflict(made, besides=number)
    if conflict is not None:
        if ignore:
            return False
        error = data.duplicate(conflict[1], made)
        if session.server.key_with_table:
            error = SqlError(1062, error.text.split("'")[1], f"{data.definition.id.name}.{conflict[1].key.name}")
        raise error
    if data.definition.foreign and not relations.parents_there(session, data, made, ignore=ignore):
        return False
    relations.update_children(session, data, old, made)
    data.put(number, made)
    session.changed(data, number, old)
    auto = data.auto_place
    if auto is not None and session.server.mariadb and made[auto] >= data.next_auto:
        data.next_auto = made[auto] + 1
    session.log_row(data, UPDATE, old, made, frozenset(named))
    for trigger in plan.triggers:
        relations.fire(session, trigger, "update", False, old, row, rules, row_number)
    return True


def _same(new: Row, old: Row) -> bool:
    """Whether a server sees no difference; -0.0 differs from 0.0."""
    return new == old and all(
        not isinstance(a, float) or (a or repr(a) == repr(b)) for a, b in zip(new, old, strict=True)
    )


def update(session: Session, node: exp.Update) -> None:
    data, scope = _target(session, node, "UPDATE")
    sets = _assignments(node.expressions, data.definition, scope)
    ignore = bool(node.args.get("ignore"))
    rules = session.rules(ignore=ignore)
    for number, (id, old) in enumerate(_matching(session, node, data, scope), 1):
        change_row(session, data, id, old, sets, rules, number, [list(old)], ignore=ignore)


def delete(session: Session, node: exp.Delete) -> None:
    data, scope = _target(session, node, "DELETE")
    plan, rules = plan_of(data, session), session.rules()
    for number, (id, old) in enumerate(_matching(session, node, data, scope), 1):
        for trigger in plan.triggers:
            relations.fire(session, trigger, "delete", True, old, None, rules, number)
        if id not in data.rows:
            continue
        relations.delete_children(session, data, old)
        data.put(id, None)
        session.changed(data, id, old)
        session.log_row(data, DELETE, old, None)
        for trigger in plan.triggers:
            relations.fire(session, trigger, "delete", False, old, None, rules, number)


def _target(session: Session, node: Any, verb: str) -> tuple[Data, Scope]:
    table = node.this
    if not isinstance(table, exp.Table) or table.args.get("joins") or node.args.get("tables") or node.args.get("using"):
        raise Unsupported(f"{verb} of several tables")
    for part in ("with_", "from_", "returning"):
        if node.args.get(part):
            raise Unsupported(f"{part.strip('_').upper()} in {verb}")
    source, data = queries.source_of_table(session, table)
    return data, Scope(session, (source,), "field list", run_query=queries.run_query)


def _matching(session: Session, node: Any, data: Data, scope: Scope) -> list[tuple[int, Row]]:
    """The rows that WHERE, ORDER BY and LIMIT choose, in the order in which they are changed."""
    where = node.args.get("where")
    test = None
    if where is not None:
        inner = Scope(session, scope.sources, "where clause", run_query=queries.run_query)
        test = compiled(where.this, inner)
        session.division_fails = False
    candidates = _by_key(session, where.this, data, scope) if where is not None else None
    rows = data.scan() if candidates is None else iter(candidates)
    found = [(number, row) for number, row in rows if test is None or truth_of(test([row]))]
    session.division_fails = session.strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.modes
    order = node.args.get("order")
    if order is not None:
        inner = Scope(session, scope.sources, "order clause", run_query=queries.run_query)
        for one in reversed(order.expressions):
            read, collation = compiled(one.this, inner), collation_of(inner, one.this)
            found.sort(
                key=lambda pair: sort_key(read([pair[1]]), collation),
                reverse=bool(one.args.get("desc")),
            )
    return queries.limit_of(node, scope)(found)


def _by_key(session: Session, where: Any, data: Data, scope: Scope) -> list[tuple[int, Row]] | None:
    """The only row that WHERE can mean, if it sets the primary key equal to literals: no table is searched for it."""
    index = data.indexes[0] if data.indexes and data.indexes[0].key.kind == "primary" else None
    if index is None or len(index.places) > 1 or not index.plain or mysql.family(index.fields[0].type) != "integer":
        return None
    name = index.fields[0].name.lower()
    for part in where.flatten() if isinstance(where, exp.And) else [where]:
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column) and part.this.name.lower() == name:
            value = part.expression
            if isinstance(value, exp.Literal) and not value.is_string and value.this.isdecimal():
                number = index.rows.get(int(value.this))
                return [] if number is None else [(number, data.rows[number])]
    return None
