"""Believable values by a column's name and what it holds: candidates, the best first; the first that fits is taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from simulator.tables import document

# A generator and its arguments, as a scenario writes them; None: its name alone.
Values: TypeAlias = tuple[str, Any]


def _faker(provider: str) -> Values:
    """Smaller pools that Faker makes where the package has none."""
    return "faker", provider if provider in _SHIPPED else {"provider": provider, "size": "200"}


_SHIPPED: Final = ("catch_phrase", "city", "email", "name", "word")
_GOODS: Final = re.compile(r"product|item|article|goods|sku|catalog")
_TITLE: Final = (_faker("catch_phrase"), _faker("word"))
_PEOPLE: Final = re.compile(
    r"user|customer|person|people|employee|staff|actor|author|contact|member|student|patient|client|teacher|doctor"
)

_CREATED: Final = (
    r"creat|insert|added|regist|joined|placed|order(ed)?_?(date|at|time)|ctime|logged|occurred|posted|post_date"
)
_UPDATED: Final = r"updat|modif|chang|mtime|last_(seen|login|edit)"
_JSON: Final = ("document", {"source": "web", "score": {"range": ["1", "100"]}, "tags": [{"faker": "word"}]})
_AROUND_KEYS: Final = (
    (r"e_?mail", "'user', {}, '@example.com'"),
    (r"user|login|nick|handle", "'user', {}"),
    (r"url|link|uri|href", "'https://example.com/', {}"),
    (r"slug", "'item-', {}"),
)
# The rules of `names.yaml` for what a column holds.
_SECTIONS: Final = {
    "text": "text",
    "whole numbers": "numbers",
    "decimals": "numbers",
    "floats": "numbers",
    "times": "times",
    "dates": "times",
}


def _read(value: str | Mapping[str, Any]) -> Values:
    """A generator of `names.yaml`."""
    if isinstance(value, str):
        return value, None
    ((kind, arguments),) = value.items()
    return _faker(arguments) if kind == "faker" else (kind, arguments)


def words_of(name: str) -> str:
    """A name in lower case with `_` between its words: `createdAt` is `created_at`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def is_created(name: str) -> bool:
    """Whether a time is that of the row's insert, which stays."""
    return bool(re.search(_CREATED, words_of(name))) and not is_updated(name)


def is_updated(name: str) -> bool:
    """Whether a time is that of the row's last change."""
    return bool(re.search(_UPDATED, words_of(name)))


def candidates(table: str, name: str, holds: str, labels: Sequence[str]) -> Iterator[Values]:
    """Values for a column of this name that holds texts, numbers …, by the words of the generators' `fits`."""
    words = words_of(name)
    if holds == "labels" and len(labels) > 1:
        yield "choices", list(labels)
    if holds == "JSON":
        yield _JSON
    if holds == "text" and words == "name" and _PEOPLE.search(words_of(table)):
        yield "person", "name"
        yield _faker("name")
    if holds == "text" and re.search("name|title|label", words) and _GOODS.search(words_of(table)):
        yield "sentence", "product"
    if holds in ("times", "dates") and re.search(f"{_UPDATED}|{_CREATED}", words):
        yield "commit_time", None
        return
    for pattern, values in document(__file__, "names.yaml").get(_SECTIONS.get(holds), {}).items():
        if re.search(pattern, words):
            yield from map(_read, values)
            break
    if holds == "text":
        yield from _TITLE


def of_person(name: str) -> Values | None:
    """An address or a login, which are made of the row's key, for a column of this name."""
    words = words_of(name)
    part = "email" if re.search("e_?mail", words) else "login" if re.search("user_?name|login|nick", words) else None
    return None if part is None else ("person", part)


def is_price(name: str) -> bool:
    """Whether a column of this name holds what one piece costs."""
    return bool(re.search("price", words_of(name)))


def unique_text(name: str, key: str) -> Values:
    """A text that no other row has, since it is made of the row's key."""
    words = words_of(name)
    word = next(iter(re.findall(r"[a-z]+", words)), "text")
    shape = next((shape for pattern, shape in _AROUND_KEYS if re.search(pattern, words)), f"'{word} ', {{}}")
    return "derived", f"concat({shape.format(key)})"
