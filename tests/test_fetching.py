"""What brokers and readers are made of is fetched although a network has bad moments."""

from __future__ import annotations

import pytest
from native import native


@pytest.mark.parametrize("failures", [0, 2, 3])
def test_what_cannot_be_fetched_is_tried_again(failures: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fetching = native("fetching")
    monkeypatch.setattr(fetching, "PAUSES_SECS", (0, 0))
    attempts = 0

    def fetch() -> None:
        nonlocal attempts
        attempts += 1
        if attempts <= failures:
            raise fetching.NativeError(f"attempt {attempts}")

    if failures < 3:
        fetching.tried(fetch)
        assert attempts == failures + 1
    else:
        with pytest.raises(fetching.NativeError, match="attempt 3"):
            fetching.tried(fetch)
