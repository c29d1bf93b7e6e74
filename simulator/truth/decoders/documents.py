"""MongoDB's documents in messages: as the mongo shell prints them, and as extended JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from simulator.model import ColumnType
from simulator.truth.decoders.json_text import Number
from simulator.truth.decoders.values import Carried, in_base64

# Tokens of the mongo shell: a string, or a word, a call or a pattern outside strings.
_SHELL: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?P<call>(?:new )?[A-Z]\w+)\((?P<inside>[^)]*)\)|(?P<word>MinKey|MaxKey|undefined)'
    r"|/(?P<pattern>(?:[^/]|(?<=\\)/)+)/(?P<options>[a-z]*)"
)


def extended_json(text: str) -> Any:
    """Converts a document from the mongo shell's syntax to extended JSON; numbers keep their spelling."""

    def replaced(match: re.Match[str]) -> str:
        inside = f"[{match['inside']}]"
        match match["call"] or match["word"]:
            case None:
                if match["pattern"] is None:
                    return match[0]
                pattern = match["pattern"].replace("\\/", "/").removeprefix("(?:)")
                value: Any = {"$regularExpression": {"pattern": pattern, "options": match["options"]}}
            case "NumberLong" | "NumberDecimal" as name:
                value = {f"${name[0].lower()}{name[1:]}": str(json.loads(inside)[0])}
            case "ObjectId":
                value = {"$oid": json.loads(inside)[0]}
            case "ISODate":
                value = {"$date": json.loads(inside)[0]}
            case "new Date":
                value = {"$date": {"$numberLong": match["inside"]}}
            case "Timestamp":
                value = {"$timestamp": dict(zip("ti", json.loads(inside), strict=True))}
            case "new BinData":
                kind, data = json.loads(inside)
                value = {"$binary": {"base64": data, "subType": f"{kind:02x}"}}
            case "undefined":
                value = {"$undefined": True}
            case str(word):
                value = {f"${word[0].lower()}{word[1:]}": 1}
        return json.dumps(value)

    return json.loads(_SHELL.sub(replaced, text), parse_int=Number, parse_float=Number, parse_constant=Number)


def strict_json(text: str) -> Any:
    """Reads a document in the first version of extended JSON (strict mode) as one in the second; numbers keep their
    spelling."""
    tree = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)
    return _second(tree)


def _second(value: Any) -> Any:
    match value:
        case {"$date": Number() as ms}:
            return {"$date": {"$numberLong": str(ms)}}
        case {"$binary": str(data), "$type": kind}:
            return {"$binary": {"base64": data, "subType": kind}}
        case {"$regex": pattern, "$options": options}:
            return {"$regularExpression": {"pattern": pattern, "options": options}}
        case dict():
            return {name: _second(inner) for name, inner in value.items()}
        case list():
            return [_second(inner) for inner in value]
    return value


def bson(value: Any, type: ColumnType) -> Any:
    """A value of extended JSON; numbers keep their spelling."""
    match value:
        case {"$binary": {"base64": text}}:
            return in_base64(text, type)
        case {"$date": {"$numberLong": text}} | {"$date": text} | {"$oid": text}:
            return text
        case {"$numberLong": text} | {"$numberDecimal": text} | {"$numberDouble": text} if len(value) == 1:
            return text
        case {"$timestamp": {"t": seconds, "i": number}}:
            return f"{int(seconds) & 0xFFFFFFFF}:{int(number) & 0xFFFFFFFF}"
        case bool():
            return str(value).lower()
        case str() if type.name not in ("object", "array"):
            return value
    return Carried(written(value))


# Parts of documents that `relaxed` leaves out.
RELAXED: Final = "which number is a long or a double, what is a pointer"


def relaxed(text: str, type: ColumnType) -> str:
    """A document without the details that products' texts leave out (which number is a long, which value is a pointer);
    dates are numbers."""

    def plain(value: Any) -> Any:
        match value:
            case {"$numberLong": number}:
                return Number(number)
            case {"$numberDouble": number}:
                return Number(number)
            case {"$date": str(text)}:
                return {"$date": Number(any_year(text.replace("T", " ").removesuffix("Z"), ColumnType("date")) // 1000)}
            case {"$dbPointer": pointer}:
                return plain(pointer)
            case dict():
                return {name: plain(part) for name, part in value.items()}
            case list():
                return [plain(part) for part in value]
        return value

    return written(plain(json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)))


def any_year(value: str, type: ColumnType) -> int:
    """Parses a date and time in UTC, also before Christ and after the year 9999, to microseconds since 1970."""
    match = re.fullmatch(r"(\d+)(-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)( BC)?", value)
    if match is None:
        raise ValueError(f"{value!r} is no date and time")
    year = 1 - int(match[1]) if match[3] else int(match[1])
    moment = datetime.fromisoformat(f"{2000 + year % 400}{match[2]}Z") - datetime(1970, 1, 1, tzinfo=UTC)
    return moment // timedelta(microseconds=1) + (year - 2000 - year % 400) // 400 * 146_097 * 86_400_000_000


def written(value: Any) -> str:
    """Extended JSON as text."""
    match value:
        case Number():
            return value
        case dict():
            members = (f"{json.dumps(name, ensure_ascii=False)}: {written(part)}" for name, part in value.items())
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
