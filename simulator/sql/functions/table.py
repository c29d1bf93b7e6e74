"""SQL functions by name. Each takes the session and its arguments; most return NULL if an argument is NULL."""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from simulator.partial_dates import date_parts
from simulator.sql.errors import Unsupported
from simulator.sql.functions import date_formats, dates, geometry, numbers, texts
from simulator.sql.functions.arguments import Function, integer_of, strict
from simulator.sql.functions.json import JSON_FUNCTIONS
from simulator.sql.values.comparison import compare
from simulator.sql.values.kinds import FixedDouble, bytes_of, number_of, text_of, truth_of
from simulator.tables import CsvTable


class Facts(NamedTuple):
    """`result`: the type of its result; `takes`: kinds of its arguments; `stands_for`: the function that it is another
    name of; `lacking`: servers."""

    result: str = ""
    takes: tuple[str, ...] = ()
    stands_for: str = ""
    lacking: tuple[str, ...] = ()


FACTS: Final = CsvTable(__file__, "functions.csv", Facts)


def facts_of(name: str) -> Facts:
    return FACTS.get(name, Facts())


def known_as(name: str) -> str:
    """The name of a function in FUNCTIONS."""
    return facts_of(name).stands_for or name


def _uuid(session: Any) -> str:
    digits = hashlib.md5(f"uuid {session.draw()}".encode(), usedforsecurity=False).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-11f1-{digits[16:20]}-{digits[20:]}"


def _field(session: Any, needle: Any, *values: Any) -> int:
    for i, value in enumerate(values, 1):
        if compare(needle, value, session.connection.collation) == 0:
            return i
    return 0


def _elt(session: Any, n: Any, *values: Any) -> Any:
    return values[integer_of(n) - 1] if n is not None and 1 <= integer_of(n) <= len(values) else None


def _digest(name: str) -> Function:
    return strict(lambda session, value: hashlib.new(name, bytes_of(value), usedforsecurity=False).hexdigest())


def _sha2(session: Any, value: Any, bits: Any) -> Any:
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(integer_of(bits))
    return None if name is None else hashlib.new(name, bytes_of(value)).hexdigest()


def _last_insert_id(session: Any, value: Any = None) -> int:
    """LAST_INSERT_ID(x) returns x, and so does the next LAST_INSERT_ID()."""
    if value is not None:
        session.connection.last_insert_id = integer_of(value) & (1 << 64) - 1
    return int(session.connection.last_insert_id)


def _letters(text: str, change: Callable[[str], str]) -> str:
    """Change the case of each letter; `ß` stays. Raises Unsupported for letters of which servers know less."""
    if text.isascii():
        return change(text)
    return "".join(letter if letter == "ß" else _letter(letter, change(letter)) for letter in text)


def _letter(letter: str, changed: str) -> str:
    if letter != changed and (len(changed) > 1 or not _CASED.fullmatch(letter + changed)):
        raise Unsupported(f"the case of the letter {letter!r}")
    return changed


# Letters whose case all servers change alike: Latin, Greek and Cyrillic.
_CASED: Final = re.compile("[\0-\u0130\u0132-\u017e\u0370-\u045f]*")


def _found_rows(session: Any) -> int:
    if session.connection.found_rows is None:
        raise Unsupported("FOUND_ROWS() of a query that was passed over")
    return int(session.connection.found_rows)


def _row_count(session: Any) -> int:
    if session.connection.row_count is None:
        raise Unsupported("ROW_COUNT() of a statement that changed rows of several tables, or duplicates")
    return int(session.connection.row_count)


FUNCTIONS: Final[Mapping[str, Function]] = {
    **JSON_FUNCTIONS,
    "abs": strict(numbers.absolute),
    "addtime": strict(dates.addtime),
    "any_value": lambda session, value: value,
    "ascii": strict(lambda session, value: (bytes_of(value) or b"\0")[0]),
    "atan": strict(numbers.arctangent),
    "bin": strict(lambda session, value: f"{int(number_of(value)) & (1 << 64) - 1:b}"),
    "bin_to_uuid": strict(texts.bin_to_uuid),
    "bit_count": strict(numbers.bit_count),
    "bit_length": strict(lambda session, value: 8 * len(bytes_of(value))),
    "ceil": strict(numbers.ceil),
    "char_length": strict(lambda session, value: len(value) if isinstance(value, bytes) else len(text_of(value))),
    "coalesce": lambda session, *values: next((value for value in values if value is not None), None),
    "concat": strict(texts.concat),
    "concat_ws": texts.concat_ws,
    "connection_id": lambda session: 1,
    "conv": strict(numbers.converted),
    "convert_tz": strict(dates.convert_tz),
    "cos": numbers.of_double(math.cos, "cos"),
    "crc32": strict(lambda session, value: zlib.crc32(bytes_of(value))),
    "database": lambda session: session.connection.database or None,
    "date": dates.date_part(dates.date),
    "date_format": strict(date_formats.date_format),
    "datediff": strict(dates.datediff),
    "day": dates.date_part(lambda datetime: date_parts(datetime.day)[2]),
    "dayname": dates.date_part(date_formats.day_name, whole_date=True),
    "dayofweek": dates.date_part(lambda datetime: (dates.weekday(datetime) + 1) % 7 + 1, whole_date=True),
    "dayofyear": dates.date_part(dates.day_of_year, whole_date=True),
    "degrees": numbers.of_double(math.degrees, "degrees"),
    "elt": _elt,
    "exp": numbers.of_double(math.exp, "exp"),
    "field": _field,
    "find_in_set": strict(texts.find_in_set),
    "floor": strict(numbers.floor),
    "format": strict(numbers.formatted),
    "found_rows": _found_rows,
    "from_base64": strict(texts.from_base64),
    "from_days": strict(dates.from_days),
    "from_unixtime": strict(dates.from_unixtime),
    "greatest": numbers.extreme(1),
    "hex": strict(texts.to_hex),
    "hour": dates.time_part(lambda us: us // 3_600_000_000),
    "if": lambda session, condition, yes, no: yes if truth_of(condition) else no,
    "inet_aton": strict(numbers.inet_aton),
    "inet_ntoa": strict(numbers.inet_ntoa),
    "insert": strict(texts.insert),
    "instr": strict(lambda session, text, needle: texts.locate(session, needle, text)),
    "interval": numbers.interval,
    "isnull": lambda session, value: int(value is None),
    "last_day": dates.date_part(dates.last_day),
    "last_insert_id": _last_insert_id,
    "least": numbers.extreme(-1),
    "left": strict(lambda session, value, n: texts.on_text_or_bytes(value, lambda text: text[: max(0, integer_of(n))])),
    "length": strict(lambda session, value: len(bytes_of(value))),
    "ln": strict(numbers.logarithm),
    "locate": strict(texts.locate),
    "log": strict(numbers.logarithm),
    "log10": strict(lambda session, value: numbers.logarithm(session, value, of=math.log10)),
    "log2": strict(numbers.log2),
    "lower": strict(lambda session, value: value if isinstance(value, bytes) else _letters(text_of(value), str.lower)),
    "lpad": strict(lambda session, value, length, fill=" ": texts.pad(session, value, length, fill, True)),
    "ltrim": strict(lambda session, value: texts.on_text_or_bytes(value, lambda text: text.lstrip(text[:0] + " "))
                    if isinstance(value, str) else texts.trim(session, value, " ", "LEADING")),
    "makedate": strict(dates.makedate),
    "md5": _digest("md5"),
    "microsecond": dates.time_part(lambda us: us % 1_000_000),
    "minute": dates.time_part(lambda us: us // 60_000_000 % 60),
    "month": dates.date_part(lambda datetime: date_parts(datetime.day)[1]),
    "monthname": dates.date_part(date_formats.month_name),
    "nullif": lambda session, a, b: None if compare(a, b, session.connection.collation) == 0 else a,
    "oct": strict(lambda session, value: numbers.converted(session, value, 10, 8)),
    "period_add": strict(dates.period_add),
    "pi": lambda session: FixedDouble(math.pi, 6),
    "point": strict(geometry.point),
    "pow": strict(numbers.power),
    "quarter": dates.date_part(lambda datetime: (date_parts(datetime.day)[1] + 2) // 3),
    "quote": texts.quote,
    "radians": numbers.of_double(math.radians, "radians"),
    "rand": numbers.random,
    "regexp_like": strict(texts.regexp_like),
    "regexp_replace": strict(texts.regexp_replace),
    "repeat": strict(texts.repeat),
    "replace": strict(texts.replace),
    "reverse": strict(lambda session, value: texts.on_text_or_bytes(value, lambda text: text[::-1])),
    "right": strict(texts.right),
    "round": strict(numbers.rounded),
    "row_count": _row_count,
    "rpad": strict(lambda session, value, length, fill=" ": texts.pad(session, value, length, fill, False)),
    "rtrim": strict(lambda session, value: texts.trim(session, value, " ", "TRAILING")),
    "sec_to_time": strict(dates.sec_to_time),
    "second": dates.time_part(lambda us: us // 1_000_000 % 60),
    "sha1": _digest("sha1"),
    "sha2": strict(_sha2),
    "sign": strict(lambda session, value: (number_of(value) > 0) - (number_of(value) < 0)),
    "sin": numbers.of_double(math.sin, "sin"),
    "space": strict(lambda session, n: texts.repeat(session, " ", n)),
    "sqrt": numbers.of_double(math.sqrt, "sqrt"),
    "str_to_date": strict(date_formats.str_to_date),
    "strcmp": strict(lambda session, a, b: compare(text_of(a), text_of(b), session.connection.collation)),
    "st_geomfromtext": strict(geometry.from_text),
    "substring": strict(texts.substring),
    "substring_index": strict(texts.substring_index),
    "tan": numbers.of_double(math.tan, "tan"),
    "time": strict(dates.time_of),
    "time_to_sec": strict(dates.time_to_sec),
    "timediff": strict(dates.timediff),
    "to_base64": strict(texts.to_base64),
    "to_days": dates.date_part(dates.to_days, whole_date=True),
    "trim": strict(texts.trim),
    "truncate": strict(lambda session, value, digits: numbers.rounded(session, value, digits, cut=True)),
    "unhex": strict(texts.unhex),
    "unix_timestamp": strict(dates.unix_timestamp),
    "upper": strict(lambda session, value: value if isinstance(value, bytes) else _letters(text_of(value), str.upper)),
    "user": lambda session: session.connection.account,
    "uuid": _uuid,
    "uuid_short": lambda session: (1 << 56) + session.draw(),
    "uuid_to_bin": strict(texts.uuid_to_bin),
    "version": lambda session: session.variable("version"),
    "week": strict(dates.week),
    "weekday": dates.date_part(dates.weekday, whole_date=True),
    "weekofyear": strict(lambda session, value: dates.week(session, value, 3)),
    "year": dates.date_part(lambda datetime: date_parts(datetime.day)[0]),
    "yearweek": strict(dates.yearweek),
}  # fmt: skip
