"""GaussDB and openGauss as a source: PostgreSQL's type system with what they add, and without what came after 9.2.

A database of compatibility PG is meant: an empty text is not null, `date` has no time of day, and the length of a text
counts characters. (In compatibility A, `date` is `timestamp(0) without time zone` and an empty text is null.)

| added | what it is |
| --- | --- |
| tinyint | 0 to 255 |
| tinyint, smallint, integer, bigint unsigned | 0 to 2^n - 1 |
| nvarchar2(n), clob | texts |
| raw, blob | bytes, printed as bare hexadecimal digits in capitals |
| smalldatetime | whole minutes, half a minute counts up |
| number, varchar2, binary_integer, binary_double | numeric, character varying, integer, double precision |

Not there: multiranges, macaddr8, line, pg_lsn and the extensions' citext, hstore and ltree; a 32-bit xid.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from simulator.model import ColumnType
from simulator.sources.postgresql.source import PostgresqlSource
from simulator.sources.postgresql.types import Dialect


class GaussdbSource(PostgresqlSource):
    @cached_property
    def dialect(self) -> Dialect:
        return Dialect("gaussdb", "GaussDB")

    def portable_type(self, name: str, arguments: Sequence[str]) -> ColumnType:
        return self.parse_type("blob") if name == "blob" else super().portable_type(name, arguments)
