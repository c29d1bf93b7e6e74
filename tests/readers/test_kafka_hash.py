"""Kafka's own Java client on random keys: murmur2 and the partition that its producer chooses."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pytest
from jars import Jars
from jvm import Reader

from simulator.delivery.hashes import murmur2, to_positive_mod

pytestmark = pytest.mark.jvm

KAFKA: Final = Jars("kafka-clients-4.3.1", ("org.apache.kafka:kafka-clients:4.3.1", "org.slf4j:slf4j-api:1.7.36"))
SEED: Final = 20_261_121
PARTITIONS: Final = (1, 2, 3, 6, 12, 50, 1000)


def keys() -> list[bytes]:
    """Of every length up to 100, texts of keys, and some that are long."""
    rng = np.random.default_rng(SEED)
    drawn = [rng.bytes(int(size)) for size in (*range(100), *rng.integers(0, 40, 10_000), 5_000, 70_000)]
    return [*drawn, *(str(number).encode() for number in range(2_000)), "订单\x01中".encode()]


def test_random_keys() -> None:
    found = keys()
    counts = [PARTITIONS[place % len(PARTITIONS)] for place in range(len(found))]
    with Reader("KafkaHash.java", KAFKA) as kafka:
        told = kafka.ask([f"{n} {key.hex()}".encode() for n, key in zip(counts, found, strict=True)])
    hashes = murmur2(pa.array(found, pa.binary()))
    assert len({hash < 0 for hash in hashes.tolist()}) == 2
    for count in PARTITIONS:
        places = [place for place, n in enumerate(counts) if n == count]
        ours = zip(hashes[places].tolist(), to_positive_mod(hashes[places], count).tolist(), strict=True)
        assert [f"{hash} {partition}".encode() for hash, partition in ours] == [told[place][0] for place in places]
