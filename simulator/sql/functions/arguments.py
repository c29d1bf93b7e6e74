"""Shared pieces of functions: NULL for a NULL argument, and arguments as numbers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import wraps
from typing import Any

from simulator.sql.values.kinds import number_of

Function = Callable[..., Any]


def strict(function: Function) -> Function:
    """Returns NULL if an argument is NULL."""

    @wraps(function)
    def called(session: Any, *values: Any) -> Any:
        if any(value is None for value in values):
            return None
        return function(session, *values)

    return called


def integer_of(value: Any) -> int:
    number = number_of(value)
    if isinstance(number, float):
        return round(number)
    return int(Decimal(number).to_integral_value(ROUND_HALF_UP))
