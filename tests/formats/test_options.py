"""Options that have no effect, with this source, broker, policy or other options, are refused in a sentence."""

from __future__ import annotations

from typing import Any, Final

import pytest

from simulator import formats
from simulator.errors import OptionError
from simulator.formats.format import Broker
from simulator.formats.options import parse_format
from simulator.sources import SOURCES, find

# What is refused, with what, and what the sentence says of it.
REFUSED: Final = [
    ("drs-json,raw=send", "mysql", "kafka", "on mysql; it is for oracle"),
    ("oms-default,tenant=x", "mysql", "kafka", "on mysql; it is for oceanbase-mysql, oceanbase-oracle"),
    ("oms-default,tag=x", "mysql", "kafka", "on kafka; it is for rocketmq"),
    ("oms-default,cluster_id=2", "mysql", "kafka", "with extended_meta=off"),
    ("canal-json,version=1.1.5,gtid=on", "mysql", "kafka", "with version=1.1.5"),
    ("canal-json,gtid=on,server_uuid=u", "mariadb", "kafka", "on mariadb; it is for mysql"),
    ("dts-canal-json,ddl=off,ddl_topic=x", "mysql", "kafka", "where DDL statements are not sent"),
    ("dts-canal-json,pre_update=normal", "mysql", "kafka", "with images=current"),
    (
        "dts-canal-json,images=before-2022-03-20,old_columns=changed",
        "mysql",
        "kafka",
        "with images=before-2022-03-20 and pre_update=exchanged",
    ),
    ("cloudcanal-json,delay_ms=5", "mysql", "kafka", "on kafka; it is for rabbitmq"),
    ("cloudcanal-json,batch_scope=statement", "mysql", "kafka", "with batch_rows=1"),
    ("drs-avro,full_sync_op=INIT", "oracle", "kafka", "where rows of a full load are not sent"),
]


@pytest.mark.parametrize(("text", "source", "broker", "why"), REFUSED)
def test_an_option_without_effect_is_refused(text: str, source: str, broker: Broker, why: str) -> None:
    name, given = parse_format(text)
    last = list(given)[-1]
    with pytest.raises(OptionError) as refused:
        formats.find(name).codec(find(source), given, broker)
    assert str(refused.value) == f"-f {name},{last}={given[last]}: it has no effect {why}. Leave it out."


def test_an_option_for_another_policy_is_refused() -> None:
    codec = formats.find("oms-default").codec(find("mysql"), {"fixed_partition": "0"})
    codec.check_route("single")
    with pytest.raises(OptionError, match=r"has no effect with --route key; it is for single\. Leave it out\.$"):
        codec.check_route("key")


def test_declared_effects_name_what_there_is() -> None:
    """Sources, policies and other options; an option that is offered nowhere would never be taken."""
    for id in formats.FORMATS:
        format = formats.find(id)
        options = {option.name: option for option in format.options}
        defaults: dict[str, Any] = vars(format.settings())
        for option in format.options:
            effect = option.effect
            assert set(effect.sources) <= set(SOURCES), f"{id},{option.name}"
            assert not effect.sources or set(effect.sources) & set(format.sources), (
                f"{id},{option.name} is for no source"
            )
            assert not effect.brokers or set(effect.brokers) & set(format.brokers), (
                f"{id},{option.name} is for no broker"
            )
            for name, values in {**effect.where, **effect.unless}.items():
                if name in options and not callable(values):
                    known = {*options[name].choices, defaults[name], True, False, None}
                    assert known >= set(values), f"{id},{option.name}: {name} has no such value"
