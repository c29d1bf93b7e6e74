"""DATE_FORMAT and STR_TO_DATE: dates and times as text by a format, and back."""

from __future__ import annotations

import re
from typing import Any, Final

from simulator.partial_dates import date_parts, is_partial
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.dates import SECOND_US, datetime_of, day_of_year, first_day, week_and_year, weekday
from simulator.sql.values import temporal
from simulator.sql.values.kinds import text_of
from simulator.sql.values.temporal import Temporal

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def day_name(datetime: Temporal) -> str:
    return _DAYS[weekday(datetime)]


def month_name(datetime: Temporal) -> str | None:
    month = date_parts(datetime.day)[1]
    return _MONTHS[month - 1] if month else None


def date_format(session: Any, value: Any, format: Any) -> Any:
    datetime = datetime_of(session, value)
    return None if datetime is None else _formatted(datetime, text_of(format), abs(datetime.us) // 3_600_000_000)


def _formatted(datetime: Temporal, format: str, hours: int) -> str:
    year, month, day = date_parts(datetime.day)
    us = abs(datetime.us)
    minute, second = us // 60_000_000 % 60, us // SECOND_US % 60
    hour12 = (hours % 24 + 11) % 12 + 1
    am_pm = "PM" if hours % 24 >= 12 else "AM"

    def part(letter: str) -> str | None:
        if letter in "aWwUuVvXx" and is_partial(datetime.day):
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
                return f"{hour12:02}"
            case "l":
                return str(hour12)
            case "i":
                return f"{minute:02}"
            case "s" | "S":
                return f"{second:02}"
            case "f":
                return f"{us % SECOND_US:06}"
            case "p":
                return am_pm
            case "r":
                return f"{hour12:02}:{minute:02}:{second:02} {am_pm}"
            case "T":
                return f"{hours:02}:{minute:02}:{second:02}"
            case "a":
                return _DAYS[weekday(datetime)][:3]
            case "W":
                return _DAYS[weekday(datetime)]
            case "w":
                return str((weekday(datetime) + 1) % 7)
            case "j":
                return "000" if is_partial(datetime.day) else f"{day_of_year(datetime):03}"
            case "U" | "u":
                return f"{week_and_year(datetime, 0 if letter == 'U' else 1)[0]:02}"
            case "V" | "v":
                return f"{week_and_year(datetime, 2 if letter == 'V' else 3)[0]:02}"
            case "X" | "x":
                return f"{week_and_year(datetime, 2 if letter == 'X' else 3)[1]:04}"
        return letter

    formatted, position = "", 0
    while position < len(format):
        if format[position] == "%" and position + 1 < len(format):
            part_text = part(format[position + 1])
            if part_text is None:
                return None  # type: ignore[return-value]
            formatted += part_text
            position += 2
        else:
            formatted += format[position]
            position += 1
    return formatted


_PATTERNS: Final = {
    "Y": r"(\d{1,4})", "y": r"(\d{1,2})", "m": r"(\d{1,2})", "c": r"(\d{1,2})", "d": r"(\d{1,2})", "e": r"(\d{1,2})",
    "D": r"(\d{1,2})\w\w", "H": r"(\d{1,2})", "k": r"(\d{1,2})", "h": r"(\d{1,2})", "I": r"(\d{1,2})", 
    "l": r"(\d{1,2})", "i": r"(\d{1,2})", "s": r"(\d{1,2})", "S": r"(\d{1,2})", "f": r"(\d{1,6})",
    "p": r"(AM|PM)", "M": r"([A-Za-z]+)",
    "b": r"([A-Za-z]{3})", "W": r"([A-Za-z]+)", "a": r"([A-Za-z]{3})", "j": r"(\d{1,3})",
}  # fmt: skip


def str_to_date(session: Any, value: Any, format: Any) -> Any:
    """A date, a time, or both, depending on the specifiers of the format."""
    pattern, letters = "", ""
    expanded = text_of(format).replace("%T", "%H:%i:%s").replace("%r", "%h:%i:%s %p")
    position = 0
    while position < len(expanded):
        if expanded[position] == "%" and position + 1 < len(expanded):
            letter = expanded[position + 1]
            if letter in "UuVvXxw":
                raise Unsupported(f"STR_TO_DATE with %{letter}")
            if letter in _PATTERNS:
                pattern += rf"\s*(?>{_PATTERNS[letter]})"
                letters += letter
            else:
                pattern += re.escape(letter)
            position += 2
        elif expanded[position].isspace():
            pattern += r"\s*"
            position += 1
        else:
            pattern += r"\s*" + re.escape(expanded[position])
            position += 1
    text = text_of(value)
    match = re.match(pattern, text, re.IGNORECASE)
    if match is None or text[match.end() :].strip():
        raise Unsupported(f"STR_TO_DATE() of the text {text[:20]!r}")
    result = _assembled(dict(zip(letters, match.groups(), strict=True)), letters)
    if session.statement.refuses_texts and result is None:
        raise SqlError(1411, "datetime", text, "str_to_date")
    return result


def _assembled(parts: dict[str, str], letters: str) -> Any:
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
    hour12 = next((number[letter] for letter in "hIl" if letter in number), None)
    if hour12 is not None:
        if not 1 <= hour12 <= 12:
            return None
        hour = hour12 % 12 + (12 if parts.get("p", "AM").upper() == "PM" else 0)
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
        day_carrier: int | None = first_day(year, 1) + number["j"] - 1
    else:
        day_carrier = temporal.day_of(year, month, day)
    if day_carrier is None or hour > 23:
        return None
    return Temporal("datetime", day_carrier, us, digits) if has_time else Temporal("date", day_carrier)
