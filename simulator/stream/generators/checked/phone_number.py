"""`phone_number`: telephone numbers in international notation (E.164)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Strict
from simulator.values import check_digits
from simulator.values.draw import Bits, below, mix

# Prefixes, and the number of digits that follow. Those of the United States (555-01xx) and Germany are reserved for
# fiction, so nobody has them. Spain and China reserve none.
AREAS: Final = (
    201, 202, 205, 206, 208, 210, 212, 213, 214, 215, 216, 248, 253, 267, 281, 301, 303, 305, 310, 312, 313, 314, 315,
    317, 321, 323, 330, 347, 352, 360, 404, 405, 407, 408, 410, 412, 414, 415, 419, 425, 432, 440, 443, 469, 480, 501,
    502, 503, 504, 505,
)  # fmt: skip
NUMBERS: Final = {
    "CN": (("+8613", "+8615", "+8617", "+8618", "+8619"), 9),
    "DE": (("+493023125", "+496990009", "+494066969", "+498999998", "+492214710"), 3),
    "ES": (("+346",), 8),
    "US": (tuple(f"+1{area}55501" for area in AREAS), 2),
}


class PhoneNumber(Strict):
    """A telephone number."""

    country: Annotated[Literal["CN", "DE", "ES", "US"], Field(description="Whose numbers.")] = "US"


def check(check: ColumnCheck, number: PhoneNumber) -> None:
    prefixes, digits = NUMBERS[number.country]
    check.room(len(prefixes[0]) + digits)


def draw(target: Target, number: PhoneNumber) -> Draws:
    texts, digits = NUMBERS[number.country]
    prefixes = pa.array(texts)

    def written(drawn: Bits) -> pa.Array:
        begins = prefixes.take(pa.array(below(mix(drawn), len(prefixes))))
        return pc.binary_join_element_wise(begins, check_digits.texts(check_digits.drawn(drawn, digits)), "")

    return OfBits(target, written)


GENERATOR = Generator(
    name="phone_number",
    doc="a telephone number of a `country` (US; CN, DE, ES): +12125550142; those of the US and of Germany are from "
    "ranges that belong to nobody",
    example="{type: string(16), values: {phone_number: {country: DE}}}",
    arguments=PhoneNumber,
    alone={},
    fits=("text",),
    leaf=True,
    check=check,
    draw=draw,
)
