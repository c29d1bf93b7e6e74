"""librdkafka's functions through ctypes, from the library that confluent-kafka brings.

confluent-kafka's own client takes and gives messages one by one; these functions take and give arrays of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from simulator.errors import MissingPackage

_POINTER, _INT, _TEXT, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
# name: result, arguments
_FUNCTIONS: Final[Mapping[str, tuple[Any, ...]]] = {
    "conf_new": (_POINTER,),
    "conf_set": (_INT, _POINTER, _TEXT, _TEXT, _TEXT, _SIZE),
    "conf_set_events": (None, _POINTER, _INT),
    "conf_enable_sasl_queue": (None, _POINTER, _INT),
    "conf_set_log_cb": (None, _POINTER, _POINTER),
    "conf_destroy": (None, _POINTER),
    "new": (_POINTER, _INT, _POINTER, _TEXT, _SIZE),
    "sasl_background_callbacks_enable": (_POINTER, _POINTER),
    "destroy": (None, _POINTER),
    "topic_new": (_POINTER, _POINTER, _TEXT, _POINTER),
    "topic_destroy": (None, _POINTER),
    "produce_batch": (_INT, _POINTER, ctypes.c_int32, _INT, _POINTER, _INT),
    "produceva": (_POINTER, _POINTER, _POINTER, _SIZE),
    "outq_len": (_INT, _POINTER),
    "consume_start": (_INT, _POINTER, ctypes.c_int32, ctypes.c_int64),
    "consume_batch": (ctypes.c_ssize_t, _POINTER, ctypes.c_int32, _INT, _POINTER, _SIZE),
    "consume_stop": (_INT, _POINTER, ctypes.c_int32),
    "message_headers": (_INT, _POINTER, _POINTER),
    "message_destroy": (None, _POINTER),
    "header_get_all": (_INT, _POINTER, _SIZE, _POINTER, _POINTER, _POINTER),
    "poll": (_INT, _POINTER, _INT),
    "last_error": (_INT,),
    "err2str": (_TEXT, _INT),
    "flush": (_INT, _POINTER, _INT),
    "purge": (_INT, _POINTER, _INT),
    "queue_get_main": (_POINTER, _POINTER),
    "queue_poll": (_POINTER, _POINTER, _INT),
    "queue_yield": (None, _POINTER),
    "queue_destroy": (None, _POINTER),
    "event_type": (_INT, _POINTER),
    "event_error": (_INT, _POINTER),
    "event_error_string": (_TEXT, _POINTER),
    "event_error_is_fatal": (_INT, _POINTER),
    "event_message_count": (_SIZE, _POINTER),
    "event_message_array": (_SIZE, _POINTER, _POINTER, _SIZE),
    "event_destroy": (None, _POINTER),
    "fatal_error": (_INT, _POINTER, _TEXT, _SIZE),
    "error_code": (_INT, _POINTER),
    "error_string": (_TEXT, _POINTER),
    "error_is_fatal": (_INT, _POINTER),
    "error_is_retriable": (_INT, _POINTER),
    "error_txn_requires_abort": (_INT, _POINTER),
    "error_destroy": (None, _POINTER),
    "init_transactions": (_POINTER, _POINTER, _INT),
    "begin_transaction": (_POINTER, _POINTER),
    "send_offsets_to_transaction": (_POINTER, _POINTER, _POINTER, _POINTER, _INT),
    "commit_transaction": (_POINTER, _POINTER, _INT),
    "abort_transaction": (_POINTER, _POINTER, _INT),
    "consumer_group_metadata_new": (_POINTER, _TEXT),
    "consumer_group_metadata_destroy": (None, _POINTER),
    "topic_partition_list_new": (_POINTER, _INT),
    "topic_partition_list_add": (_POINTER, _POINTER, _TEXT, ctypes.c_int32),
    "topic_partition_list_destroy": (None, _POINTER),
}

# Kinds of clients.
PRODUCER, CONSUMER = 0, 1
# Kinds of events.
DELIVERIES, ERROR = 0x1, 0x8
# Messages that a purge drops.
QUEUED, IN_FLIGHT, AT_ONCE = 1, 2, 4
# Kinds of arguments of `produceva`.
TOPIC, PARTITION, VALUE, KEY, TICKET, TIMESTAMP, HEADER = 2, 3, 4, 5, 6, 8, 9

# rd_kafka_message_t; `ticket` is its `_private`: the number that comes back with the report of a message. The value of
# one that is an error is its text.
MESSAGE: Final = np.dtype(
    {
        "names": ["error", "value", "value_size", "key", "key_size", "offset", "ticket"],
        "formats": ["i4", "u8", "u8", "u8", "u8", "i8", "u8"],
        "offsets": [0, 24, 32, 40, 48, 56, 64],
        "itemsize": 72,
    }
)
# rd_kafka_vu_t: an argument of `produceva`.
ARGUMENT: Final = np.dtype(
    {"names": ["kind", "a", "b", "c"], "formats": ["i4", "u8", "u8", "u8"], "offsets": [0, 8, 16, 24], "itemsize": 72}
)


class TopicPartition(ctypes.Structure):
    """rd_kafka_topic_partition_t, the part that an application may set."""

    _fields_ = (
        ("topic", _TEXT),
        ("partition", ctypes.c_int32),
        ("offset", ctypes.c_int64),
        ("metadata", _TEXT),
        ("metadata_size", _SIZE),
    )


@cache
def load() -> Any:
    """The library. Raises MissingPackage."""
    try:
        from confluent_kafka import cimpl
    except ImportError:
        raise MissingPackage("the kafka sink needs confluent-kafka: pip install 'cdc-simulator[kafka]'.") from None
    # confluent-kafka's own module is linked with librdkafka, whatever the wheel calls that file
    library = ctypes.CDLL(cimpl.__file__)
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = library[f"rd_kafka_{name}"]
        function.restype, function.argtypes = result, arguments
        setattr(library, f"rd_kafka_{name}", function)
    return library
