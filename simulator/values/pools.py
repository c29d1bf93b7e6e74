"""Pools of texts: Faker is asked once for a column's pool, rows index it by hash.

Faker's output changes with its version, so the pools of the shipped scenarios are data (`data/PROVIDER.LOCALE.txt.gz`),
and a pool is found there first. `python -m simulator.values.pools name en_US 2000` writes such a file.
"""

from __future__ import annotations

import gzip
import sys
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from simulator.errors import UsageError
from simulator.values.draw import key


@lru_cache(maxsize=256)
def pool(provider: str, locale: str, size: int) -> tuple[str, ...]:
    """Up to `size` different texts of a Faker provider, always the same. Fewer where the provider has fewer.

    Raises UsageError when Faker has no such provider or locale.
    """
    shipped = files("simulator.values").joinpath("data", f"{provider}.{locale}.txt.gz")
    if shipped.is_file():
        texts = tuple(gzip.decompress(shipped.read_bytes()).decode().split("\n"))
        if len(texts) >= size:
            return texts[:size]
    return ask_faker(provider, locale, size)


def ask_faker(provider: str, locale: str, size: int) -> tuple[str, ...]:
    """The pool as the installed Faker makes it. 60 to 85 µs a text."""
    from faker import Faker

    try:
        faker = Faker(locale)
    except AttributeError:
        raise UsageError(f"faker: there is no locale {locale!r}; one looks like 'en_US' or 'zh_CN'.") from None
    faker.seed_instance(int(key("pool", provider, locale)))
    make = getattr(faker, provider, None)
    if make is None or provider.startswith("_"):
        raise UsageError(f"faker: there is no provider {provider!r}; see Faker's list of standard providers.")
    texts: dict[str, None] = {}
    for _ in range(size * 20):
        texts[str(make()).replace("\n", ", ")] = None
        if len(texts) == size:
            break
    return tuple(texts)


if __name__ == "__main__":
    provider, locale, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    made = "\n".join(ask_faker(provider, locale, size)).encode()
    path = Path(__file__).parent / "data" / f"{provider}.{locale}.txt.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(made, mtime=0))  # no time in it: the same texts make the same file
