"""Table of formats, sorted, one line each; a format is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from simulator import registry
from simulator.errors import NotOffered

if TYPE_CHECKING:
    from simulator.formats.format import Broker, Codec, Format
    from simulator.sources.source import Source

FORMATS: Final = {
    "canal-json": "simulator.formats.canal.json:FORMAT",
    "cloudcanal-canal-json": "simulator.formats.cloudcanal.canal_json:FORMAT",
    "cloudcanal-debezium": "simulator.formats.cloudcanal.debezium:FORMAT",
    "cloudcanal-dts-avro": "simulator.formats.cloudcanal.dts_avro:FORMAT",
    "cloudcanal-json": "simulator.formats.cloudcanal.json:FORMAT",
    "debezium-avro": "simulator.formats.debezium.avro:FORMAT",
    "debezium-json": "simulator.formats.debezium.json:FORMAT",
    "drs-avro": "simulator.formats.drs.avro:FORMAT",
    "drs-json": "simulator.formats.drs.json:FORMAT",
    "drs-json-c": "simulator.formats.drs.json_c:FORMAT",
    "dts-avro": "simulator.formats.dts.avro:FORMAT",
    "dts-canal-json": "simulator.formats.dts.canal_json:FORMAT",
    "dts-shareplex-json": "simulator.formats.dts.shareplex_json:FORMAT",
    "maxwell-json": "simulator.formats.maxwell.json:FORMAT",
    "oms-canal-json": "simulator.formats.oms.canal_json:FORMAT",
    "oms-dataworks": "simulator.formats.oms.dataworks:FORMAT",
    "oms-default": "simulator.formats.oms.default:FORMAT",
    "oms-default-extend-column-type": "simulator.formats.oms.default_extend_column_type:FORMAT",
    "oms-shareplex": "simulator.formats.oms.shareplex:FORMAT",
}
# The vendors' names: constants of their APIs, and names of OMS's serialization methods; matched in any letter case.
VENDORS: Final = {
    "aliyun_dts_avro_for_mq": "cloudcanal-dts-avro",
    "canal_json_for_mq": "cloudcanal-canal-json",
    "cloudcanal_json_for_mq": "cloudcanal-json",
    "dataworks_v2": "oms-dataworks",
    "debezium_envelop_json_for_mq": "cloudcanal-debezium",
    "default_with_schema": "oms-default-extend-column-type",
    "drs-json_c": "drs-json-c",
    "oms-canal": "oms-canal-json",
    "oms-dataworks_v2": "oms-dataworks",
    "oms-default_with_schema": "oms-default-extend-column-type",
    "oms-defaultextendcolumntype": "oms-default-extend-column-type",
    "shareplex": "oms-shareplex",
}


def find(name: str) -> Format:
    """A format by its id or by its vendor's name. Raises UnknownName."""
    lowered = name.lower()
    id = VENDORS.get(lowered, lowered if lowered in FORMATS else name)
    format: Format = registry.load("format", FORMATS, id)
    return format


def open_codec(text: str, source: Source, *, broker: Broker = "kafka", allow_undocumented: bool = False) -> Codec:
    """Configures `canal-json,version=1.1.5` for a source and a kind of broker. Raises UnknownName, OptionError, and,
    unless `allow_undocumented`, NotOffered if the product does not read the source or write to the broker."""
    from simulator.formats.options import parse_format

    name, options = parse_format(text)
    format = find(name)
    if source.id not in format.sources and not allow_undocumented:
        alternatives = [id for id in FORMATS if _offered(id, format.product, source)]
        raise _refusal(name, format, format.sources, source, alternatives)
    if broker not in format.brokers and not allow_undocumented:
        raise NotOffered(
            f"-f {name}: {format.product} writes {format.title} to {', '.join(format.brokers)}, not to {broker}; "
            "--allow-undocumented does it all the same."
        )
    codec = format.codec(source, options, broker)
    offered = format.sources_to(broker)
    if source.id not in offered and not allow_undocumented:
        raise _refusal(text if broker == "kafka" else f"{text} to {broker}", format, offered, source)
    return codec


def _refusal(
    text: str, format: Format, offered: Sequence[str], source: Source, alternatives: Sequence[str] = ()
) -> NotOffered:
    so = " so" if text != format.id else ""
    hint = f", of which it writes {', '.join(alternatives)}" if alternatives else ""
    return NotOffered(
        f"-f {text}: {format.product}, writing {format.title}{so}, reads {', '.join(offered)}, not {source.id}{hint};"
        " --allow-undocumented writes it all the same, as far as the types are known."
    )


def _offered(name: str, product: str, source: Source) -> bool:
    """Tests whether a format belongs to the product and supports the source."""
    other = find(name)
    return other.product == product and source.id in other.sources
