"""Boundary values: the literals in a source's `boundaries.yaml`, and those that follow from a type's arguments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

# Values above this many bytes are large objects; `boundary_values` leaves them out unless asked.
LARGE_BYTES: Final = 70_000


def large(family: str) -> str:
    """A value of this size in bytes: JSON, XML, bytes, or a text."""
    if family == "json":
        return json.dumps(["x" * (LARGE_BYTES - 4)])
    if family == "xml":
        return f"<a>{'x' * (LARGE_BYTES - 7)}</a>"
    return "0x" + "00ff" * (LARGE_BYTES // 2) if family == "binary" else full(LARGE_BYTES)


def full(length: int) -> str:
    """A text with this number of characters."""
    return ("0123456789" * (length // 10 + 1))[:length]


def integers(bounds: tuple[int, int], edges: Iterable[str]) -> list[str]:
    """Both ends of a type, the numbers around zero, and those of `edges` that fit.

    >>> integers((-128, 127), ["127", "128"])
    ['-128', '-1', '0', '1', '127']
    """
    low, high = bounds
    return [str(value) for value in sorted({low, -1, 0, 1, high, *map(int, edges)}) if low <= value <= high]


def fixed_point(precision: int, scale: int) -> tuple[str, str]:
    """The smallest positive number and the largest one, for a scale of 0 to the precision.

    >>> fixed_point(5, 2), fixed_point(2, 2), fixed_point(3, 0)
    (('0.01', '999.99'), ('0.01', '0.99'), ('1', '999'))
    """
    digits = "9" * precision
    integer_part, fraction = digits[: precision - scale] or "0", digits[precision - scale :]
    return ("0." + "1".zfill(scale), f"{integer_part}.{fraction}") if scale else ("1", integer_part)


def fractions(digits: int) -> list[str]:
    """Fractions of a second: none, the smallest, one half, the largest.

    >>> fractions(3), fractions(0)
    (['', '.001', '.500', '.999'], [''])
    """
    return ["", "." + "1".zfill(digits), "." + "5".ljust(digits, "0"), "." + "9" * digits] if digits else [""]


def times(literals: Iterable[str], fractions: list[str]) -> list[str]:
    """Times with placeholders replaced: `{fraction}` by each fraction, `{some}` by each that is not empty, `{last}` by
    the last.

    >>> times(["00:00:00", "12:34:56{some}"], ["", ".5"])
    ['00:00:00', '12:34:56.5']
    """
    nonempty = [fraction for fraction in fractions if fraction]
    texts = []
    for literal in literals:
        several = fractions if "{fraction}" in literal else nonempty if "{some}" in literal else fractions[-1:]
        texts += [literal.format(fraction=digits, some=digits, last=digits) for digits in several]
    return texts


def binaries(literals: Iterable[str], most: int) -> list[str]:
    """The empty literal, and the literals (`0x00ff`) that fit into `most` bytes."""
    return ["", *(literal for literal in literals if len(literal) // 2 - 1 <= most)]


def literals(values: Iterable[str], large: str | None = None) -> list[str | None]:
    """Each value once, the large one (if given), and null."""
    return [*dict.fromkeys(values), *([] if large is None else [large]), None]
