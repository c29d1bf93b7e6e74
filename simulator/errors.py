"""Tree of the errors. Every message is one sentence: what is wrong, where, and what to do.

SimulatorError
├── UsageError            the command, scenario or options are wrong; exit status 2
│   ├── UnknownName       no such format, scenario, source, column …; carries close matches
│   ├── ScenarioError     a scenario file; carries file, line and key
│   ├── OptionError       an option of a format, URL or command
│   ├── UnsupportedType   a format has no rendering for a column type
│   └── NotOffered        the vendor does not offer this combination
├── MissingPackage        an extra is not installed; exit status 2
├── SinkError             a broker or file cannot be reached, refused a login, lacks a topic; exit status 1
└── DeliveryFailed        some messages were not delivered; exit status 1
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, TypeAlias

# Problems printed per file, at most.
MOST_PROBLEMS: Final = 50


class SimulatorError(Exception):
    """Base of all errors that users see as one sentence, without a stack trace."""

    exit_status = 1


class UsageError(SimulatorError):
    """The user asked for something impossible; nothing was written."""

    exit_status = 2


class UnknownName(UsageError):
    """An unknown name. `UnknownName("format", "canal_json", ["canal-json"], "…")` suggests the nearest."""

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str = "") -> None:
        super().__init__(f"no {what} {name!r}.{did_you_mean(name, known)}" + (f" {hint}" if hint else ""))


class ScenarioError(UsageError):
    """`scenarios/orders.yaml:14: tables.orders.columns.qty.type: 'varchr' is not a MySQL type.`

    `others` are further problems of the same file, a line each in the text."""

    def __init__(self, file: str, line: int | None, key: str, problem: str) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {key}: {problem}" if key else f"{place}: {problem}")
        self.file, self.line, self.key, self.problem = file, line, key, problem
        self.others: tuple[ScenarioError, ...] = ()

    def __str__(self) -> str:
        lines = [str(error.args[0]) for error in (self, *self.others)]
        more = len(lines) - MOST_PROBLEMS
        return "\n".join([*lines[:MOST_PROBLEMS], *([f"{self.file}: {more} more problems."] if more > 0 else [])])


Part: TypeAlias = Callable[[], AbstractContextManager[None]]


@contextmanager
def all_problems() -> Iterator[Part]:
    """Checks parts of a scenario independently; raises all their problems together.

    with all_problems() as part:
        for name in tables:
            with part():
                check(name)
    """
    problems: list[ScenarioError] = []

    @contextmanager
    def part() -> Iterator[None]:
        try:
            yield
        except ScenarioError as error:
            problems.extend((error, *error.others))

    with part():
        yield part
    if problems:
        raise together(problems)


def together(problems: Iterable[ScenarioError]) -> ScenarioError:
    """Problems of one file as one error, without duplicates, in the order of their lines."""
    different = {str(problem.args[0]): problem for problem in problems}
    first, *others = sorted(different.values(), key=lambda problem: problem.line or 0)
    first.others = tuple(others)
    return first


class OptionError(UsageError):
    """An option has no such name or value."""


class UnsupportedType(UsageError):
    """A format cannot render a column type, named with table and column."""


class NotOffered(UsageError):
    """The vendor's product does not offer what was asked; the message says what it does offer."""


class MissingPackage(SimulatorError):
    """An optional dependency is needed; the message holds the install line."""

    exit_status = 2


class SinkError(SimulatorError):
    """The destination cannot be used: unreachable, login refused, topic missing, partition count differs."""


class DeliveryFailed(SimulatorError):
    """Some messages were not delivered: how many, the order key of the first, and the broker's error."""


# Shortest name that is searched inside longer names, and the most of these that a message lists.
LEAST_PART: Final = 4
MOST_GUESSES: Final = 3


def short(text: str) -> str:
    """A text shortened for quoting in messages: sixty characters at most."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def closest(name: str, known: Iterable[str]) -> str | None:
    """The nearest known name, or None: `closest("canal_json", ["canal-json"])` is `canal-json`."""
    known = list(known)
    lowered = {k.lower(): k for k in known}
    match = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[match[0]] if match else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a message, with a blank before it: ` Did you mean 'canal-json'?`, or `otherwise`. If no name
    is near, it suggests the names that contain this one, unless there are too many."""
    known = list(known)
    guess = closest(name, known)
    longer = [other for other in known if len(name) >= LEAST_PART and name.lower() in other.lower()]
    guesses = [guess] if guess else longer
    if not 0 < len(guesses) <= MOST_GUESSES:
        return otherwise
    return f" Did you mean {' or '.join(map(repr, guesses))}?"


def counted(count: int, name: str) -> str:
    """`counted(1, "message")` is `1 message`, `counted(2000, "message")` is `2,000 messages`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"
