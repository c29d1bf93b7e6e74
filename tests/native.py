"""The scripts of docker/native as modules: brokers without Docker, and what fetches jars.

They stand outside of any package, and one is named like the client library `rocketmq`: they are loaded under names of
their own, and their folder does not stay on the path.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

NATIVE: Final = Path(__file__).parents[1] / "docker" / "native"


def native(name: str) -> ModuleType:
    """`native("rabbitmq").Broker(folder)`."""
    full = f"native_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, NATIVE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(NATIVE))
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(NATIVE))
        sys.modules[full] = module
    return sys.modules[full]


def free_port() -> int:
    """A port on which nothing listens."""
    return int(native("server").free_port(set()))
