"""`iban`: bank accounts with valid check digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.stream.scenario.language.words import Strict
from simulator.values import check_digits
from simulator.values.check_digits import Digits
from simulator.values.draw import Bits, below, mix
from simulator.values.texts import strings

# Weights of the Spanish control digits (Código Cuenta Cliente).
CCC: Final = (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)
# Bank codes of each country's length; no real account has these numbers.
BANKS: Final = {
    "AT": ("12000", "20111", "32000", "60000", "14000"),
    "DE": ("37040044", "50010517", "10050000", "20050550", "70150000", "60050101", "43060967", "12030000"),
    "ES": ("21000418", "01820600", "00491500", "20852066", "01280010"),
    "FR": ("3000203361", "3000403200", "1027802295", "2004101005"),
}


class Iban(Strict):
    """An account."""

    country: Annotated[
        Literal["AT", "DE", "ES", "FR"], Field(description="Whose accounts: Austria, Germany, Spain or France.")
    ] = "DE"


def plain(bank: Digits, account: Digits) -> Digits:
    """Bank code, then the account number."""
    return np.hstack([bank, account])


def spanish(bank: Digits, account: Digits) -> Digits:
    """Bank and office, two control digits, the account."""

    def control(digits: Digits) -> Digits:
        digit = (11 - check_digits.weighted(digits, CCC) % 11) % 11
        return np.where(digit == 10, 1, digit)

    first = control(np.hstack([check_digits.constant("00", len(bank)), bank]))
    return np.column_stack([bank, first, control(account), account])


def french(bank: Digits, account: Digits) -> Digits:
    """Bank and office, the account, and the RIB's key."""
    digits = np.hstack([bank, account, check_digits.constant("00", len(bank))])
    key = 97 - check_digits.remainder_97(digits)
    return np.column_stack([bank, account, key // 10, key % 10])


# digits of the account number, and the function that composes the national number
COUNTRIES: Final[dict[str, tuple[int, Callable[[Digits, Digits], Digits]]]] = {
    "AT": (11, plain),
    "DE": (10, plain),
    "ES": (10, spanish),
    "FR": (11, french),
}
LENGTHS: Final = {"AT": 20, "DE": 22, "ES": 24, "FR": 27}


def written(country: str, banks: Digits, drawn: Bits) -> pa.Array:
    """An account for each draw."""
    length, national = COUNTRIES[country]
    number = national(banks[below(mix(drawn), len(banks))], check_digits.drawn(drawn, length))
    letters = check_digits.constant(check_digits.numbers(f"{country}00"), len(drawn))
    key = 98 - check_digits.remainder_97(np.hstack([number, letters]))
    digits = np.column_stack([key // 10, key % 10, number]) + ord("0")
    name = np.tile(np.frombuffer(country.encode(), dtype=np.uint8), (len(drawn), 1))
    return strings(np.hstack([name, digits.astype(np.uint8)]))


def draw(target: Target, iban: Iban) -> Draws:
    banks = np.array([list(map(int, bank)) for bank in BANKS[iban.country]], dtype=np.int64)
    return OfBits(target, lambda drawn: written(iban.country, banks, drawn), most_bytes=LENGTHS[iban.country])


GENERATOR = Generator(
    name="iban",
    doc="an account of a bank of a `country` (DE; AT, ES, FR) whose check digits are right, the national ones, too",
    example="{type: string(22), values: {iban: {country: DE}}}",
    arguments=Iban,
    alone={},
    fits=("text",),
    leaf=True,
    check=lambda check, iban: check.room(LENGTHS[iban.country]),
    draw=draw,
)
