"""SQL functions by name, on values. Each takes the session and its arguments; most give NULL for a NULL."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any, Final

from simulator.sources.mysql import geometry as mysql_geometry
from simulator.sql.errors import SqlError
from simulator.sql.functions.arguments import Function, strict, whole
from simulator.sql.functions.json import (
    as_json,
    json_extract,
    json_unquote,
    sql_json_change,
    sql_json_object,
    sql_json_remove,
)
from simulator.sql.functions.texts import (
    concat,
    sql_char,
    sql_concat_ws,
    sql_hex,
    sql_like,
    sql_locate,
    sql_repeat,
    sql_substring,
    sql_trim,
    sql_unhex,
)
from simulator.sql.values import documents, temporal
from simulator.sql.values.comparison import compare
from simulator.sql.values.documents import MISSING
from simulator.sql.values.kinds import CONTEXT, Shape, bytes_of, number_of, text_of, truth_of
from simulator.sql.values.temporal import Temporal

# Of a double.
MAX_EXPONENT: Final = 308


def _round(session: Any, value: Any, digits: Any = 0, *, cut: bool = False) -> Any:
    places, number = whole(digits), number_of(value)
    if isinstance(number, float):
        if not -MAX_EXPONENT <= places <= MAX_EXPONENT:
            return number if places > 0 else 0.0
        scaled = number * 10.0**places
        if math.isinf(scaled):
            return number
        return (math.trunc(scaled) if cut else float(round(scaled))) / 10.0**places
    exact = Decimal(number)
    scale = -int(exact.as_tuple().exponent) if isinstance(exact.as_tuple().exponent, int) else 0
    places = min(places, scale) if isinstance(number, Decimal) else min(places, 0)
    mode = ROUND_DOWN if cut else ROUND_HALF_UP
    made = exact.quantize(Decimal(1).scaleb(-places), rounding=mode, context=CONTEXT)
    return int(made) if isinstance(number, int) else made if places > 0 else Decimal(int(made))


def _pow(session: Any, base: Any, exponent: Any) -> float:
    a, b = float(number_of(base)), float(number_of(exponent))
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        raise SqlError(1690, "DOUBLE", f"pow({text_of(a)},{text_of(b)})") from None


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


def _moment(value: Any) -> Temporal | None:
    if isinstance(value, Temporal):
        return value
    if isinstance(value, int):
        return temporal.number_datetime(value)
    parsed = temporal.parse_datetime(text_of(value))
    return parsed[0] if parsed else None


def _date_part(part: Callable[[Temporal], Any]) -> Function:
    def read(session: Any, value: Any) -> Any:
        found = _moment(value)
        return None if found is None else part(found)

    return strict(read)


def _date(moment: Temporal) -> Temporal:
    return Temporal("date", moment.day)


def _time_of(session: Any, value: Any) -> Any:
    if isinstance(value, Temporal):
        return Temporal("time", 0, value.us, value.digits)
    parsed = temporal.parse_time(text_of(value))
    return None if parsed is None else Temporal("time", 0, parsed[0], parsed[1])


def _unix_timestamp(session: Any, value: Any = MISSING) -> Any:
    if value is MISSING:
        return session.now_us // 1_000_000
    found = _moment(value)
    if found is None or temporal.is_partial(found.day):
        return 0
    return session.zone.to_utc(temporal.us_of(found)) // 1_000_000


def _from_unixtime(session: Any, value: Any) -> Any:
    number = number_of(value)
    return temporal.of_us(session.zone.to_local(int(number * 1_000_000)), 6 if isinstance(number, Decimal) else 0)


def _datediff(session: Any, a: Any, b: Any) -> Any:
    left, right = _moment(a), _moment(b)
    return None if left is None or right is None else left.day - right.day


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
    "char": sql_char,
    "char_length": strict(lambda session, value: len(value) if isinstance(value, bytes) else len(text_of(value))),
    "coalesce": lambda session, *values: next((value for value in values if value is not None), None),
    "concat": strict(concat),
    "concat_ws": sql_concat_ws,
    "connection_id": lambda session: 1,
    "crc32": strict(lambda session, value: zlib.crc32(bytes_of(value))),
    "database": lambda session: session.database or None,
    "date": _date_part(_date),
    "datediff": strict(_datediff),
    "day": _date_part(lambda moment: temporal.parts_of(moment.day)[2]),
    "elt": lambda session, n, *values: values[whole(n) - 1] if n is not None and 1 <= whole(n) <= len(values) else None,
    "field": _field,
    "floor": strict(_floor),
    "from_unixtime": strict(_from_unixtime),
    "greatest": _extreme(1),
    "hex": strict(sql_hex),
    "hour": _date_part(lambda moment: moment.us // 3_600_000_000),
    "if": _if,
    "insert_id": lambda session: session.last_insert_id,
    "isnull": lambda session, value: int(value is None),
    "json_array": lambda session, *values: session.as_document([as_json(value) for value in values]),
    "json_extract": strict(json_extract),
    "json_insert": sql_json_change("json_insert", insert=True, replace=False),
    "json_object": sql_json_object,
    "json_quote": strict(lambda session, value: documents.text_of(text_of(value))),
    "json_remove": strict(sql_json_remove),
    "json_replace": sql_json_change("json_replace", insert=False, replace=True),
    "json_set": sql_json_change("json_set", insert=True, replace=True),
    "json_unquote": strict(json_unquote),
    "last_insert_id": lambda session: session.last_insert_id,
    "least": _extreme(-1),
    "left": strict(lambda session, value, n: sql_like(value, lambda text: text[: max(0, whole(n))])),
    "length": strict(lambda session, value: len(bytes_of(value))),
    "locate": strict(sql_locate),
    "lower": strict(lambda session, value: value if isinstance(value, bytes) else text_of(value).lower()),
    "md5": _digest("md5"),
    "minute": _date_part(lambda moment: moment.us // 60_000_000 % 60),
    "month": _date_part(lambda moment: temporal.parts_of(moment.day)[1]),
    "nullif": lambda session, a, b: None if compare(a, b, session.collation) == 0 else a,
    "ord": strict(lambda session, value: int.from_bytes(text_of(value)[:1].encode(), "big")),
    "point": strict(_point),
    "pow": strict(_pow),
    "rand": _rand,
    "repeat": strict(sql_repeat),
    "replace": strict(lambda session, value, a, b: text_of(value).replace(text_of(a), text_of(b))
                      if text_of(a) else text_of(value)),
    "reverse": strict(lambda session, value: sql_like(value, lambda text: text[::-1])),
    "right": strict(lambda session, value, n: sql_like(value, lambda text: text[max(0, len(text) - whole(n)) :]
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
    "substring": strict(sql_substring),
    "time": strict(_time_of),
    "trim": strict(sql_trim),
    "truncate": strict(lambda session, value, digits: _round(session, value, digits, cut=True)),
    "unhex": strict(sql_unhex),
    "unix_timestamp": strict(_unix_timestamp),
    "upper": strict(lambda session, value: value if isinstance(value, bytes) else text_of(value).upper()),
    "user": lambda session: session.account,
    "uuid": _uuid,
    "version": lambda session: session.server.id.partition("-")[2],
    "year": _date_part(lambda moment: temporal.parts_of(moment.day)[0]),
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
