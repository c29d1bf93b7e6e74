"""CloudCanal's routing, the same for its four formats.

Pages: Kafka as a target, `api_datajob_mapping`, `api_datajob_schema`.

* Topics are named by a rule. A DDL statement goes to partition 0 of its table's topic, once, or to `ddlTopic`.
* The hash of the key's values is not published. Here it is that of Alibaba Canal, without the database: the XOR of the
  Java hashes of the values. Their texts are the JSON formats' default texts, in every format and with any options. A
  table without key columns has partition 0.
"""

from __future__ import annotations

from typing import Final

from simulator.delivery.hashes import JAVA_ABS
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.xor import ByXor
from simulator.delivery.routing import Routing, Statements
from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.systems import library_of
from simulator.formats.cloudcanal.topics import default_rule, topics
from simulator.formats.cloudcanal.values.cells import cell
from simulator.formats.format import Settings
from simulator.wire.fields import plain_text

# Ids of instances end with 16 characters.
INSTANCE_TAIL: Final = "cdcsim0000000001"


def instance(settings: Settings[CommonOptions]) -> str:
    """The id of the source instance: `my-` and 16 characters."""
    return settings.options.instance or f"{library_of(settings).instance}-{INSTANCE_TAIL}"


def routing(settings: Settings[CommonOptions]) -> Routing:
    options, schemas = settings.options, settings.source.has_schemas
    rule = options.topic_rule or default_rule(schemas=schemas, dots=settings.broker != "rocketmq")
    usual = Settings(CommonOptions(), settings.source, settings.broker)
    single, by_table = Single(), ByName("{table}", JAVA_ABS)
    by_key = ByXor(JAVA_ABS, keyless=by_table if options.keyless == "table" else single)
    return Routing(
        topics(rule, schemas=schemas, instance=instance(settings), default=options.default_topic),
        {"key": by_key, "columns": by_key, "table": by_table, "single": single},
        split="routing columns" if options.split_pk_update else "never",
        statements=Statements(options.ddl_topic, options.rename_table),
        texts=lambda column, array: plain_text(cell(column, usual), array),
    )
