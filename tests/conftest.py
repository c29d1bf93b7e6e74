"""Options of the test run."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# In CI a property is tried with the same examples each time: a new counterexample is found at a desk, where someone
# can look at it, not by a change that has nothing to do with it.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """However many processes run the tests: those that share a broker, or the JVM of a reader, run in one of them."""
    for item in items:
        if item.get_closest_marker("broker"):
            item.add_marker(pytest.mark.xdist_group("broker"))
        elif item.get_closest_marker("jvm"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write the goldens of the selected tests anew; then read them"
    )
