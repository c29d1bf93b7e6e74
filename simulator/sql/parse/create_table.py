"""CREATE TABLE: the definition that follows a table's name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from simulator.model import TableId
from simulator.sql.catalog.definitions import Definition
from simulator.sql.catalog.servers import default_collation
from simulator.sql.errors import Unsupported
from simulator.sql.parse.column_types import Context
from simulator.sql.parse.table_definitions import Items, column, constraint, finished, partition_word, table_options
from simulator.sql.parse.words import Reader

# A version comment at the beginning of a column or key definition.
_IN_COMMENT: Final = re.compile(r"[(,](?:\s|--[^\n]*\n|#[^\n]*\n|/\*(?!!).*?\*/)*(/\*!)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NewTable:
    """`from_query`: AS SELECT follows, and the definition has no columns yet. `next_auto`: AUTO_INCREMENT of its
    options."""

    definition: Definition
    from_query: bool = False
    next_auto: int = 1


def read_table(words: Reader, id: TableId, context: Context, text: str, *, temporary: bool = False) -> NewTable:
    """Read a definition. `text` is the statement as typed, with its version comments. Raises SqlError, Unsupported."""
    # options follow the columns whose character set they determine
    start = words.position
    if words.peek("("):
        words.brackets()
    options = table_options(words, context)
    charset, collation = options.charset, options.collation
    after = words.position
    words.position = start
    if charset or collation:
        charset = charset or context.charset
        collation = collation or default_collation(charset, context.server)
        context = replace(context, charset=charset, collation=collation)
    items = Items()
    read = Definition(id, (), text_key=())
    if words.peek("(") and not words.peek("(", "SELECT"):
        words.need("(")
        while True:
            first_key = len(items.keys)
            is_column = not constraint(words, context, items)
            if is_column:
                items.fields.append(column(words, context, items))
            if keys := items.keys[first_key:]:
                read = replace(read, fields=tuple(items.fields)).with_text_keys(keys, typed_with_column=is_column)
            if words.take(")"):
                break
            words.need(",")
    types = _typed(items.types, text)
    fields = tuple(replace(field, typed_in=types) for field in items.fields)
    definition = Definition(
        id,
        fields,
        charset=context.charset,
        collation=context.collation,
        temporary=temporary,
        transactional=options.transactional is not False,
        comment=options.comment or "",
        text_key=read.text_key,
    )
    words.position = max(after, words.position)
    if words.take("PARTITION", "BY"):
        if not items.fields:
            raise Unsupported("CREATE TABLE with partitions and AS SELECT")
        definition = replace(definition, partitioned=partition_word(words))
    words.one_of("IGNORE", "REPLACE")
    words.take("AS")
    if words.upper == "SELECT" or words.peek("(", "SELECT"):
        if items.fields:
            raise Unsupported("CREATE TABLE with columns and AS SELECT")
        return NewTable(definition, from_query=True)
    words.need_end()
    return NewTable(finished(definition, items, mariadb=context.server.mariadb), next_auto=options.auto or 1)


def _typed(types: list[str], text: str) -> tuple[str, ...]:
    """The types that readers of the statement's text know: none if the statement is a version comment."""
    if text.lstrip().startswith("/*!"):
        return ()
    comment = _IN_COMMENT.search(text)
    return (*types, *([comment[1]] if comment else []))
