"""What brokers and readers are made of is fetched although a network has bad moments."""

from __future__ import annotations

import re
from pathlib import Path

import browser
import pytest
from native import native

from simulator import fetching


@pytest.mark.parametrize("failures", [0, 2, 3])
def test_what_cannot_be_fetched_is_tried_again(failures: int, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_browser_that_cannot_be_had_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CDCSIM_CACHE", str(tmp_path / "cache"))
    for named, sentence in {
        "": "this machine has no apt-get, so chromium cannot be fetched from Debian: install Chromium or Chrome, or "
        "name its program in CDCSIM_CHROMIUM.",
        "/nowhere/chrome": "CDCSIM_CHROMIUM names '/nowhere/chrome', which is no program.",
    }.items():
        monkeypatch.setenv("CDCSIM_CHROMIUM", named)
        with pytest.raises(native("fetching").NativeError, match=f"^{re.escape(sentence)}$"):
            browser.program.__wrapped__()


def test_the_browser_that_is_named_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "chrome"
    program.touch(mode=0o755)
    monkeypatch.setenv("CDCSIM_CHROMIUM", str(program))
    assert browser.program.__wrapped__() == (str(program), {})
