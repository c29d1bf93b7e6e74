"""Description of a generator: a kind of values, with its arguments, check, drawing, example and documentation.

The scenario language is built from these descriptions. Therefore they import neither the language nor its users, and
hold functions whose argument types are defined later: `columns.Target`, `checks.column.ColumnCheck`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import AfterValidator, TypeAdapter, WithJsonSchema

from simulator.values.pools import Pool

# Words for contents of columns, as used in messages and in `Generator.fits`.
NUMBERS: Final = ("whole numbers", "decimals")
TIMES: Final = ("dates", "times", "times of day")


def _yes(value: bool) -> bool:
    if not value:
        raise ValueError("write yes, or leave the key out")
    return value


# Arguments of a generator without arguments: `uuid`, or `{uuid: yes}`.
FLAG: Final = Annotated[bool, AfterValidator(_yes), WithJsonSchema({"const": True})]
# Value of `Generator.alone`: the generator needs arguments.
NEEDED: Final = object()


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A kind of values: `values: {name: arguments}`, or `values: name` where `alone` says what it means by itself.

    `draw(target, arguments)` gives the `Draws` of a column; `check(column, arguments)` reports what cannot be, to a
    `ColumnCheck`. `doc` completes the sentence "values are …" in the reference, `example` is a column that uses it.
    `arguments` is a pydantic type. `fits` names what columns must hold (`ColumnCheck.holds`); empty: anything.
    `unique`: no two rows have the same value, so it makes a key. `keyed`: values are made of the row's key, so they
    make a unique key where that is a sequence. `leaf`: may stand in a document. `pools` are the texts that Faker must
    make. `beside` names arguments that may stand beside the generator's name, whose own value is the
    argument `main` then: `{of: products.price, via: product_id}` is `{of: {column: products.price, via: product_id}}`.
    `prose`: whether they are texts that people type, of which `text: {hostile: …}` replaces a share.
    """

    name: str
    doc: str
    example: str
    draw: Callable[..., Any]
    arguments: Any = FLAG
    alone: Any = NEEDED
    check: Callable[..., None] = lambda check, arguments: None
    fits: tuple[str, ...] = ()
    unique: bool = False
    leaf: bool = False
    keyed: Callable[[Any], bool] = lambda arguments: False
    pools: Callable[[Any], Iterable[Pool]] = lambda arguments: ()
    main: str = ""
    beside: tuple[str, ...] = ()
    prose: Callable[[Any], bool] = lambda arguments: False

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Parser of the arguments."""
        return TypeAdapter(self.arguments)
