"""CREATE TABLE … AS SELECT: the definition that a server makes up and logs, and the rows."""

from __future__ import annotations

from decimal import Decimal

from simulator.model import INSERT
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Definition, Field
from simulator.sql.ddl import tables
from simulator.sql.errors import Unsupported
from simulator.sql.parse.trees import statement_tree
from simulator.sql.parse.words import Reader
from simulator.sql.queries import select
from simulator.sql.store.session import Session


def create_as_select(session: Session, target: Definition, query_text: str, temporary: bool) -> None:
    """CREATE TABLE … AS SELECT: a log in row format holds what SHOW CREATE TABLE would give, and the rows."""
    query = select.prepare(statement_tree(query_text), session)
    lines = []
    for name, one in zip(query.names, query.fields, strict=True):
        if one is None:
            raise Unsupported(f"CREATE TABLE … AS SELECT of an expression ({name}); select plain columns")
        lines.append(f"  {tables.quoted(name)} {_column_text(one, target, session)}")
    id = target.id
    text = f"CREATE TABLE {tables.logged_name(session, id)} (\n" + ",\n".join(lines) + "\n)"
    inner = Reader(text)
    inner.need("CREATE", "TABLE")
    inner.qualified()
    definition, _ = tables.read_table(inner, session, id, tables.context_of(session, id.database), temporary)
    rows = query.run([])
    data = tables.add_table(session, definition, text + session.server.as_select_tail, temporary)
    rules = session.rules()
    session.now_us -= 1_000_000 if not temporary else 0  # the rows belong to the same moment
    for number, values in enumerate(rows, 1):
        row = tuple(
            None if value is None else to_stored(value, one, number, rules)
            for value, one in zip(values, definition.fields, strict=True)
        )
        added = data.add(row)
        session.changed(data, added, None)
        session.log_row(data, added, INSERT, None, row)


def _column_text(one: Field, target: Definition, session: Session) -> str:
    """A column as SHOW CREATE TABLE prints it, as far as AS SELECT takes it over."""
    server = session.server
    text = mysql_types.type_text(one.type, style=server.type_style)
    if one.type.charset and one.type.charset != target.charset:
        text += f" CHARACTER SET {one.type.charset}"
        if server.mariadb and one.collation:
            text += f" COLLATE {one.collation}"
    large = mysql_table.family(one.type) in ("json", "geometry") or one.type.name.endswith(("text", "blob"))
    if not one.nullable:
        text += " NOT NULL"
        if one.auto:
            return text + (" DEFAULT '0'" if server.quotes_numbers else " DEFAULT 0")
    if one.default is not None and one.default.upper() != "NULL":
        plain = one.default.strip("'")
        if mysql_table.family(one.type) == "decimal":
            plain = format(Decimal(plain).quantize(Decimal(1).scaleb(-mysql_table.precision_scale(one.type)[1])), "f")
        if one.default.startswith("(") or one.default.upper().startswith(("CUR", "NOW")):
            return f"{text} DEFAULT {one.default}"
        number = mysql_table.family(one.type) in ("integer", "decimal", "float") and not server.quotes_numbers
        return f"{text} DEFAULT {plain if number else f'{chr(39)}{plain}{chr(39)}'}"
    return text + (" DEFAULT NULL" if one.nullable and not large else "")
