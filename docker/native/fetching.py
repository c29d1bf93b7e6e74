"""The package's `simulator.fetching`, also where only this checkout is there and nothing is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("simulator") is None:
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from simulator.fetching import NativeError, cache_folder, check_reachable, debian, fetched, java_tool, kept, run, tried

__all__ = ["NativeError", "cache_folder", "check_reachable", "debian", "fetched", "java_tool", "kept", "run", "tried"]
