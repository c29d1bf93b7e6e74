"""Believable values by a column's name and what it holds: candidates, the best first; the first that fits is taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

# A generator and its arguments, as a scenario writes them; None: its name alone.
Values: TypeAlias = tuple[str, Any]
Rules: TypeAlias = Sequence[tuple[str, Sequence[Values]]]


def _faker(provider: str) -> Values:
    """Of the pools that do not come with the package Faker makes smaller ones."""
    return "faker", provider if provider in _SHIPPED else {"provider": provider, "size": "200"}


def _choices(words: str, weights: Sequence[int] = ()) -> Values:
    names = words.split()
    return "choices", dict(zip(names, map(str, weights), strict=True)) if weights else names


def _range(low: object, high: object) -> Values:
    return "range", [str(low), str(high)]


_SHIPPED: Final = ("catch_phrase", "city", "email", "name", "word")
_TITLE: Final = (_faker("catch_phrase"), _faker("word"))
_COUNTRIES: Final = _choices("Brazil China France Germany India Japan Spain")
_CODES: Final = (_choices("BR CN DE ES FR IN JP US"), _choices("BRA CHN DEU ESP FRA IND JPN USA"))
_PEOPLE: Final = re.compile(
    r"user|customer|person|people|employee|staff|actor|author|contact|member|student|patient|client|teacher|doctor"
)

_TEXTS: Final[Rules] = (
    (r"e_?mail", [_faker("email"), ("pattern", "u####@a.io")]),
    (r"user_?agent", [_choices("curl/8.5.0 Mozilla/5.0 Googlebot/2.1")]),
    (r"uuid|guid", [("uuid", None), ("pattern", "https://example.com/?p=######")]),
    (r"^(f|first|given|middle)_?name", [_faker("first_name")]),
    (r"^(l|last|family|sur)_?name|surname", [_faker("last_name")]),
    (r"user_?name|login|nick|handle", [("pattern", "user######"), ("pattern", "u#####")]),
    (r"full_?name|contact_name|display_name|author|owner", [_faker("name")]),
    (r"pass(word|wd|$)|hash|token|secret|salt|checksum|digest|session_(key|id)|api_?key|md5|sha\d",
     [("text", {"length": n, "alphabet": "hex"}) for n in ("40", "32", "16", "8")]),
    (r"phone|mobile|fax|(^|_)tel", [("pattern", "+1-555-###-####"), ("pattern", "555-####"), ("pattern", "######")]),
    (r"city|town", [_faker("city"), _choices("Berlin Lima Madrid Paris Tokyo"), _choices("B L M P T")]),
    (r"country_?code|iso", [*_CODES]),
    (r"country|nation", [_COUNTRIES, *_CODES]),
    (r"region|province|county|district", [_choices("North East South West"), _choices("NO EA SO WE")]),
    (r"street|address|addr", [_faker("street_address"), ("pattern", "## High Street")]),
    (r"zip|post(al)?_?code|postal", [("pattern", "#####"), ("pattern", "####")]),
    (r"(^|_)ip(_|$|v4|v6)|remote_addr|ip_?addr", [("pattern", "10.1#.2#.1##")]),
    (r"url|link|href|website|homepage|uri|avatar|image|photo|picture|path|file",
     [("pattern", "https://example.com/######"), ("pattern", "/files/######"), ("pattern", "/####")]),
    (r"slug|permalink", [("pattern", "item-######"), ("pattern", "i####")]),
    (r"domain|host", [("pattern", "host-###.example.com"), ("pattern", "host-###")]),
    (r"currency", [_choices("EUR USD GBP JPY CNY")]),
    (r"lang|locale", [_choices("en de fr es zh")]),
    (r"time_?zone|(^|_)tz($|_)", [_choices("UTC Asia/Shanghai Europe/Berlin America/New_York")]),
    (r"colou?r", [_choices("red green blue black")]),
    (r"gender|sex", [_choices("female male other"), _choices("f m x")]),
    (r"mime|content_type", [_choices("text/html application/json image/png")]),
    (r"status|state|stage|phase",
     [_choices("active pending closed", (70, 20, 10)), _choices("A P C", (70, 20, 10))]),
    (r"^(is|has|can)_|enabled|visible|active|autoload|flag", [_choices("yes no", (80, 20)), _choices("Y N", (80, 20))]),
    (r"company|organi[sz]ation|employer|vendor|brand|supplier", [_faker("company")]),
    (r"sku|code|number|reference|serial|isbn|barcode|(^|_)no$",
     [("pattern", "??-######"), ("pattern", "??####"), ("pattern", "?###"), ("pattern", "??")]),
    (r"type|kind|category|role|level|class|tier|method", [_choices("standard premium trial"), _choices("s p t")]),
    (r"key$|tag|keyword", [_faker("word")]),
    (r"title|subject|name|headline|label|caption|description|comment|note|content|body|text|message|bio|summary|excerpt",
     _TITLE),
)  # fmt: skip
_FLAG: Final = re.compile(r"^(is|has|can|was|allow|show)_|enabled|active|visible|verified|approved|published|flag")
_NUMBERS: Final[Rules] = (
    (r"admin|super|deleted|blocked|locked|archived|disabled|banned", [_choices("0 1", (95, 5))]),
    (_FLAG.pattern, [_choices("1 0", (80, 20))]),
    (r"revision|(^|_)version|updates|visits|hits|views|login_count", [("version", None)]),
    (r"lat(itude)?$", [_range("-90", "90")]),
    (r"(lon|lng|long)(gitude)?$", [_range("-180", "180")]),
    (r"percent|pct|discount|tax|rate$|ratio|score", [_range(0, 100), _range(0, "9.99"), _range(0, "0.99")]),
    (r"rating|stars", [_range(1, 5)]),
    (r"price|amount|total|cost|fee|salary|balance|payment|revenue|budget|credit|freight",
     [_range(1, "4999.99"), _range(1, 5000), _range(0, "9.99"), _range(0, 100)]),
    (r"quantity|qty|count|stock|units|seats|(^|_)num", [_range(0, 500), _range(0, 100)]),
    (r"(^|_)age$", [_range(18, 90)]),
    (r"year", [_range(1990, 2030)]),
    (r"month", [_range(1, 12)]),
    (r"(^|_)day|weekday", [_range(1, 7)]),
    (r"priority|position|sort|order$|rank|level|weight", [_range(1, 100)]),
    (r"status|state|type|kind|role", [_choices("1 2 3", (70, 20, 10))]),
    (r"(_at|_time|timestamp|_date)$", [_range(1_700_000_000, 1_760_000_000)]),
    (r"(^|_)(ipv?4?|ip_addr(ess)?)$", [_range(167_772_160, 184_549_375)]),
    (r"id$", [_range(1, 1000), _range(1, 100)]),
)  # fmt: skip
_CREATED: Final = (
    r"creat|insert|added|regist|joined|placed|order(ed)?_?(date|at|time)|ctime|logged|occurred|posted|post_date"
)
_UPDATED: Final = r"updat|modif|chang|mtime|last_(seen|login|edit)"
_TIMES: Final[Rules] = (
    (_UPDATED, [("commit_time", None)]),
    (_CREATED, [("commit_time", None)]),
    (r"^(action|event|log|sent|paid|read|login|start(ed)?)_", [("commit_time", None)]),
    (r"birth|dob", [_range("1950-01-01", "2006-12-31"), _range("1950-01-01 00:00:00", "2006-12-31 00:00:00")]),
    (r"expir|due|until|end|deadline|required|valid_to",
     [_range("2024-06-01", "2029-12-31"), _range("2024-06-01 00:00:00", "2029-12-31 00:00:00")]),
)  # fmt: skip
_JSON: Final = ("document", {"source": "web", "score": {"range": ["1", "100"]}, "tags": [{"faker": "word"}]})
_AROUND_KEYS: Final = (
    (r"e_?mail", "'user', {}, '@example.com'"),
    (r"user|login|nick|handle", "'user', {}"),
    (r"url|link|uri|href", "'https://example.com/', {}"),
    (r"slug", "'item-', {}"),
)
_RULES: Final = {
    "text": _TEXTS,
    "whole numbers": _NUMBERS,
    "decimals": _NUMBERS,
    "floats": _NUMBERS,
    "times": _TIMES,
    "dates": _TIMES,
}


def words_of(name: str) -> str:
    """A name in lower case with `_` between its words: `createdAt` is `created_at`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def is_created(name: str) -> bool:
    """Whether a time is that of the row's insert, which stays."""
    return bool(re.search(_CREATED, words_of(name))) and not re.search(_UPDATED, words_of(name))


def candidates(table: str, name: str, holds: str, labels: Sequence[str]) -> Iterator[Values]:
    """Values for a column of this name that holds texts, numbers …, by the words of the generators' `fits`."""
    words = words_of(name)
    if holds == "labels" and len(labels) > 1:
        yield "choices", list(labels)
    if holds == "JSON":
        yield _JSON
    if holds == "text" and words == "name" and _PEOPLE.search(words_of(table)):
        yield _faker("name")
    for pattern, values in _RULES.get(holds, ()):
        if re.search(pattern, words):
            yield from values
            break
    if holds == "text":
        yield from _TITLE


def unique_text(name: str, key: str) -> Values:
    """A text that no other row has, since it is made of the row's key."""
    words = words_of(name)
    word = next(iter(re.findall(r"[a-z]+", words)), "text")
    shape = next((shape for pattern, shape in _AROUND_KEYS if re.search(pattern, words)), f"'{word} ', {{}}")
    return "derived", f"concat({shape.format(key)})"
