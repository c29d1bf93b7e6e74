"""Many small cases as one test, which says which fail: a test for each would take longer to begin than to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., None])


def each(cases: Iterable[Any]) -> Callable[[Test], Callable[[], None]]:
    """A test called with each case: the arguments as a tuple, or the one that there is."""
    table = list(cases)

    def decorate(test: Test) -> Callable[[], None]:
        @wraps(test)
        def run() -> None:
            failures = []
            for case in table:
                try:
                    test(*case) if isinstance(case, tuple) else test(case)
                except Exception as error:
                    error.add_note(f"The case: {case!r}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} cases fail", failures)

        del run.__wrapped__  # type: ignore[attr-defined]  # pytest would take its arguments for fixtures
        return run

    return decorate
