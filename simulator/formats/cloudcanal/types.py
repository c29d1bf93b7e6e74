"""Column types as CloudCanal names and numbers them: `jdbcType`, `dbValType`, `typeName`, for every source.

The codes in `types.csv` are java.sql.Types, or the number of the source's own driver where it has one (`standard`: what
`oracle_std_codes` writes for it). Rows from `library` were read in ClouGence/open-cdm,
`clouddm-utils/cg-schema/…/adapter/<db>/*Types.java`, the type library of a sister product. That CloudCanal uses the
same table is a decision (varchar 12 and int 4 agree with the printed examples). `[]` stands for arrays, `*` for all
other types of a library. OceanBase and GaussDB have the rows in which their enums differ from MySQL's and PostgreSQL's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.systems import System, system_of
from simulator.formats.format import Settings
from simulator.formats.members import per_column
from simulator.model import Column
from simulator.tables import rows
from simulator.wire.fields import PerTable


@dataclass(frozen=True, slots=True)
class Type:
    """A row: the product's code of a type, the code of java.sql.Types, and the product's own name, if any."""

    code: int
    standard: int
    name: str


@cache
def _library(name: str) -> Mapping[str, Type]:
    return {
        row["type"]: Type(int(row["code"]), int(row["standard"] or row["code"]), row["name"])
        for row in rows(__file__, "types.csv", library=name)
    }


def type_of(column: Column, system: System) -> Type:
    own, types, name = _library(system.types), _library(system.library.types), column.type.name
    unsigned = own.get(f"{name} unsigned") if column.type.unsigned else None
    return unsigned or own.get(name) or types.get(name) or types["[]" if name.endswith("[]") and "[]" in types else "*"]


def code(column: Column, settings: Settings[CommonOptions]) -> int:
    """The column's `jdbcType`; unsigned columns have the signed type's, except OceanBase's."""
    type = type_of(column, system_of(settings))
    return type.standard if settings.options.oracle_std_codes else type.code


def expression(column: Column, settings: Settings[CommonOptions]) -> str:
    """`dbValType`, `typeExpression`: the type with its arguments, in the source's spelling: `varchar(22)`."""
    system, source = system_of(settings), settings.source
    if name := type_of(column, system).name:
        return name
    return source.type_text(column.type, style=system.library.style or None)


def expressions(settings: Settings[CommonOptions]) -> PerTable:
    """Column name to `dbValType`."""
    return per_column(lambda column: expression(column, settings))


def codes(settings: Settings[CommonOptions]) -> PerTable:
    """Column name to `jdbcType`."""
    return per_column(lambda column: code(column, settings))
