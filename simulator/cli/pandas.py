"""Keeps pandas away: no command uses it, and Arrow, where it is installed, loads it with its first array (0.4 s)."""

from __future__ import annotations

import sys


class _Refusal:
    """Finds that pandas is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def keep_away() -> None:
    if _Refusal not in sys.meta_path:
        sys.meta_path.insert(0, _Refusal)


def let_in() -> None:
    """Allows pandas again: the client of Spark Connect needs it."""
    if _Refusal in sys.meta_path:
        sys.meta_path.remove(_Refusal)
