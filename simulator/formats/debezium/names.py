"""Names of topics and schemas."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Final

from simulator.delivery.routing import Topics, fill
from simulator.formats.debezium.options import Adjustment, ConnectorOptions
from simulator.model import TableId

# Kafka's longest name of a topic.
LONGEST: Final = 249


def sanitised(name: str) -> str:
    """A topic's name in which each UTF-16 unit that Kafka does not allow is replaced with _.

    >>> sanitised("a.Tá b$😀")
    'a.T__b___'
    """
    out = re.sub(r"[^A-Za-z0-9._-]", lambda match: "__" if ord(match[0]) > 0xFFFF else "_", name)
    return out[:LONGEST]


def avro_name(name: str, mode: Adjustment, dot: str = ".") -> str:
    """A name with the characters that Avro allows, and dots; in place of others, UTF-16 unit by unit, `_`, or `_u` and
    their hexadecimal numbers, then that of `_`, too. A digit at the beginning stays behind its `_`
    (`SchemaNameAdjuster`). `dot`: "" in names without dots.

    >>> avro_name("1.we-ird_t.2t", "avro"), avro_name("1.we-ird_t.2t", "avro_unicode")
    ('_1.we_ird_t.2t', '_u0031.we_u002dird_u005ft.2t')
    >>> avro_name("a.ā😀", "avro", dot=""), avro_name("a.ā😀", "avro_unicode", dot="")
    ('a____', 'a_u002e_u101_ud83d_ude00')
    """
    if mode == "none":
        return name
    letters = "A-Za-z_" if mode == "avro" else "A-Za-z"
    units = [chr(unit) for (unit,) in struct.iter_unpack("<H", name.encode("utf-16-le", "surrogatepass"))]

    def replaced(unit: str) -> str:
        code = f"{ord(unit):x}"
        return "_" if mode == "avro" else f"_u00{code}" if len(code) <= 2 else f"_u{code}"

    first, *others = units
    if not re.match(f"[{letters}]", first):
        first = replaced(first) + (first if mode == "avro" and first.isdecimal() else "")
    valid = re.compile(f"[{letters}0-9{re.escape(dot)}]")
    return first + "".join(unit if valid.match(unit) else replaced(unit) for unit in others)


@dataclass(frozen=True)
class TableTopics(Topics):
    """A topic for each table."""

    def of(self, table_id: TableId, pattern: str | None = None) -> str:
        return sanitised(
            fill(pattern or self.pattern, database=table_id.database, schema=table_id.schema, table=table_id.name)
        )


@dataclass(frozen=True)
class Names:
    """Names by a connector's settings; `parts`: the parts of a table's name in its topic."""

    options: ConnectorOptions
    parts: str

    @property
    def topics(self) -> TableTopics:
        delimiter = self.options.topic_delimiter
        return TableTopics(delimiter.join([self.options.topic_prefix, *self.parts.split(".")]))

    @property
    def transactions(self) -> str:
        options = self.options
        return sanitised(f"{options.topic_prefix}{options.topic_delimiter}{options.topic_transaction}")

    @property
    def messages(self) -> str:
        return sanitised(f"{self.options.topic_prefix}{self.options.topic_delimiter}message")

    @property
    def schema_changes(self) -> str:
        return sanitised(self.options.topic_prefix)

    @property
    def heartbeats(self) -> str:
        if self.options.topic_heartbeat_name:
            return self.options.topic_heartbeat_name
        return f"{self.options.topic_heartbeat_prefix}{self.options.topic_delimiter}{self.options.topic_prefix}"

    def schema(self, table: TableId, what: str) -> str:
        """The name of a table's schema: `dbserver1.shop.orders.Envelope`."""
        return avro_name(f"{self.topics.of(table)}.{what}", self.options.name_adjustment)

    def field(self, name: str) -> str:
        """A column's name in a row."""
        return avro_name(name, self.options.field_adjustment, dot="")
