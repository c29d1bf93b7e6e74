"""Rules by which a session stores values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError
from simulator.sql.values.kinds import Shape
from simulator.sql.values.temporal import Zone


@dataclass(frozen=True)
class Rules:
    """Rules by which a session stores values: strict or not, accepted zero dates, its time zone, and the server's
    behaviour.

    `json_is_text`: JSON is validated text. `truncates_fractions`: digits that a column lacks are cut. `server`: its id.
    `swaps_axes`: SRID 4326 has its latitude first in texts, as since MySQL 8.0.
    """

    strict: bool
    no_zero_date: bool
    no_zero_in_date: bool
    zone: Zone
    json_duplicates: str
    json_is_text: bool
    truncates_fractions: bool = False
    mariadb: bool = False
    server: str = ""
    swaps_axes: bool = False
    today: Callable[[], int] = lambda: 0  # the date of a TIME that becomes a DATETIME, in days from 1970

    def raise_if_strict(self, number: int, *facts: object) -> None:
        """Raise SqlError with this number in strict mode; in another the caller stores the nearest value."""
        if self.strict:
            raise SqlError(number, *facts)


def refuse_shape(value: Any, field: Field, rules: Rules) -> None:
    """MariaDB converts a geometry to a geometry or a text only, in strict mode. Raises SqlError 4078."""
    if isinstance(value, Shape) and rules.mariadb and rules.strict:
        type = field.type
        name = (
            f"{'tiny' if type.name == 'tinyint' else type.name} unsigned"
            if type.unsigned and type.name.endswith("int")
            else type.name
        )
        raise SqlError(4078, "geometry", name, field.name)
