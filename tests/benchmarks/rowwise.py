"""The other way, to compare with: one dict per message, and orjson."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson


def dicts(values: Sequence[bytes]) -> list[dict[str, Any]]:
    """Messages as ready-made dicts of which orjson makes the very same bytes. Raises SystemExit if it does not."""
    made = [orjson.loads(value) for value in values]
    if any(orjson.dumps(message) != value for value, message in zip(values, made, strict=True)):
        # decimals as numbers: the dicts hold their text
        made = [json.loads(value, parse_float=orjson.Fragment) for value in values]
    for value, message in zip(values, made, strict=True):
        if orjson.dumps(message) != value:
            raise SystemExit(f"orjson writes this message in other bytes, so it cannot be compared: {value!r}")
    return made
