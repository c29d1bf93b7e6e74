"""Runs bodies: variables, conditions, loops, cursors, handlers, and SQL statements with the values of variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import values as mysql_values
from simulator.sql.assignment.conversion import from_stored, to_stored
from simulator.sql.catalog.definitions import Field, Routine
from simulator.sql.ddl.tables import context_of
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Source, compiled
from simulator.sql.parse.column_types import read_type
from simulator.sql.parse.trees import expression_tree, statement_tree
from simulator.sql.parse.words import Reader
from simulator.sql.programs.parse import (
    Block,
    Cursor,
    CursorStep,
    Declare,
    Handler,
    If,
    Jump,
    Loop,
    Return,
    Set,
    Signal,
    Sql,
    Statement,
    parse_program,
)
from simulator.sql.queries.select import prepare, query_scope
from simulator.sql.store.rows import carrier
from simulator.sql.store.session import Session, TriggerRows
from simulator.sql.values.kinds import text_of, truth_of

# Maximal passes of a loop.
MAX_PASSES: Final = 1_000_000
_program = lru_cache(maxsize=256)(parse_program)


class _JumpTaken(Exception):
    def __init__(self, jump: Jump) -> None:
        self.jump = jump


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Handled(Exception):
    """An EXIT handler ends the block that declares it."""

    def __init__(self, block: int) -> None:
        self.block = block


class _NotFound(Exception):
    """A fetch found no row."""


@dataclass
class _Frame:
    """The state of a running body: variables with their types, cursors, handlers, the rows of a trigger."""

    session: Session
    rows: TriggerRows | None = None
    fields: dict[str, Field] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # as stored
    cursors: dict[str, tuple[str, list[Any] | None]] = field(default_factory=dict)
    handlers: list[tuple[int, Handler]] = field(default_factory=list)
    error: SqlError | None = None

    def declare(self, name: str, field: Field, value: Any) -> None:
        self.fields[name], self.values[name] = field, None
        self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        field = self.fields[name]
        self.values[name] = None if value is None else to_stored(value, field, 1, self.session.rules())

    def value(self, text: str) -> Any:
        """The value of an expression."""
        names, session = tuple(self.fields), self.session
        sources = [Source("", "", names, tuple(self.fields.values()))]
        env: list[Any] = [tuple(self.values[name] for name in names)]
        if self.rows is not None:
            columns, blank = self.rows.fields, (None,) * len(self.rows.fields)
            columns_of = tuple(column.name for column in columns)
            sources += [Source("new", "", columns_of, columns), Source("old", "", columns_of, columns)]
            env += [self.rows.new or blank, self.rows.old or blank]
        scope = query_scope(session, tuple(sources))
        tree = expression_tree(text)
        if tree.find(exp.Query):  # variables win over the columns of a query
            return compiled(self.put_in(tree.copy()), query_scope(session))([])
        return compiled(tree, scope)(env)

    def put_in(self, tree: Any) -> Any:
        """Replace variables, OLD and NEW in a tree by literals."""

        def put(node: Any) -> Any:
            if not isinstance(node, exp.Column):
                return node
            table, name = node.table.lower(), node.name.lower()
            if not table and name in self.fields:
                return literal(self.values[name], self.fields[name])
            if self.rows is not None and table in ("old", "new"):
                row = self.rows.old if table == "old" else self.rows.new
                position = next((i for i, f in enumerate(self.rows.fields) if f.name.lower() == name), None)
                if row is None or position is None:
                    raise SqlError(1054, node.name, table.upper())
                return literal(row[position], self.rows.fields[position])
            return node

        return tree.transform(put)


def literal(stored: Any, field: Field) -> Any:
    """A stored value as a literal node."""
    if stored is None:
        return exp.Null()
    family = mysql_table.family(field.type)
    if family in ("binary", "geometry"):
        return exp.HexString(this=bytes(stored).hex())
    if family in ("integer", "decimal", "float", "year", "bit"):
        return exp.Literal.number(repr(stored) if isinstance(stored, float) else str(stored))
    if family == "json":
        node = exp.Literal.string(mysql_values.format_values(carrier([stored], field.type), field.type)[0] or "")
        return exp.Cast(this=node, to=exp.DataType(this=exp.DataType.Type.JSON))
    return exp.Literal.string(mysql_values.format_values(carrier([stored], field.type), field.type)[0] or "")


@dataclass(frozen=True)
class Programs:
    """`execute` runs the text of a statement, `change` a statement about rows."""

    execute: Callable[[Session, str], None]
    change: Callable[[Session, str, Callable[[Any], Any]], None]

    # ---------------------------------------------------------------------------------------------------- entry points

    def trigger(self, session: Session, body: str, rows: TriggerRows) -> None:
        frame = _Frame(session, rows)
        self._run(frame, _program(body))

    def function(self, session: Session, routine: Routine, arguments: Sequence[Any]) -> Any:
        frame = _Frame(session)
        self._parameters(frame, routine, arguments)
        with self._inside(session, routine):
            try:
                self._run(frame, _program(routine.body))
            except _Returned as returned:
                result_field = _field("result", routine.returns, session)
                if returned.value is None:
                    return None
                stored = to_stored(returned.value, result_field, 1, session.rules())
                return from_stored(stored, result_field.type, session.connection.zone, session.server.json_way)
        raise SqlError(1321, routine.name)

    def call(self, session: Session, routine: Routine, arguments: Sequence[Any]) -> list[tuple[int, Any]]:
        """Run a procedure; returns the positions and values of its OUT arguments."""
        frame = _Frame(session)
        self._parameters(frame, routine, arguments)
        with self._inside(session, routine):
            self._run(frame, _program(routine.body))
        out_names = []
        for position, (direction, name, _) in enumerate(routine.parameters):
            if direction in ("out", "inout"):
                field = frame.fields[name.lower()]
                value = from_stored(
                    frame.values[name.lower()], field.type, session.connection.zone, session.server.json_way
                )
                out_names.append((position, value))
        return out_names

    def _parameters(self, frame: _Frame, routine: Routine, arguments: Sequence[Any]) -> None:
        for (direction, name, type), value in zip(routine.parameters, arguments, strict=True):
            frame.declare(name.lower(), _field(name, type, frame.session), None if direction == "out" else value)

    @contextmanager
    def _inside(self, session: Session, routine: Routine) -> Any:
        if session.statement.depth >= 32:
            raise SqlError(1456, 0, routine.name)
        database, session.connection.database = session.connection.database, routine.database
        modes, session.connection.modes = session.connection.modes, set(routine.modes)
        session.statement.depth += 1
        try:
            yield
        finally:
            session.connection.database, session.connection.modes = database, modes
            session.statement.depth -= 1

    # ------------------------------------------------------------------------------------------------------ statements

    def _run(self, frame: _Frame, statement: Statement) -> None:
        match statement:
            case Block():
                self._block(frame, statement)
            case If():
                for test, body in statement.arms:
                    if not test or truth_of(frame.value(test)):
                        self._run_all(frame, body)
                        return
            case Loop():
                self._loop(frame, statement)
            case Jump():
                raise _JumpTaken(statement)
            case Return():
                raise _Returned(frame.value(statement.value))
            case _:
                self._guarded(frame, statement)

    def _run_all(self, frame: _Frame, body: Sequence[Statement]) -> None:
        for statement in body:
            self._run(frame, statement)

    def _guarded(self, frame: _Frame, statement: Statement) -> None:
        """Run a statement that may fail: the innermost matching handler gets its error."""
        try:
            self._simple(frame, statement)
        except (SqlError, _NotFound) as error:
            match = next((pair for pair in reversed(frame.handlers) if _handles(pair[1], error)), None)
            if match is None:
                if isinstance(error, _NotFound):
                    if isinstance(statement, CursorStep):
                        raise SqlError(1329) from None
                    return  # SELECT … INTO without a row is a warning
                raise
            block, handler = match
            outer, frame.error = frame.error, error if isinstance(error, SqlError) else None
            handlers, frame.handlers = frame.handlers, [pair for pair in frame.handlers if pair[0] < block]
            try:
                self._run(frame, handler.body)
            finally:
                frame.error, frame.handlers = outer, handlers
            if handler.exits:
                raise _Handled(block) from None

    def _block(self, frame: _Frame, block: Block) -> None:
        number = len(frame.handlers) + 1 + max([pair[0] for pair in frame.handlers], default=0)
        outer = dict(frame.fields), dict(frame.values), dict(frame.cursors), list(frame.handlers)
        for declaration in block.declared:
            match declaration:
                case Declare():
                    for name in declaration.names:
                        value = frame.value(declaration.default) if declaration.default else None
                        frame.declare(name, _field(name, declaration.type, frame.session), value)
                case Cursor():
                    frame.cursors[declaration.name] = (declaration.query, None)
                case Handler():
                    frame.handlers.append((number, declaration))
        own_names = {name for item in block.declared if isinstance(item, Declare) for name in item.names}
        try:
            self._run_all(frame, block.body)
        except _JumpTaken as error:
            if not block.label or error.jump.label != block.label or not error.jump.leaves:
                raise
        except _Handled as handled:
            if handled.block != number:
                raise
        finally:
            values = {name: value for name, value in frame.values.items() if name in outer[1] and name not in own_names}
            frame.fields, frame.values = outer[0], {**outer[1], **values}
            frame.cursors, frame.handlers = outer[2], outer[3]

    def _loop(self, frame: _Frame, loop: Loop) -> None:
        for _ in range(MAX_PASSES):
            if loop.kind == "while" and not truth_of(frame.value(loop.test)):
                return
            try:
                self._run_all(frame, loop.body)
            except _JumpTaken as error:
                if error.jump.label != loop.label:
                    raise
                if error.jump.leaves:
                    return
            if loop.kind == "repeat" and truth_of(frame.value(loop.test)):
                return
        raise Unsupported(f"a loop of more than {MAX_PASSES:,} passes")

    def _simple(self, frame: _Frame, statement: Statement) -> None:
        match statement:
            case Set():
                for target, text in statement.pairs:
                    self._assign(frame, target, text)
            case CursorStep():
                self._cursor(frame, statement)
            case Signal():
                raise _signalled(frame, statement)
            case Sql():
                self._sql(frame, statement.text)

    def _assign(self, frame: _Frame, target: str, text: str) -> None:
        name = target.strip().lower().replace("`", "").replace(" ", "")
        if name.startswith("new.") and frame.rows is not None:
            rows = frame.rows
            position = next((i for i, field in enumerate(rows.fields) if field.name.lower() == name[4:]), None)
            if rows.new is None or position is None:
                raise SqlError(1054, name[4:], "NEW")
            value, field = frame.value(text), rows.fields[position]
            rows.new[position] = None if value is None else to_stored(value, field, rows.row_number, rows.rules)
        elif name in frame.fields:
            frame.set(name, frame.value(text))
        elif name.startswith("@") and not name.startswith("@@"):
            frame.session.connection.user_variables[name[1:]] = frame.value(text)
        else:
            self.execute(frame.session, f"SET {target} = {text}")

    def _cursor(self, frame: _Frame, step: CursorStep) -> None:
        if step.name not in frame.cursors:
            raise SqlError(1324, step.name)
        query, rows = frame.cursors[step.name]
        if step.kind == "open":
            tree = frame.put_in(statement_tree(query))
            frame.cursors[step.name] = (query, prepare(tree, frame.session).run([])[::-1])
        elif rows is None:
            raise SqlError(1326)
        elif step.kind == "close":
            frame.cursors[step.name] = (query, None)
        else:
            if not rows:
                raise _NotFound
            self._into(frame, step.targets, [rows.pop()])

    def _into(self, frame: _Frame, targets: Sequence[str], rows: Sequence[Any]) -> None:
        if not rows:
            raise _NotFound
        if len(rows) > 1:
            raise SqlError(1172)
        if len(targets) != len(rows[0]):
            raise SqlError(1222)
        for target, value in zip(targets, rows[0], strict=True):
            name = target.lower().strip("`")
            if name.startswith("@"):
                frame.session.connection.user_variables[name[1:]] = value
            elif name in frame.fields:
                frame.set(name, value)
            else:
                raise SqlError(1327, target)

    def _sql(self, frame: _Frame, text: str) -> None:
        session = frame.session
        words = Reader(text)
        verb = words.upper
        if verb in ("SELECT", "WITH", "TABLE", "VALUES"):
            query, targets = without_into(words)
            rows = prepare(frame.put_in(statement_tree(query)), session).run([])
            if targets:
                self._into(frame, targets, rows)
        elif verb in ("INSERT", "UPDATE", "DELETE", "REPLACE"):
            self.change(session, text, frame.put_in)
        elif verb == "CALL":
            self.execute(session, _with_values(text, frame))
        elif frame.rows is not None:
            raise Unsupported(f"{verb} in a trigger")
        else:
            self.execute(session, text)


def _with_values(text: str, frame: _Frame) -> str:
    """CALL p(a, b) with variables replaced by their values."""
    words = Reader(text)
    written_text, position = "", 0
    for word in words.words:
        if word.kind in ("word", "name") and word.value.lower() in frame.fields:
            name = word.value.lower()
            written_text += text[position : word.start] + literal(frame.values[name], frame.fields[name]).sql("mysql")
            position = word.end
    return written_text + text[position:]


def without_into(words: Reader) -> tuple[str, list[str]]:
    """A SELECT without its INTO, and the target variables."""
    depth = 0
    for number, word in enumerate(words.words):
        depth += word.brackets_opened
        if word.upper != "INTO" or depth:
            continue
        words.position = number + 1
        if words.upper in ("OUTFILE", "DUMPFILE"):
            raise Unsupported("SELECT … INTO OUTFILE")
        targets = []
        while True:
            name = words.next().value
            targets.append(name + words.next().value if name == "@" else name)
            if not words.take(","):
                break
        return words.sql[: word.start] + words.remaining(), targets
    return words.sql, []


def _field(name: str, type: str, session: Session) -> Field:
    column_type, collation, _ = read_type(name, Reader(type), context_of(session, session.connection.database))
    return Field(name, column_type, collation=collation)


def _handles(handler: Handler, error: SqlError | _NotFound) -> bool:
    if isinstance(error, _NotFound):
        return bool({"not found", "02000"} & set(handler.conditions))
    conditions = set(handler.conditions)
    return bool(conditions & {"sqlexception", error.state, str(error.number)})


def _signalled(frame: _Frame, signal: Signal) -> SqlError:
    items: Mapping[str, Any] = {name: frame.value(text) for name, text in signal.items}
    if not signal.state and frame.error is not None and not items:
        return frame.error
    error = SqlError(1644, text_of(items.get("MESSAGE_TEXT", "Unhandled user-defined exception condition")))
    number = int(items.get("MYSQL_ERRNO", 1644))
    error.report(number, signal.state or (frame.error.state if frame.error else "45000"), error.text)
    return error
