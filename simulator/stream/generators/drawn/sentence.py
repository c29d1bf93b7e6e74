"""`sentence`: sentences from templates, as people write them into forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from simulator.stream.generators.columns import Target
from simulator.stream.generators.drawn.choices import weighted
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import ONE, several
from simulator.tables import lists

# Maximum distinct sentences of a column.
MOST: Final = 20_000
_WAYS: Final = re.compile(r"\{([^{}]*)\}")

Templates = Annotated[list[str], BeforeValidator(several), Field(min_length=1), ONE]


@cache
def shipped() -> dict[str, tuple[str, ...]]:
    """Shipped templates by name: `sentence: delivery`."""
    return dict(lists(__file__, "sentences.yaml"))


def ways(template: str) -> list[list[str]]:
    """Constants and alternatives of a template, in turn.

    >>> ways("Ring {twice|at 12}, please.")
    [['Ring '], ['twice', 'at 12'], [', please.']]
    """
    parts = _WAYS.split(template)
    return [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]


def expanded(templates: Sequence[str]) -> dict[str, float]:
    """All sentences with their weights; templates are equally likely."""
    sentences: dict[str, float] = {}
    for template in templates:
        choices = ways(template)
        weight = 1 / prod(map(len, choices))
        for words in product(*choices):
            text = "".join(words)
            sentences[text] = sentences.get(text, 0) + weight
    return sentences


def templates_of(templates: Sequence[str]) -> list[str]:
    """The templates; a name of shipped ones is replaced by them."""
    return [text for template in templates for text in shipped().get(template, (template,))]


def check(check: ColumnCheck, templates: list[str]) -> None:
    for i, template in enumerate(templates):
        if re.fullmatch(r"\w+", template) and template not in shipped():
            check.unknown("sentences", template, shipped(), i)
        if _WAYS.sub("", template).strip("{}") != _WAYS.sub("", template):
            check.fail(f"{template!r} has a brace without its partner", i)
    full = templates_of(templates)
    count = sum(prod(map(len, ways(template))) for template in full)
    if count > MOST:
        check.fail(f"{count:,} different sentences are more than {MOST:,}; leave some alternatives out")
    check.nullable_literals(list(expanded(full)))


def draw(target: Target, templates: list[str]) -> Draws:
    sentences = expanded(templates_of(templates))
    return weighted(target.literals(sentences), list(sentences.values()), target)


GENERATOR = Generator(
    name="sentence",
    doc="a sentence of one of these templates, in which `{a|b}` becomes one of the alternatives; "
    f"{', '.join(shipped())} are templates that come with the package; an update takes another one",
    example='{type: string(80), values: {sentence: ["Please {ring|call} {at noon|after five}.", delivery]}}',
    arguments=Templates,
    fits=("text",),
    leaf=True,
    prose=lambda templates: True,
    check=check,
    draw=draw,
)
