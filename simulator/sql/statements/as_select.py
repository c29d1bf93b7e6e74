"""CREATE TABLE … AS SELECT: the definition that a server makes up and logs, and the rows."""

from __future__ import annotations

from decimal import Decimal

from simulator.model import INSERT
from simulator.sources import mysql
from simulator.sql.assignment.assign import assign
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.reader import Reader
from simulator.sql.statements import ddl, queries
from simulator.sql.store.catalog import Definition, Field
from simulator.sql.store.session import Session


def create_as_select(session: Session, target: Definition, select: str, temporary: bool) -> None:
    """CREATE TABLE … AS SELECT: a log in row format holds what SHOW CREATE TABLE would give, and the rows."""
    import sqlglot
    from sqlglot.errors import ParseError

    try:
        query = queries.prepare(sqlglot.parse_one(select, dialect="mysql"), session)
    except ParseError:
        raise SqlError(1064, select[:80]) from None
    lines = []
    for name, one in zip(query.names, query.fields, strict=True):
        if one is None:
            raise Unsupported(f"CREATE TABLE … AS SELECT of an expression ({name}); select plain columns")
        lines.append(f"  {ddl.quoted(name)} {_shown(one, target, session)}")
    id = target.id
    shown = (
        ddl.quoted(id.name) if id.database == session.database else f"{ddl.quoted(id.database)}.{ddl.quoted(id.name)}"
    )
    text = f"CREATE TABLE {shown} (\n" + ",\n".join(lines) + "\n)"
    inner = Reader(text)
    inner.need("CREATE", "TABLE")
    inner.qualified()
    definition, _ = ddl.read_table(inner, session, id, ddl.context_of(session, id.database), temporary)
    rows = query.run([])
    data = ddl.add_table(session, definition, text + session.server.as_select_tail, temporary)
    rules = session.rules()
    session.now_us -= 1_000_000 if not temporary else 0  # the rows belong to the same moment
    for number, values in enumerate(rows, 1):
        row = tuple(
            None if value is None else assign(value, one, number, rules)
            for value, one in zip(values, definition.fields, strict=True)
        )
        added = data.add(row)
        session.changed(data, added, None)
        session.log_row(data, INSERT, None, row)


def _shown(one: Field, target: Definition, session: Session) -> str:
    """A column as SHOW CREATE TABLE prints it, as far as AS SELECT takes it over."""
    server = session.server
    text = mysql.type_text(one.type, style=server.type_style)
    if one.type.charset and one.type.charset != target.charset:
        text += f" CHARACTER SET {one.type.charset}"
    large = mysql.family(one.type) in ("json", "geometry") or one.type.name.endswith(("text", "blob"))
    if not one.nullable:
        text += " NOT NULL"
        if one.auto:
            return text + (" DEFAULT '0'" if server.quotes_numbers else " DEFAULT 0")
    if one.default is not None and one.default.upper() != "NULL":
        plain = one.default.strip("'")
        if mysql.family(one.type) == "decimal":
            plain = format(Decimal(plain).quantize(Decimal(1).scaleb(-mysql.precision_scale(one.type)[1])), "f")
        if one.default.startswith("(") or one.default.upper().startswith(("CUR", "NOW")):
            return f"{text} DEFAULT {one.default}"
        number = mysql.family(one.type) in ("integer", "decimal", "float") and not server.quotes_numbers
        return f"{text} DEFAULT {plain if number else f'{chr(39)}{plain}{chr(39)}'}"
    return text + (" DEFAULT NULL" if one.nullable and not large else "")
