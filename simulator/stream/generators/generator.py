"""What a generator is: a kind of values, with its arguments, check, drawing, example and documentation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import pyarrow as pa
from pydantic import AfterValidator, TypeAdapter, WithJsonSchema

from simulator.errors import UsageError
from simulator.stream.engine.history import History, State
from simulator.values.draw import key
from simulator.values.pools import Pool

if TYPE_CHECKING:
    from simulator.sources.source import Source
    from simulator.stream.generators.columns import Columns
    from simulator.stream.scenario.checks.column import ColumnCheck
    from simulator.stream.scenario.scenario import Field, Scenario

# What columns hold, in the words of messages: for `Generator.fits`.
NUMBERS: Final = ("whole numbers", "decimals")
TIMES: Final = ("dates", "times", "times of day")


# Numbers and times have about so many bytes as text.
SHORT_BYTES: Final = 20


class Draws(ABC):
    """A generator made ready for one column: a state of a row in, its value out, for whole arrays of states.

    A value is a function of the row's identity and of how often the column was set before, so that before and after
    images, snapshots and final states agree wherever they are computed; no column needs that another is drawn, too.
    `always`: setting the column once more is sure to change it. No value has more than about `most_bytes`.
    """

    always: bool = False
    most_bytes: int = SHORT_BYTES

    @abstractmethod
    def array(self, state: State) -> pa.Array: ...


@dataclass(frozen=True)
class Target:
    """The column that a generator draws for."""

    columns: Columns
    field: Field
    history: History

    @property
    def scenario(self) -> Scenario:
        return self.columns.scenario

    @property
    def source(self) -> Source:
        return self.columns.scenario.source

    @property
    def carrier(self) -> pa.DataType:
        """How the column's values travel."""
        return self.source.arrow_type(self.field.type)

    @property
    def type(self) -> pa.DataType:
        """As what values are drawn: the carrier, but microseconds for times that travel as text."""
        return self.source.generated(self.field.type)

    @property
    def salt(self) -> np.uint64:
        """The key that makes a column's draws its own: adding a column changes no other's values."""
        return key(self.scenario.seed, self.field.table, self.field.name, "")

    def literals(self, texts: Iterable[str | None]) -> pa.Array:
        """Literals of the scenario as the column's carriers."""
        try:
            return self.source.parse_values(list(texts), self.field.type)
        except (ValueError, UsageError) as error:
            self.scenario.fail(self.field.path, str(error))


def _yes(value: bool) -> bool:
    if not value:
        raise ValueError("write yes, or leave the key out")
    return value


# The arguments of a generator that has none: `uuid`, or `{uuid: yes}`.
FLAG: Final = Annotated[bool, AfterValidator(_yes), WithJsonSchema({"const": True})]
# Of `Generator.alone`: the name does not stand alone.
NEEDED: Final = object()


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A kind of values: `values: {name: arguments}`, or `values: name` where `alone` says what it means by itself.

    `doc` completes the sentence "values are …" in the reference, `example` is a column that uses it. `arguments` is a
    pydantic type. `fits` names what columns must hold (`ColumnCheck.holds`); empty: anything. `unique`: no two rows
    have the same value, so it makes a key. `leaf`: may stand in a document. `pools` are the texts that Faker must make.
    """

    name: str
    doc: str
    example: str
    draw: Callable[[Target, Any], Draws]
    arguments: Any = FLAG
    alone: Any = NEEDED
    check: Callable[[ColumnCheck, Any], None] = lambda check, arguments: None
    fits: tuple[str, ...] = ()
    unique: bool = False
    leaf: bool = False
    pools: Callable[[Any], Iterable[Pool]] = lambda arguments: ()

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Reads the arguments."""
        return TypeAdapter(self.arguments)
