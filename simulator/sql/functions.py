"""SQL functions by name, on values. Each takes the session and its arguments; most give NULL for a NULL."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from simulator.sources import mysql_geometry
from simulator.sql import documents, moments
from simulator.sql.comparing import compare
from simulator.sql.documents import MISSING, Document
from simulator.sql.errors import SqlError
from simulator.sql.moments import Moment
from simulator.sql.values import Raw, Shape, bytes_of, number_of, text_of, truth_of

CONTEXT: Final = Context(prec=120)
Function = Callable[..., Any]


def strict(function: Function) -> Function:
    """NULL where an argument is."""

    def called(session: Any, *values: Any) -> Any:
        if any(value is None for value in values):
            return None
        return function(session, *values)

    return called


def whole(value: Any) -> int:
    number = number_of(value)
    if isinstance(number, float):
        return round(number)
    return int(Decimal(number).to_integral_value(ROUND_HALF_UP))


def _like(first: Any, made: Callable[[Any], Any]) -> Any:
    """Bytes for bytes, text for all else."""
    return made(bytes_of(first)) if isinstance(first, bytes) else made(text_of(first))


def concat(session: Any, *values: Any) -> Any:
    if any(isinstance(value, bytes) for value in values):
        return b"".join(bytes_of(value) for value in values)
    return "".join(text_of(value) for value in values)


def _concat_ws(session: Any, separator: Any, *values: Any) -> Any:
    return None if separator is None else text_of(separator).join(text_of(v) for v in values if v is not None)


def _repeat(session: Any, value: Any, times: Any) -> Any:
    count = max(0, whole(times))
    if count * len(text_of(value)) > 1 << 26:
        return None
    return _like(value, lambda text: text * count)


def _substring(session: Any, value: Any, start: Any, length: Any = MISSING) -> Any:
    def cut(text: Any) -> Any:
        first = whole(start)
        begin = first - 1 if first > 0 else len(text) + first if first < 0 else len(text)
        if begin < 0:
            return text[:0]
        return text[begin:] if length is MISSING else text[begin : begin + max(0, whole(length))]

    return _like(value, cut)


def _trim(session: Any, value: Any, characters: Any = " ", position: str = "BOTH") -> Any:
    text, blank = text_of(value), text_of(characters)
    while position in ("BOTH", "LEADING") and blank and text.startswith(blank):
        text = text[len(blank) :]
    while position in ("BOTH", "TRAILING") and blank and text.endswith(blank):
        text = text[: -len(blank)]
    return text


def pad(session: Any, value: Any, length: Any, fill: Any, left: bool) -> Any:
    text, wanted, filler = text_of(value), whole(length), text_of(fill)
    if wanted <= len(text):
        return text[: max(0, wanted)]
    if not filler:
        return ""
    more = (filler * (wanted // len(filler) + 1))[: wanted - len(text)]
    return more + text if left else text + more


def _hex(session: Any, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bytes):
        return f"{value & (1 << 64) - 1:X}"
    if isinstance(value, float | Decimal):
        return f"{whole(value) & (1 << 64) - 1:X}"
    return bytes_of(value).hex().upper()


def _unhex(session: Any, value: Any) -> Any:
    text = text_of(value)
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else "0" + text)
    except ValueError:
        return None


def _char(session: Any, *values: Any) -> bytes:
    out = b""
    for value in values:
        if value is not None:
            number = whole(value) & 0xFFFFFFFF
            out += number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return out


def _round(session: Any, value: Any, digits: Any = 0, *, cut: bool = False) -> Any:
    places, number = whole(digits), number_of(value)
    if isinstance(number, float):
        scaled = number * 10.0**places
        return (math.trunc(scaled) if cut else float(round(scaled))) / 10.0**places
    exact = Decimal(number)
    scale = -int(exact.as_tuple().exponent) if isinstance(exact.as_tuple().exponent, int) else 0
    places = min(places, scale) if isinstance(number, Decimal) else min(places, 0)
    mode = ROUND_DOWN if cut else ROUND_HALF_UP
    made = exact.quantize(Decimal(1).scaleb(-places), rounding=mode, context=CONTEXT)
    return int(made) if isinstance(number, int) else made if places > 0 else Decimal(int(made))


def _floor(session: Any, value: Any) -> Any:
    number = number_of(value)
    return float(math.floor(number)) if isinstance(number, float) else math.floor(number)


def _ceil(session: Any, value: Any) -> Any:
    number = number_of(value)
    return float(math.ceil(number)) if isinstance(number, float) else math.ceil(number)


def _extreme(sign: int) -> Function:
    def pick(session: Any, *values: Any) -> Any:
        best = values[0]
        for value in values[1:]:
            if (compare(value, best, session.collation) or 0) * sign > 0:
                best = value
        return best

    return strict(pick)


def _moment(value: Any) -> Moment | None:
    if isinstance(value, Moment):
        return value
    if isinstance(value, int):
        return moments.number_datetime(value)
    parsed = moments.parse_datetime(text_of(value))
    return parsed[0] if parsed else None


def _date_part(part: Callable[[Moment], Any]) -> Function:
    def read(session: Any, value: Any) -> Any:
        found = _moment(value)
        return None if found is None else part(found)

    return strict(read)


def _date(moment: Moment) -> Moment:
    return Moment("date", moment.day)


def _time_of(session: Any, value: Any) -> Any:
    if isinstance(value, Moment):
        return Moment("time", 0, value.us, value.digits)
    parsed = moments.parse_time(text_of(value))
    return None if parsed is None else Moment("time", 0, parsed[0], parsed[1])


def _unix_timestamp(session: Any, value: Any = MISSING) -> Any:
    if value is MISSING:
        return session.now_us // 1_000_000
    found = _moment(value)
    if found is None or moments.is_partial(found.day):
        return 0
    return session.zone.to_utc(moments.us_of(found)) // 1_000_000


def _from_unixtime(session: Any, value: Any) -> Any:
    number = number_of(value)
    return moments.of_us(session.zone.to_local(int(number * 1_000_000)), 6 if isinstance(number, Decimal) else 0)


def _datediff(session: Any, a: Any, b: Any) -> Any:
    left, right = _moment(a), _moment(b)
    return None if left is None or right is None else left.day - right.day


# ---------------------------------------------------------------------------------------------------------------- JSON


def as_json(value: Any) -> Any:
    """A value as it goes into a document."""
    if isinstance(value, Document):
        return value.value
    if isinstance(value, bytes) and not isinstance(value, Shape):
        return bytes(value)
    return value


def document(value: Any, function: str, duplicates: str) -> Any:
    """The value of a JSON argument: a document, or a text to be read."""
    if isinstance(value, Document):
        return value.value
    try:
        return documents.parse(text_of(value), duplicates=duplicates)
    except ValueError as error:
        raise SqlError(3141, 1, function, f'"{str(error)[:100]}"') from None


def path(value: Any) -> list[str | int]:
    try:
        return documents.path(text_of(value))
    except ValueError:
        raise SqlError(3143) from None


def _json_object(session: Any, *values: Any) -> Any:
    made: dict[str, Any] = {}
    for key, value in zip(values[::2], values[1::2], strict=False):
        if key is None:
            raise SqlError(3141, 1, "json_object", "NULL is no key")
        name = text_of(key)
        if name not in made or session.server.json_duplicates == "last":
            made[name] = as_json(value)
    return session.as_document(made)


def _json_change(name: str, *, insert: bool, replace: bool) -> Function:
    def change(session: Any, value: Any, *rest: Any) -> Any:
        if value is None:
            return None
        made = document(value, name, session.server.json_duplicates)
        for where, new in zip(rest[::2], rest[1::2], strict=False):
            if where is None:
                return None
            made = documents.changed(made, path(where), as_json(new), insert=insert, replace=replace)
        return session.as_document(made)

    return change


def _json_remove(session: Any, value: Any, *paths: Any) -> Any:
    made = document(value, "json_remove", session.server.json_duplicates)
    for where in paths:
        made = documents.removed(made, path(where))
    return session.as_document(made)


def json_extract(session: Any, value: Any, *paths: Any) -> Any:
    inner = document(value, "json_extract", session.server.json_duplicates)
    found = [documents.find(inner, path(where)) for where in paths]
    if len(paths) == 1:
        return None if found[0] is MISSING else Document(found[0])
    kept = [item for item in found if item is not MISSING]
    return session.as_document(kept) if kept else None


def json_unquote(session: Any, value: Any) -> Any:
    inner = value.value if isinstance(value, Document) else value
    if isinstance(inner, str) and not isinstance(value, Document) and inner[:1] == '"':
        inner = document(inner, "json_unquote", "last")
    return inner if isinstance(inner, str) else text_of(value)


# ------------------------------------------------------------------------------------------------------------ geometry


def geometry(session: Any, text: Any, srid: Any = 0, *_: Any) -> Any:
    try:
        stored = mysql_geometry.to_bytes(text_of(text), "geometry")
    except ValueError:
        raise SqlError(3037, "st_geomfromtext") from None
    number = whole(srid)
    if number == 4326 and session.server.swaps_axes:
        stored = mysql_geometry.swapped(stored)
    return Shape(struct.pack("<I", number) + stored[4:])


def _point(session: Any, x: Any, y: Any) -> Shape:
    return Shape(struct.pack("<IBIdd", 0, 1, 1, float(number_of(x)), float(number_of(y))))


def _uuid(session: Any) -> str:
    digits = hashlib.md5(f"uuid {session.draw()}".encode(), usedforsecurity=False).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-11f1-{digits[16:20]}-{digits[20:]}"


def _rand(session: Any, seed: Any = None) -> float:
    text = f"rand {session.draw() if seed is None else seed}"
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:6], "big") / (1 << 48)


def _if(session: Any, condition: Any, yes: Any, no: Any) -> Any:
    return yes if truth_of(condition) else no


def _field(session: Any, wanted: Any, *values: Any) -> int:
    for i, value in enumerate(values, 1):
        if compare(wanted, value, session.collation) == 0:
            return i
    return 0


def _locate(session: Any, needle: Any, text: Any, start: Any = 1) -> int:
    return text_of(text).upper().find(text_of(needle).upper(), whole(start) - 1) + 1


def _digest(name: str) -> Function:
    return strict(lambda session, value: hashlib.new(name, bytes_of(value), usedforsecurity=False).hexdigest())


def _sha2(session: Any, value: Any, bits: Any) -> Any:
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(whole(bits))
    return None if name is None else hashlib.new(name, bytes_of(value)).hexdigest()


FUNCTIONS: Final[Mapping[str, Function]] = {
    "abs": strict(lambda session, value: abs(number_of(value))),
    "ascii": strict(lambda session, value: (bytes_of(value) or b"\0")[0]),
    "bin": strict(lambda session, value: f"{whole(value) & (1 << 64) - 1:b}"),
    "ceil": strict(_ceil),
    "char": _char,
    "char_length": strict(lambda session, value: len(value) if isinstance(value, bytes) else len(text_of(value))),
    "coalesce": lambda session, *values: next((value for value in values if value is not None), None),
    "concat": strict(concat),
    "concat_ws": _concat_ws,
    "connection_id": lambda session: 1,
    "crc32": strict(lambda session, value: zlib.crc32(bytes_of(value))),
    "database": lambda session: session.database or None,
    "date": _date_part(_date),
    "datediff": strict(_datediff),
    "day": _date_part(lambda moment: moments.parts_of(moment.day)[2]),
    "elt": lambda session, n, *values: values[whole(n) - 1] if n is not None and 1 <= whole(n) <= len(values) else None,
    "field": _field,
    "floor": strict(_floor),
    "from_unixtime": strict(_from_unixtime),
    "greatest": _extreme(1),
    "hex": strict(_hex),
    "hour": _date_part(lambda moment: moment.us // 3_600_000_000),
    "if": _if,
    "insert_id": lambda session: session.last_insert_id,
    "isnull": lambda session, value: int(value is None),
    "json_array": lambda session, *values: session.as_document([as_json(value) for value in values]),
    "json_extract": strict(json_extract),
    "json_insert": _json_change("json_insert", insert=True, replace=False),
    "json_object": _json_object,
    "json_quote": strict(lambda session, value: documents.text_of(text_of(value))),
    "json_remove": strict(_json_remove),
    "json_replace": _json_change("json_replace", insert=False, replace=True),
    "json_set": _json_change("json_set", insert=True, replace=True),
    "json_unquote": strict(json_unquote),
    "last_insert_id": lambda session: session.last_insert_id,
    "least": _extreme(-1),
    "left": strict(lambda session, value, n: _like(value, lambda text: text[: max(0, whole(n))])),
    "length": strict(lambda session, value: len(bytes_of(value))),
    "locate": strict(_locate),
    "lower": strict(lambda session, value: value if isinstance(value, bytes) else text_of(value).lower()),
    "md5": _digest("md5"),
    "minute": _date_part(lambda moment: moment.us // 60_000_000 % 60),
    "month": _date_part(lambda moment: moments.parts_of(moment.day)[1]),
    "nullif": lambda session, a, b: None if compare(a, b, session.collation) == 0 else a,
    "ord": strict(lambda session, value: int.from_bytes(text_of(value)[:1].encode(), "big")),
    "point": strict(_point),
    "pow": strict(lambda session, a, b: float(number_of(a)) ** float(number_of(b))),
    "rand": _rand,
    "repeat": strict(_repeat),
    "replace": strict(lambda session, value, a, b: text_of(value).replace(text_of(a), text_of(b))
                      if text_of(a) else text_of(value)),
    "reverse": strict(lambda session, value: _like(value, lambda text: text[::-1])),
    "right": strict(lambda session, value, n: _like(value, lambda text: text[max(0, len(text) - whole(n)) :]
                                                    if whole(n) > 0 else text[:0])),
    "round": strict(_round),
    "second": _date_part(lambda moment: moment.us // 1_000_000 % 60),
    "sha1": _digest("sha1"),
    "sha2": strict(_sha2),
    "sign": strict(lambda session, value: (number_of(value) > 0) - (number_of(value) < 0)),
    "space": strict(lambda session, n: " " * max(0, whole(n))),
    "sqrt": strict(lambda session, value: math.sqrt(number) if (number := float(number_of(value))) >= 0 else None),
    "strcmp": strict(lambda session, a, b: compare(text_of(a), text_of(b), session.collation)),
    "st_geomfromtext": strict(geometry),
    "substring": strict(_substring),
    "time": strict(_time_of),
    "trim": strict(_trim),
    "truncate": strict(lambda session, value, digits: _round(session, value, digits, cut=True)),
    "unhex": strict(_unhex),
    "unix_timestamp": strict(_unix_timestamp),
    "upper": strict(lambda session, value: value if isinstance(value, bytes) else text_of(value).upper()),
    "user": lambda session: session.account,
    "uuid": _uuid,
    "version": lambda session: session.server.id.partition("-")[2],
    "year": _date_part(lambda moment: moments.parts_of(moment.day)[0]),
}  # fmt: skip

# Other names of the same function.
ALIASES: Final = {
    "ceiling": "ceil", "character_length": "char_length", "dayofmonth": "day", "geomfromtext": "st_geomfromtext",
    "st_geometryfromtext": "st_geomfromtext", "st_pointfromtext": "st_geomfromtext",
    "st_linefromtext": "st_geomfromtext", "st_linestringfromtext": "st_geomfromtext",
    "st_polyfromtext": "st_geomfromtext", "st_polygonfromtext": "st_geomfromtext", "ifnull": "coalesce",
    "st_mpointfromtext": "st_geomfromtext", "st_mlinefromtext": "st_geomfromtext",
    "st_mpolyfromtext": "st_geomfromtext",
    "st_geomcollfromtext": "st_geomfromtext", "lcase": "lower", "ucase": "upper", "mid": "substring", "octet_length":
    "length", "power": "pow", "schema": "database", "sha": "sha1", "substr": "substring",
}  # fmt: skip

__all__ = ["ALIASES", "CONTEXT", "FUNCTIONS", "Raw", "concat", "json_extract", "json_unquote", "pad", "whole"]
