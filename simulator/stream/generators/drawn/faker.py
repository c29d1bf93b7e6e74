"""`faker`: a text of a pool that Faker makes once; rows index it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from simulator.errors import UsageError
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import even
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Strict
from simulator.values.pools import Pool, ask_faker, shipped


class Faker(Strict):
    """A pool of texts that Faker makes once; rows index it."""

    provider: Annotated[str, Field(description="A Faker provider: name, email, company, street_address …")]
    locale: str = "en_US"
    size: Annotated[int, Field(ge=2, le=1_000_000, description="Different texts in the pool.")] = 1000

    @property
    def pool(self) -> Pool:
        return Pool(self.provider, self.locale, self.size)


def _word(data: Any) -> Any:
    return {"provider": data} if isinstance(data, str) else data


def check(check: ColumnCheck, faker: Faker) -> None:
    try:
        texts = shipped(faker.pool) or ask_faker(faker.pool)
    except UsageError as error:
        check.fail(str(error))
    check.literals(texts)


def draw(target: Target, faker: Faker) -> Draws:
    return even(target.literals(target.scenario.texts(faker.pool)), target)


GENERATOR = Generator(
    name="faker",
    doc="a text of a pool that Faker makes once: `provider` (or its name alone), `locale` (en_US), `size` (1000 "
    "different texts)",
    example="{type: string(80), values: {faker: {provider: company, locale: de_DE, size: 500}}}",
    arguments=Annotated[Faker, BeforeValidator(_word), WORD],
    leaf=True,
    prose=lambda faker: "email" not in faker.provider,
    check=check,
    draw=draw,
    pools=lambda faker: [faker.pool],
)
