"""Partition by a hash of column values joined to one text: those of the key, or of chosen columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from simulator.batch import ChangeBatch
from simulator.delivery.hashes import Hash
from simulator.delivery.policies.columns import column_texts, places
from simulator.delivery.routing import Policy, Spread, Texts
from simulator.model import Column, Table
from simulator.text.template import join


@dataclass(frozen=True)
class ByText:
    """Values joined with `separator`, nulls as `null_text`; an update is hashed by its `image`.

    `keyless`: the policy for tables without such columns. `names`: the chosen columns; None: the primary key, with
    `unique` else the first NOT NULL unique key. `otherwise_key`: tables without chosen columns use their key.
    `left_out`: columns that the product does not send.
    """

    hash: Hash
    keyless: Policy
    separator: str = ""
    null_text: str = ""
    image: Literal["before", "after"] = "after"
    names: tuple[str, ...] | None = None
    unique: bool = False
    otherwise_key: bool = False
    left_out: Callable[[Column], bool] | None = None

    def columns(self, table: Table) -> tuple[int, ...]:
        chosen = places(table, self.names, unique=self.unique)
        if not chosen and self.otherwise_key:
            chosen = places(table, None, unique=self.unique)
        if self.left_out is not None:
            chosen = tuple(index for index in chosen if not self.left_out(table.columns[index]))
        return chosen

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        columns = self.columns(batch.table)
        if not columns:
            return self.keyless.spread(batch, count, texts)
        values = column_texts(batch, columns, texts, self.image, self.null_text)
        text = join([piece for value in values for piece in (self.separator, value)][1:], len(batch))
        return Spread(self.hash.partitions(text, count), text)
