"""Default values of columns: a generator and its arguments, as in a scenario."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

Drawn: TypeAlias = tuple[str, Any]

FLOATS: Final[Drawn] = ("range", ("0", "10000"))
DATES: Final[Drawn] = ("range", ("1970-01-01", "2029-12-31"))
DATETIMES: Final[Drawn] = ("range", ("2015-01-01 00:00:00", "2029-12-31 23:59:59"))
TIMES: Final[Drawn] = ("range", ("00:00:00", "23:59:59"))
BOOLEANS: Final[Drawn] = ("choices", ["false", "true"])
UUIDS: Final[Drawn] = ("uuid", True)
DOCUMENTS: Final[Drawn] = (
    "document",
    {
        "id": {"range": ["1", "1000000"]},
        "tags": [{"choices": ["new", "sale", "gift"]}, {"choices": ["red", "green", "blue"]}],
        "active": "true",
    },
)
# Columns of system-specific types hold their boundary values in turn.
BOUNDARY: Final[Drawn] = ("boundary", True)

_BY_FAMILY: Final = {
    "float": FLOATS,
    "date": DATES,
    "datetime": DATETIMES,
    "timestamptz": DATETIMES,
    "zoned": DATETIMES,
    "time": TIMES,
    "boolean": BOOLEANS,
    "uuid": UUIDS,
    "json": DOCUMENTS,
}

# Most integers of real tables are small: (maximum of the type, maximum of the column).
_SMALL: Final = ((255, 100), (65_535, 10_000), (16_777_215, 1_000_000))
# Maximum digits of generated numbers.
_DIGITS: Final = 18


def of_family(family: str) -> Drawn:
    """The default generator of a type without one of its own."""
    return _BY_FAMILY.get(family, BOUNDARY)


def up_to(high: str) -> Drawn:
    return "range", ("0", high)


def choices(values: Iterable[str]) -> Drawn:
    return "choices", list(values)


def integers(greatest: int) -> Drawn:
    """Numbers for a type with this greatest value.

    >>> integers(127), integers(2**63 - 1)
    (('range', ('0', '100')), ('range', ('0', '1000000000')))
    """
    return up_to(str(next((most for limit, most in _SMALL if greatest <= limit), 1_000_000_000)))


def decimals(precision: int, scale: int) -> Drawn:
    """Decimals with up to four digits before the point.

    >>> decimals(10, 2), decimals(2, 2)
    (('range', ('0', '9999.99')), ('range', ('0', '0.99')))
    """
    if scale > _DIGITS:
        return up_to("0." + ("9" * _DIGITS).zfill(scale))
    integer_digits = min(precision - scale, 4, _DIGITS - scale)
    return up_to(("9" * integer_digits or "0") + ("." + "9" * scale if scale else ""))


def bits(count: int) -> Drawn:
    """Random bits, at most 62, since a range draws no more."""
    return up_to(str((1 << min(count, 62)) - 1))


def texts(most: int, *, fixed: bool = False, long: bool = False) -> Drawn:
    """The default generator of a text with a maximal length. Columns of a `fixed` short length mostly hold codes of
    that length."""
    high = min(most, 60 if long else 24)
    low = high if fixed and most <= 8 else min(3, high)
    return "text", {"length": f"{low}..{high}", "alphabet": "letters"}


def binaries(most: int, *, fixed: bool = False) -> Drawn:
    low, high = (most, most) if fixed else (min(1, most), min(most, 32))
    return "bytes", {"length": f"{low}..{high}"}
