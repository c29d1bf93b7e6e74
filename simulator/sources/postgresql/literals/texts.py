"""PostgreSQL's types whose carrier is text: each literal becomes the text that the server prints."""

from __future__ import annotations

import re
import uuid as uuids
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final
from xml.parsers import expat

from simulator.errors import short
from simulator.sources.postgresql.literals.numbers import float_, show_float

# ----------------------------------------------------------------------------------------------------- bits, uuid, xml


def bits(text: str, length: int | None, *, varying: bool) -> str:
    """`101` for `101`, `B'101'` or `X'5'`. Raises ValueError if the length differs (`varying`: if it is longer).

    >>> bits("b'101'", 3, varying=False), bits("x'5f'", None, varying=True)
    ('101', '01011111')
    """
    word = text.strip()
    match = re.fullmatch(r"([bB]|[xX])?'?([0-9A-Fa-f]*)'?", word)
    digits = match[2] if match else ""
    if match and (match[1] or "b").lower() == "x":
        digits = "".join(f"{int(digit, 16):04b}" for digit in digits)
    if not match or not re.fullmatch(r"[01]*", digits):
        raise ValueError(f"{short(text)} is not a bit string such as 101 or x'5f'")
    if length is not None and (len(digits) > length or (not varying and len(digits) != length)):
        name = f"bit varying({length})" if varying else f"bit({length})"
        raise ValueError(f"{short(word)} has {len(digits)} bits and does not fit {name}")
    return digits


def uuid(text: str) -> str:
    """A UUID in lower case with hyphens, from any form that PostgreSQL accepts."""
    word = text.strip()
    match = re.fullmatch(r"\{?((?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4})\}?", word)
    if not match or word.startswith("{") != word.endswith("}"):
        raise ValueError(f"{short(text)} is not a UUID such as a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
    return str(uuids.UUID(match[1].replace("-", "")))


_DECLARATION: Final = re.compile(r"""<\?xml\s+version\s*=\s*["']([^"']+)["']([^?]*)\?>""")


def xml(text: str) -> str:
    """The text as written, but without the encoding of its declaration, and without a declaration that has only version
    1.0. Raises ValueError if it is neither the content of an element nor a document.

    >>> xml('<?xml version="1.0" encoding="utf-8"?><a>x</a>'), xml("text <b/>")
    ('<a>x</a>', 'text <b/>')
    """
    declared = _DECLARATION.match(text)
    body = text[declared.end() :] if declared else text
    parser = expat.ParserCreate()
    try:
        if "<!DOCTYPE" in body:
            parser.Parse(body, True)
        else:
            parser.Parse(f"<r>{body}</r>", True)
    except expat.ExpatError as error:
        raise ValueError(f"{short(text)} is not XML: {expat.ErrorString(error.code)}") from None
    if not declared:
        return text
    alone = re.search(r"""standalone\s*=\s*["'](yes|no)["']""", declared[2])
    if declared[1] == "1.0" and not alone:
        return body
    return f'<?xml version="{declared[1]}"' + (f' standalone="{alone[1]}"' if alone else "") + "?>" + body


# ------------------------------------------------------------------------------------------------------------- network


def _address(address: str) -> str:
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address) and parsed.scope_id is None:
        high, low = divmod(int(parsed), 1 << 32)
        # an embedded IPv4 address is printed as one
        if high == 0xFFFF or (high == 0 and low >= (1 << 16)):
            return f"{'::ffff:' if high else '::'}{ip_address(low)}"
    return str(parsed)


def inet(text: str) -> str:
    """`192.168.1.5/24`, `10.0.0.1`, `::1`: the mask only if it is shorter than the address."""
    address, slash, mask = text.strip().partition("/")
    try:
        text_address = _address(address)
        width = 128 if ":" in text_address else 32
        if slash and not (re.fullmatch(r"\d{1,3}", mask) and int(mask) <= width):
            raise ValueError
    except ValueError:
        raise ValueError(f"{short(text)} is not an address such as 192.168.1.5/24") from None
    return text_address + (f"/{int(mask)}" if slash and int(mask) != width else "")


def cidr(text: str) -> str:
    """`10.0.0.0/8`: always with its mask, and without bits beyond it."""
    address, slash, mask = text.strip().partition("/")
    try:
        if slash and not re.fullmatch(r"\d{1,3}", mask):
            raise ValueError
        if ":" not in address:
            parts = address.split(".")
            mask = mask or str(_class(parts))
            address = ".".join([*parts, *["0"] * (4 - len(parts))])
        network = ip_network(f"{address}/{mask or 128}")
    except ValueError:
        raise ValueError(f"{short(text)} is not a network such as 10.0.0.0/8") from None
    return f"{_address(str(network.network_address))}/{network.prefixlen}"


def _class(parts: list[str]) -> int:
    """The default mask of a network: that of its class, or of the written bytes."""
    first = int(parts[0])
    of_class = 8 if first < 128 else 16 if first < 192 else 24 if first < 224 else 4 if first < 240 else 32
    return max(of_class, 8 * len(parts))


def macaddr(text: str, size: int) -> str:
    """`08:00:2b:01:02:03`: lower case with colons; `size` bytes, with `ff:fe` inserted into an address of 6 bytes if
    `size` is 8.
    """
    word = text.strip().lower()
    digits = re.sub(r"[:.-]", "", word)
    if re.fullmatch(r"[0-9a-f]{12}", digits) and size == 8:
        digits = digits[:6] + "fffe" + digits[6:]
    if not re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", digits):
        example = "08:00:2b:01:02:03" + (":04:05" if size == 8 else "")
        raise ValueError(f"{short(text)} is not an address such as {example}")
    return ":".join(digits[i : i + 2] for i in range(0, 2 * size, 2))


# ------------------------------------------------------------------------------------------------------------ geometry

_COORDINATE: Final = r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?infinity|nan)\s*"
_POINT: Final = re.compile(rf"\(?{_COORDINATE},{_COORDINATE}\)?", re.IGNORECASE)
_LIST: Final = re.compile(rf"\s*\(?{_COORDINATE},{_COORDINATE}\)?\s*(,|$)", re.IGNORECASE)
_CIRCLE: Final = re.compile(rf"\s*[<(]?\s*\(?{_COORDINATE},{_COORDINATE}\)?\s*,{_COORDINATE}[>)]?\s*", re.IGNORECASE)
_LINE: Final = re.compile(rf"\s*\{{{_COORDINATE},{_COORDINATE},{_COORDINATE}\}}\s*", re.IGNORECASE)
_EXAMPLES: Final = {
    "point": "(1,2)",
    "line": "{1,2,3}",
    "lseg": "[(0,0),(1,1)]",
    "box": "(1,1),(0,0)",
    "path": "((0,0),(1,1))",
    "polygon": "((0,0),(1,1),(1,0))",
    "circle": "<(1,2),3>",
}
_Points = list[tuple[float, float]]


def geometry(text: str, kind: str) -> str:
    """A geometric value as PostgreSQL prints it. Raises ValueError.

    >>> geometry("1, 2.50", "point"), geometry("0,0,1,1", "box"), geometry("(0,0),(1,1)", "path")
    ('(1,2.5)', '(1,1),(0,0)', '((0,0),(1,1))')
    """
    try:
        return _GEOMETRIES[kind](text.strip())
    except ValueError:
        raise ValueError(f"{short(text)} is not a {kind} such as {_EXAMPLES[kind]}") from None


def _number(text: str) -> float:
    return float_(text, single=False)


def _point(x: float, y: float) -> str:
    return f"({show_float(x)},{show_float(y)})"


def _points(text: str) -> _Points:
    points: _Points = []
    end = 0
    while match := _LIST.match(text, end):
        points.append((_number(match[1]), _number(match[2])))
        end = match.end()
        if match[3] != ",":
            break
    if not points or end < len(text):
        raise ValueError
    return points


def _inside(text: str) -> str:
    """The text inside the outer brackets of a list of points, if it has brackets."""
    if text[:1] == "[" and text[-1:] == "]":
        return text[1:-1]
    return text[1:-1] if re.match(r"\(\s*\(", text) and re.search(r"\)\s*\)$", text) else text


def _listed(points: _Points) -> str:
    return ",".join(_point(*point) for point in points)


def _parse_point(text: str) -> str:
    match = _POINT.fullmatch(text)
    if not match:
        raise ValueError
    return _point(_number(match[1]), _number(match[2]))


def _parse_line(text: str) -> str:
    match = _LINE.fullmatch(text)
    if not match or not (_number(match[1]) or _number(match[2])):
        raise ValueError
    return "{" + ",".join(show_float(_number(match[i])) for i in (1, 2, 3)) + "}"


def _pair(text: str) -> _Points:
    points = _points(_inside(text))
    if len(points) != 2:
        raise ValueError
    return points


def _parse_box(text: str) -> str:
    (x1, y1), (x2, y2) = _pair(text)
    return _listed([(max(x1, x2), max(y1, y2)), (min(x1, x2), min(y1, y2))])


def _parse_path(text: str) -> str:
    points = _listed(_points(_inside(text)))
    return f"[{points}]" if text.startswith("[") else f"({points})"


def _parse_circle(text: str) -> str:
    match = _CIRCLE.fullmatch(text)
    if not match or _number(match[3]) < 0:
        raise ValueError
    return f"<{_point(_number(match[1]), _number(match[2]))},{show_float(_number(match[3]))}>"


_GEOMETRIES: Final[dict[str, Callable[[str], str]]] = {
    "point": _parse_point,
    "line": _parse_line,
    "lseg": lambda text: f"[{_listed(_pair(text))}]",
    "box": _parse_box,
    "path": _parse_path,
    "polygon": lambda text: f"({_listed(_points(_inside(text)))})",
    "circle": _parse_circle,
}


# ------------------------------------------------------------------------------------------------------------ the rest


def lsn(text: str) -> str:
    """A position in the write-ahead log: `16/B374D848`."""
    match = re.fullmatch(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a place in the log such as 16/B374D848")
    return f"{int(match[1], 16):X}/{int(match[2], 16):X}"


def snapshot(text: str) -> str:
    """Snapshot of visible transactions: `10:20:10,14,15`. Raises ValueError."""
    match = re.fullmatch(r"(\d+):(\d+):((?:\d+(?:,\d+)*)?)", text.strip())
    running = [int(number) for number in match[3].split(",") if number] if match else []
    if not match or not 0 < int(match[1]) <= int(match[2]):
        raise ValueError(f"{short(text)} is not a snapshot such as 10:20:10,14,15")
    if running != sorted(set(running)) or any(not int(match[1]) <= number < int(match[2]) for number in running):
        raise ValueError(f"{short(text)} is not a snapshot such as 10:20:10,14,15")
    return f"{int(match[1])}:{int(match[2])}:{','.join(map(str, running))}"


def ltree(text: str) -> str:
    """A path of labels: `Top.Science.Astronomy`."""
    if not re.fullmatch(r"(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)?", text):
        raise ValueError(f"{short(text)} is not a path such as Top.Science")
    return text


_PAIR: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^\s=,"]+)\s*=>\s*("(?:[^"\\]|\\.)*"|[^\s,"]+)\s*(,|$)', re.DOTALL)


def hstore(text: str) -> str:
    r"""Keys and values: `"a"=>"1", "b"=>NULL`, by length of the key and then its bytes; the first of equal keys is
    kept.

    >>> hstore('bb=>1,a=>NULL,"c d"=>"x\\"y",a=>2')
    '"a"=>NULL, "bb"=>"1", "c d"=>"x\\"y"'
    """
    pairs: dict[str, str | None] = {}
    end = 0
    while match := _PAIR.match(text, end):
        key, value = (_unescaped(match[i]) for i in (1, 2))
        pairs.setdefault(key, None if match[2].upper() == "NULL" else value)
        end = match.end()
        if match[3] != ",":
            break
    if end < len(text.rstrip()):
        raise ValueError(f'{short(text)} is not keys and values such as "a"=>"1", "b"=>NULL')
    order = sorted(pairs, key=lambda key: (len(key.encode()), key.encode()))
    return ", ".join(f"{_escaped(key)}=>{'NULL' if (v := pairs[key]) is None else _escaped(v)}" for key in order)


def _unescaped(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL) if word.startswith('"') else word


def _escaped(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
