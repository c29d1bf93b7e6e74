"""Changes as messages tell of them: where each family of formats has the operation, the table, the key and the images.

Values stay as the message holds them (`decoded_values.py` reads them), numbers as they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from decoding import Number, decode

from simulator.model import DELETE, INSERT, READ, UPDATE, Kind

Image: TypeAlias = "Mapping[str, Any] | None"
UNSET: Final = object()  # in place of the value of a field that an update takes away


@dataclass(frozen=True)
class Change:
    """A change of a row. What a format does not tell is None."""

    op: Kind
    table: str
    before: Image
    after: Image
    key: frozenset[str] | None = None
    event_s: int | None = None


OPS: Final[Mapping[str, Kind]] = {
    **{"INSERT": INSERT, "ins": INSERT, "c": INSERT, "i": INSERT},
    **{"UPDATE": UPDATE, "upd": UPDATE, "u": UPDATE},
    **{"DELETE": DELETE, "del": DELETE, "d": DELETE},
    **{"INIT": READ, "ROW": READ, "r": READ},
}


def canal(message: Any) -> Iterator[Change]:
    """`data` and `old`, one object for each row; `old` of an update may have the changed columns only."""
    op = OPS[message["type"]]
    told = (message["table"], frozenset(message["pkNames"] or ()), int(message["es"]) // 1000)
    data, old = message["data"], message.get("old")
    for place, row in enumerate(data or old):
        if op is UPDATE:
            yield change(op, old[place], row, *told)
        else:
            yield change(op, row if op is DELETE else None, None if op is DELETE else row, *told)


def change(op: Kind, before: Image, after: Image, table: str, key: frozenset[str] | None, event_s: int) -> Change:
    return Change(op, table, before, after, key, event_s)


def drs(message: Any) -> Iterator[Change]:
    """As Canal, but a delete's row is in `old`; MongoDB's messages have a document, or what an update sets."""
    if "coll" not in message:
        yield from canal(message)
        return
    op, value = OPS[message["op"]], extended_json(message["value"])
    before = after = None
    if op is UPDATE:
        before = extended_json(message["where"])
        replaced = not {"$set", "$unset"} & set(value)
        after = value if replaced else value.get("$set", {}) | dict.fromkeys(value.get("$unset", {}), UNSET)
    elif op is DELETE:
        before = value
    else:
        after = value
    yield Change(op, message["coll"], before, after, event_s=int(message["es"]) // 1000)


# Of the mongo shell: a string, or a word, a call or a pattern outside strings.
_SHELL: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?P<call>(?:new )?[A-Z]\w+)\((?P<inside>[^)]*)\)|(?P<word>MinKey|MaxKey|undefined)'
    r"|/(?P<pattern>(?:[^/]|(?<=\\)/)+)/(?P<options>[a-z]*)"
)


def extended_json(text: str) -> Any:
    """A document as the mongo shell prints it, as extended JSON, numbers as they are written."""

    def replaced(found: re.Match[str]) -> str:
        inside = f"[{found['inside']}]"
        match found["call"] or found["word"]:
            case None:
                if found["pattern"] is None:
                    return found[0]
                pattern = found["pattern"].replace("\\/", "/").removeprefix("(?:)")
                made: Any = {"$regularExpression": {"pattern": pattern, "options": found["options"]}}
            case "NumberLong" | "NumberDecimal" as name:
                made = {f"${name[0].lower()}{name[1:]}": str(json.loads(inside)[0])}
            case "ObjectId":
                made = {"$oid": json.loads(inside)[0]}
            case "ISODate":
                made = {"$date": json.loads(inside)[0]}
            case "new Date":
                made = {"$date": {"$numberLong": found["inside"]}}
            case "Timestamp":
                made = {"$timestamp": dict(zip("ti", json.loads(inside), strict=True))}
            case "new BinData":
                kind, data = json.loads(inside)
                made = {"$binary": {"base64": data, "subType": f"{kind:02x}"}}
            case "undefined":
                made = {"$undefined": True}
            case word:
                made = {f"${word[0].lower()}{word[1:]}": 1}
        return json.dumps(made)

    return json.loads(_SHELL.sub(replaced, text), parse_int=Number, parse_float=Number, parse_constant=Number)


def cloudcanal(message: Any) -> Iterator[Change]:
    """`data` and `before`; a delete's row is in `data`."""
    op, told = OPS[message["action"]], (message["table"],)
    more = (frozenset(message["pks"]), int(message["execTs"]) // 1000)
    for place, row in enumerate(message["data"]):
        if op is DELETE:
            yield Change(op, *told, row, None, *more)
        else:
            yield Change(op, *told, message["before"][place] if op is UPDATE else None, row, *more)


def debezium(message: Any) -> Iterator[Change]:
    payload = message.get("payload", message)
    before, after, source = payload["before"], payload["after"], payload["source"]
    yield Change(OPS[payload["op"]], source["table"], before or None, after or None)


def record(message: Any) -> Iterator[Change]:
    """DTS's record: images are lists that stand in the order of `fields`; MongoDB's have a document and its id."""
    names = [field["name"] for field in message["fields"]]

    def image(values: Any) -> Image:
        if not isinstance(values, list):
            return None
        row = dict(zip(names, values, strict=True))
        if names[0] != "_value":
            return {name: value for name, value in row.items() if value not in ("NONE", "EMPTY")}
        document = row["_value"] if row["_value"] != "NONE" else None
        return {"_id": extended_json(row["_id"][1]["value"])} | (
            extended_json(document[1]["value"]) if document else {}
        )

    yield Change(
        OPS[message["operation"]],
        message["objectName"].rpartition(".")[2],
        image(message["beforeImages"]),
        image(message["afterImages"]),
        frozenset(json.loads(message["tags"].get("pk_uk_info", "{}")).get("PRIMARY", ())),
        message["sourceTimestamp"],
    )


def drs_record(message: Any) -> Iterator[Change]:
    names = [field["name"] for field in message["fields"]]
    before, after = (
        None if values is None else dict(zip(names, values, strict=True))
        for values in (message["beforeImages"], message["afterImages"])
    )
    table = message["tableName"].strip('"').split('"."')[-1]
    yield Change(OPS[message["operation"]], table, before, after, event_s=message["updateTimestamp"] // 1000)


def shareplex(message: Any) -> Iterator[Change]:
    """`key` is the row before, `data` what it became; a delete's row is in `data`."""
    meta, op = message["meta"], OPS[message["meta"]["op"]]
    before = message.get("key") if op is UPDATE else message["data"] if op is DELETE else None
    yield Change(op, meta["table"].rpartition(".")[2], before, None if op is DELETE else message["data"])


def oms(message: Any) -> Iterator[Change]:
    meta = message["allMetaData"]
    yield Change(
        OPS[message["recordType"]],
        meta["table_name"],
        without_types(message["prevStruct"]),
        without_types(message["postStruct"]),
        frozenset((meta["record_primary_key"] or "").split("\x01")) - {""},
    )


def without_types(image: Image) -> Image:
    return None if image is None else {name: value for name, value in image.items() if name != "__light_type"}


def dataworks(message: Any) -> Iterator[Change]:
    payload, schema = message["payload"], message["schema"]
    yield Change(
        OPS[payload["op"]],
        schema["source"]["table"],
        (payload["before"] or {}).get("data"),
        (payload["after"] or {}).get("data"),
        frozenset(schema["pk"]),
        int(payload["timestamp"]["eventTime"]) // 1000,
    )


@dataclass(frozen=True)
class Family:
    """How messages about rows are read, and where a statement's text is."""

    changes: Callable[[Any], Iterator[Change]]
    sql: Callable[[Any], str]


_CANAL: Final = Family(canal, lambda message: message["sql"])
_DRS: Final = Family(drs, lambda message: message["value"] if "coll" in message else message["sql"])
_RECORD: Final = Family(record, lambda message: message["afterImages"])
_OMS: Final = Family(oms, lambda message: message["postStruct"]["ddl"])
_SHAREPLEX: Final = Family(shareplex, lambda message: message["data"]["sql"])

FAMILIES: Final[Mapping[str, Family]] = {
    "canal-json": _CANAL,
    "cloudcanal-canal-json": _CANAL,
    "cloudcanal-debezium": Family(debezium, lambda message: message["ddl"]),
    "cloudcanal-dts-avro": _RECORD,
    "cloudcanal-json": Family(cloudcanal, lambda message: message["sql"]),
    "drs-avro": Family(drs_record, lambda message: message["afterImages"][0][1]["value"].decode()),
    "drs-json": _DRS,
    "drs-json-c": _DRS,
    "dts-avro": _RECORD,
    "dts-canal-json": _CANAL,
    "dts-shareplex-json": _SHAREPLEX,
    "oms-canal-json": _CANAL,
    "oms-dataworks": Family(dataworks, lambda message: message["payload"]["ddl"]["text"]),
    "oms-default": _OMS,
    "oms-default-extend-column-type": _OMS,
    "oms-shareplex": _SHAREPLEX,
}


def changes(format: str, value: bytes) -> list[Change]:
    """The changes that a message about rows tells of."""
    return list(FAMILIES[format.partition(",")[0]].changes(decode(format, value)))


def statement(format: str, value: bytes) -> str:
    """The text of a message about a DDL statement."""
    return FAMILIES[format.partition(",")[0]].sql(decode(format, value))


# --------------------------------------------------------------------------------------------- what images leave away

# How much of a row an image has, where that is not all of it.
CHANGED, KEY = "the changed columns", "the key"
IMAGES: Final[Mapping[str, Mapping[tuple[Kind, str], str]]] = {
    "canal-json": {(UPDATE, "before"): CHANGED},
    "oms-canal-json": {(UPDATE, "before"): CHANGED},
    "dts-shareplex-json": {(UPDATE, "after"): CHANGED},
    "oms-shareplex": {(UPDATE, "after"): CHANGED},
    "dts-avro of mongodb": {(UPDATE, "before"): KEY, (DELETE, "before"): KEY},
    "drs-json of mongodb": {(UPDATE, "before"): KEY, (UPDATE, "after"): CHANGED, (DELETE, "before"): KEY},
}


def image_of(format: str, source: str, op: Kind, side: str) -> str | None:
    """How much of a row the image before or after has, for the id of a source; None: all."""
    format = format.partition(",")[0]
    return (IMAGES.get(f"{format} of {source}") or IMAGES.get(format, {})).get((op, side))
