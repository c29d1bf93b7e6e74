"""DATE_FORMAT, TIME_FORMAT and STR_TO_DATE: dates and times as text by a format, and back."""

from __future__ import annotations

import re
from typing import Any, Final

from simulator.carriers import PARTIAL_DAYS
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.dates import SECOND_US, day_of_year, first_day, moment_of, time_us, week_and_year, weekday
from simulator.sql.values import temporal
from simulator.sql.values.kinds import text_of
from simulator.sql.values.temporal import Temporal, parts_of

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def day_name(moment: Temporal) -> str:
    return _DAYS[weekday(moment)]


def month_name(moment: Temporal) -> str | None:
    month = parts_of(moment.day)[1]
    return _MONTHS[month - 1] if month else None


def date_format(session: Any, value: Any, format: Any) -> Any:
    found = moment_of(session, value)
    return None if found is None else _formatted(found, text_of(format), abs(found.us) // 3_600_000_000)


def time_format(session: Any, value: Any, format: Any) -> Any:
    us = time_us(value)
    if us is None:
        return None
    text = _formatted(Temporal("datetime", PARTIAL_DAYS, abs(us)), text_of(format), abs(us) // 3_600_000_000)
    return ("-" if us < 0 else "") + text


def _formatted(moment: Temporal, format: str, hours: int) -> str:
    year, month, day = parts_of(moment.day)
    us = abs(moment.us)
    minute, second = us // 60_000_000 % 60, us // SECOND_US % 60
    twelve = (hours % 24 + 11) % 12 + 1
    half = "PM" if hours % 24 >= 12 else "AM"

    def part(letter: str) -> str | None:
        if letter in "aWwUuVvXxj" and temporal.is_partial(moment.day) and letter not in "j":
            return None
        match letter:
            case "Y":
                return f"{year:04}"
            case "y":
                return f"{year % 100:02}"
            case "m":
                return f"{month:02}"
            case "c":
                return str(month)
            case "M":
                return _MONTHS[month - 1] if month else None
            case "b":
                return _MONTHS[month - 1][:3] if month else None
            case "d":
                return f"{day:02}"
            case "e":
                return str(day)
            case "D":
                ending = "th" if 10 <= day % 100 <= 19 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
                return f"{day}{ending}"
            case "H":
                return f"{hours:02}"
            case "k":
                return str(hours)
            case "h" | "I":
                return f"{twelve:02}"
            case "l":
                return str(twelve)
            case "i":
                return f"{minute:02}"
            case "s" | "S":
                return f"{second:02}"
            case "f":
                return f"{us % SECOND_US:06}"
            case "p":
                return half
            case "r":
                return f"{twelve:02}:{minute:02}:{second:02} {half}"
            case "T":
                return f"{hours:02}:{minute:02}:{second:02}"
            case "a":
                return _DAYS[weekday(moment)][:3]
            case "W":
                return _DAYS[weekday(moment)]
            case "w":
                return str((weekday(moment) + 1) % 7)
            case "j":
                return "000" if temporal.is_partial(moment.day) else f"{day_of_year(moment):03}"
            case "U" | "u":
                return f"{week_and_year(moment, 0 if letter == 'U' else 1)[0]:02}"
            case "V" | "v":
                return f"{week_and_year(moment, 2 if letter == 'V' else 3)[0]:02}"
            case "X" | "x":
                return f"{week_and_year(moment, 2 if letter == 'X' else 3)[1]:04}"
        return letter

    out, at = "", 0
    while at < len(format):
        if format[at] == "%" and at + 1 < len(format):
            made = part(format[at + 1])
            if made is None:
                return None  # type: ignore[return-value]
            out += made
            at += 2
        else:
            out += format[at]
            at += 1
    return out


_PATTERNS: Final = {
    "Y": r"(\d{1,4})", "y": r"(\d{1,2})", "m": r"(\d{1,2})", "c": r"(\d{1,2})", "d": r"(\d{1,2})", "e": r"(\d{1,2})",
    "D": r"(\d{1,2})\w\w", "H": r"(\d{1,2})", "k": r"(\d{1,2})", "h": r"(\d{1,2})", "I": r"(\d{1,2})", 
    "l": r"(\d{1,2})", "i": r"(\d{1,2})", "s": r"(\d{1,2})", "S": r"(\d{1,2})", "f": r"(\d{1,6})",
    "p": r"(AM|PM)", "M": r"([A-Za-z]+)",
    "b": r"([A-Za-z]{3})", "W": r"([A-Za-z]+)", "a": r"([A-Za-z]{3})", "j": r"(\d{1,3})",
}  # fmt: skip


def str_to_date(session: Any, value: Any, format: Any) -> Any:
    """A date, a time, or both, as the format has specifiers of them."""
    pattern, letters = "", ""
    wanted = text_of(format).replace("%T", "%H:%i:%s").replace("%r", "%h:%i:%s %p")
    at = 0
    while at < len(wanted):
        if wanted[at] == "%" and at + 1 < len(wanted):
            letter = wanted[at + 1]
            if letter in "UuVvXxw":
                raise Unsupported(f"STR_TO_DATE with %{letter}")
            if letter in _PATTERNS:
                pattern += r"\s*" + _PATTERNS[letter]
                letters += letter
            else:
                pattern += re.escape(letter)
            at += 2
        elif wanted[at].isspace():
            pattern += r"\s*"
            at += 1
        else:
            pattern += r"\s*" + re.escape(wanted[at])
            at += 1
    text = text_of(value)
    match = re.match(pattern, text, re.IGNORECASE)
    found = None if match is None else _assembled(dict(zip(letters, match.groups(), strict=True)), letters, wanted)
    if session.refuses_texts and found is None:
        raise SqlError(1411, "datetime", text, "str_to_date")
    if session.refuses_texts and match is not None and found is not None and text[match.end() :].strip():
        raise SqlError(12920, "time" if found.kind == "time" else "datetime", text)
    return found


def _assembled(parts: dict[str, str], letters: str, format: str) -> Any:
    number = {letter: int(text) for letter, text in parts.items() if text.isdecimal()}
    year = number.get("Y", 0)
    if "y" in number or ("Y" in number and len(parts["Y"]) <= 2):
        short = number.get("y", year)
        year = short + (2000 if short < 70 else 1900)
    month = number.get("m", number.get("c", 0))
    for letter in "Mb":
        if letter in parts:
            names = [name[: len(parts[letter])].lower() for name in _MONTHS]
            if parts[letter].lower() not in names:
                return None
            month = names.index(parts[letter].lower()) + 1
    day = number.get("d", number.get("e", number.get("D", 0)))
    hour = number.get("H", number.get("k", 0))
    twelve = next((number[letter] for letter in "hIl" if letter in number), None)
    if twelve is not None:
        if not 1 <= twelve <= 12:
            return None
        hour = twelve % 12 + (12 if parts.get("p", "AM").upper() == "PM" else 0)
    minute, second = number.get("i", 0), number.get("s", number.get("S", 0))
    fraction = int(parts["f"].ljust(6, "0")) if "f" in parts else 0
    has_date, has_time = any(c in "YymcMbdeDj" for c in letters), any(c in "HkhIlisSfp" for c in letters)
    if minute > 59 or second > 59:
        return None
    us = ((hour * 60 + minute) * 60 + second) * SECOND_US + fraction
    digits = 6 if "f" in letters else 0
    if not has_date:
        return Temporal("time", 0, us, digits)
    if "j" in number and year:
        found: int | None = first_day(year, 1) + number["j"] - 1
    else:
        found = temporal.day_of(year, month, day)
    if found is None or hour > 23:
        return None
    return Temporal("datetime", found, us, digits) if has_time else Temporal("date", found)
