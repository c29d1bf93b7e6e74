"""Split: an update that changes a routing column becomes a DELETE of the old row and an INSERT of the new one."""

from __future__ import annotations

from simulator.batch import split

__all__ = ["split"]
