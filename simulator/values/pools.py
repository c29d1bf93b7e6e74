"""Pools of texts: Faker is asked once for a column's pool, rows index it by hash.

Faker's output changes with its version, so the pools of the shipped scenarios are data (`data/PROVIDER.LOCALE.txt.gz`),
and a pool is found there first. `python -m simulator.values.pools name en_US` writes such a file.
"""

from __future__ import annotations

import gzip
import sys
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from simulator.errors import UsageError
from simulator.values.draw import key

# Texts in a shipped file; fewer if the provider has fewer.
SHIPPED_SIZE: Final = 2000


class Pool(NamedTuple):
    """Up to `size` distinct texts of a Faker provider, fewer if it has fewer."""

    provider: str
    locale: str
    size: int


@lru_cache(maxsize=256)
def shipped(pool: Pool) -> tuple[str, ...] | None:
    """The texts of a pool that comes with the package; None for other pools."""
    file = files("simulator.values").joinpath("data", f"{pool.provider}.{pool.locale}.txt.gz")
    if not file.is_file():
        return None
    texts = tuple(gzip.decompress(file.read_bytes()).decode().split("\n"))
    return texts[: pool.size] if pool.size <= len(texts) or len(texts) < SHIPPED_SIZE else None


@lru_cache(maxsize=256)
def ask_faker(pool: Pool) -> tuple[str, ...]:
    """The texts of a pool as the installed Faker makes them, 60 to 85 µs a text. Raises UsageError when Faker has no
    such provider or locale."""
    from faker import Faker

    try:
        faker = Faker(pool.locale)
    except AttributeError:
        raise UsageError(f"Faker has no locale {pool.locale!r}; one looks like 'en_US' or 'zh_CN'.") from None
    faker.seed_instance(int(key("pool", pool.provider, pool.locale)))
    make = getattr(faker, pool.provider, None)
    if not callable(make) or pool.provider.startswith("_"):
        raise UsageError(f"Faker has no provider {pool.provider!r}; see its list of standard providers.")
    texts: dict[str, None] = {}
    for _ in range(pool.size * 20):
        try:
            text = str(make())
        except Exception as error:
            raise UsageError(f"Faker's {pool.provider!r} makes no text by itself: {error}") from None
        texts[text.replace("\n", ", ")] = None
        if len(texts) == pool.size:
            break
    return tuple(texts)


if __name__ == "__main__":
    pool = Pool(sys.argv[1], sys.argv[2], SHIPPED_SIZE)
    path = Path(__file__).parent / "data" / f"{pool.provider}.{pool.locale}.txt.gz"
    path.parent.mkdir(exist_ok=True)
    # no timestamp: the same texts give the same file
    path.write_bytes(gzip.compress("\n".join(ask_faker(pool)).encode(), mtime=0))
