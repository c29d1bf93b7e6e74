"""Topics spread over several RocketMQ brokers, a broker that moves, and refusals in mid-run: all scripted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from rocketmq_cluster import Cluster, server
from sinks_contract import batch, one_sentence

from simulator.errors import DeliveryFailed, UsageError
from simulator.sinks.rocketmq.cluster import Cluster as Client
from simulator.sinks.rocketmq.cluster import Queue
from simulator.sinks.rocketmq.message import Outgoing
from simulator.sinks.rocketmq.sink import RocketmqSink
from simulator.sinks.rocketmq.url import RocketmqUrl, parse_url

# The words of SendMessageProcessor in apache/rocketmq for a store that takes nothing.
DISK_FULL = (
    "service not available now. It may be caused by one of the following reasons: the broker's disk is full [CL:  0.97"
    " CQ:  0.97 INDEX:  0.97], messages are put to the slave, message store has been shut down, etc."
)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack)


# As `topicRouteData2TopicPublishInfo` in apache/rocketmq's MQClientInstance.java; `order` is an administrator's.
@pytest.mark.parametrize(
    ("order", "queues"),
    [
        (None, ["broker-a 0", "broker-a 1", "broker-a 2", "broker-b 0", "broker-b 1"]),
        ("broker-b:2;broker-a:1", ["broker-b 0", "broker-b 1", "broker-a 0"]),
    ],
)
def test_partitions_are_the_queues_of_all_brokers(cluster: Cluster, order: str | None, queues: list[str]) -> None:
    cluster.start("broker-b", 2)
    cluster.start("broker-a", 3)
    cluster.queues["broker-0"] = 4  # has no master now
    cluster.more = {"orderTopicConf": order}
    client = Client(parse_url(f"rocketmq://{cluster.names}/t"))
    assert [f"{queue.broker} {queue.number}" for queue in client.queues("t")] == queues
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=native")) as sink:
        sink.send(batch("t", [b"x"] * len(queues), None, range(len(queues))))
        sink.flush()
    assert {f"{broker} {number}": count for (broker, number), count in cluster.stored.items()} == dict.fromkeys(
        queues, 1
    )


def test_queues_end_where_the_index_has_caught_up(cluster: Cluster) -> None:
    """A broker acknowledges before its queues have a message; each queue of every broker is asked. Then the topic is
    deleted."""
    cluster.start("broker-a", 2)
    cluster.start("broker-b", 1)
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=native")) as sink:
        for turn, partition in enumerate((0, 2, 2)):
            sink.send(batch("t", [b"x"], None, [partition], first_turn=turn))
        sink.flush()
        cluster.behind = 3
        assert sink.most_arrived("t") == [1, 0, 2]
        cluster.first.append((17, "No topic route info in name server for the topic: t", b""))
        assert sink.most_arrived("t") == []


def test_a_broker_may_come_back_at_another_address(cluster: Cluster) -> None:
    with server(lambda *_: (0, "", b"")) as gone:
        cluster.brokers["broker-a"], cluster.queues["broker-a"] = gone, 1
        sink = RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=native&timeout_secs=120"))
        sink.partitions("t")
    cluster.start("broker-a", 1)
    with sink:
        sink.send(batch("t", [b"1", b"2"]))
        sink.flush()
    assert (sink.delivered, sink.failed) == (2, 0)
    assert cluster.stored == {("broker-a", 0): 1}  # one request


def test_a_name_server_may_be_busy_or_away_for_a_moment(cluster: Cluster) -> None:
    """When a topic is first named: in mid-run as at the start."""
    cluster.start("broker-a", 1)
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/?client=native")) as sink:
        for turn, topic in enumerate("ab"):
            cluster.first += [(2, "[TIMEOUT_CLEAN_QUEUE]broker busy", b""), None]
            sink.send(batch(topic, [b"x"], first_turn=turn))
            sink.flush()
            assert not cluster.first
    assert (sink.delivered, sink.failed) == (2, 0)


def test_what_may_be_stored_already_is_counted_before_it_is_sent_again(cluster: Cluster) -> None:
    """Two requests are stored and not answered, the third is."""
    cluster.start("broker-a", 1)
    counts: list[tuple[int, int]] = []
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=native&timeout_secs=120")) as sink:
        sink.ledger.keep_repeated = lambda: counts.append((cluster.stored.total(), sink.ledger.repeated["t", 0]))
        cluster.answers += [None, None]
        sink.send(batch("t", [b"1", b"2"]))
        sink.flush()
    assert (sink.delivered, cluster.stored.total()) == (2, 3)
    assert counts == [(1, 2), (2, 4)]


def test_nothing_is_sent_again_whose_count_cannot_be_kept(cluster: Cluster) -> None:
    def full() -> None:
        raise UsageError("--resume position: it cannot be written: No space left on device.")

    cluster.start("broker-a", 1)
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=native&timeout_secs=120")) as sink:
        sink.ledger.keep_repeated = full
        cluster.answers += [None]
        sink.send(batch("t", [b"1"]))
        with pytest.raises(DeliveryFailed, match="No space left on device"):
            sink.flush()
    assert cluster.stored.total() == 1


def test_what_the_library_did_not_store_is_counted_and_sent_by_the_native_client(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the library nobody knows whether the broker has the message."""

    class Failing:
        def __init__(self, url: RocketmqUrl) -> None:
            self.url = url

        def send(self, queue: Queue, message: Outgoing) -> bool:
            return message.body != b"2"

        def close(self) -> None:
            pass

    monkeypatch.setattr("simulator.sinks.rocketmq.sink.Producer", Failing)
    cluster.start("broker-a", 1)
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=library")) as sink:
        sink.send(batch("t", [b"1", b"2", b"3"]))
        sink.flush()
    assert (sink.delivered, cluster.stored.total(), sink.ledger.repeated) == (3, 1, {("t", 0): 1})


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (
            (14, DISK_FULL),
            "stored nothing for 4 s: service not available now. It may be caused by one of the following reasons: the "
            "broker's disk is full",
        ),
        ((17, "topic[t] not exist"), "the broker refused it: topic[t] not exist (code 17); the topic is gone"),
        ((16, "topic[t] sending message is forbidden"), "is forbidden (code 16); check access_key and the secret key"),
    ],
)
def test_refusals_in_mid_run(cluster: Cluster, refusal: tuple[int, str], reason: str) -> None:
    cluster.start("broker-a", 1)
    with RocketmqSink(parse_url(f"rocketmq://{cluster.names}/t?client=native&timeout_secs=4")) as sink:
        sink.send(batch("t", [b"x"]))
        sink.flush()
        cluster.refusal = *refusal, b""
        sink.send(batch("t", [b"y"], first_turn=1))
        with pytest.raises(DeliveryFailed) as caught:
            sink.flush()
    sentence = one_sentence(caught.value)
    assert sentence.startswith(
        "1 of 2 messages were not delivered; the first was turn 1.0 for topic 't' partition 0 (1 "
    )
    assert reason in sentence
