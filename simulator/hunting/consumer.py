"""Consumers of a hunt: a command that reads messages and writes tables, or a function in Python."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from simulator.errors import UsageError
from simulator.hunting.history import History
from simulator.library import deliver
from simulator.model import Message
from simulator.sinks.framing import framing

# Tables as a consumer leaves them: a folder or a database, or rows by table.
Output: TypeAlias = str | Path | Mapping[str, Iterable[Mapping[str, Any]]]
# A consumer in Python: messages in the order of their arrival → its tables.
Function: TypeAlias = Callable[[Sequence[Message]], Output]

# Statuses of a shell for a command that it cannot find or run.
NOT_RUN: Final = (126, 127)


class ConsumerEnded(Exception):
    """The consumer ended with an error, or did not end; the argument says how, as a sentence."""


class Consumer(Protocol):
    """A consumer of one case after the other."""

    @property
    def concurrent(self) -> bool:
        """Whether several cases may run at once."""

    @property
    def chooses_order(self) -> bool:
        """Whether it reads partitions in an order of its own, as from a broker."""

    def tables(self, history: History) -> Any:
        """A context manager: the consumer's tables after all messages. Raises ConsumerEnded, UsageError."""


@dataclass(frozen=True)
class PythonConsumer:
    """A function of this process."""

    function: Function
    concurrent: bool = field(default=False, init=False)
    chooses_order: bool = field(default=False, init=False)

    @contextmanager
    def tables(self, history: History) -> Iterator[Output]:
        try:
            output = self.function(list(history.arrived.messages()))
        except Exception as error:  # whatever a consumer raises is a finding
            raise ConsumerEnded(f"the consumer raised {type(error).__name__}: {error}.") from error
        yield output


@dataclass(frozen=True)
class Command:
    """A command that is run once for each case.

    In its words, `{messages}` stands for a file of messages (values, one a line, or whole messages with `envelope`)
    and `{tables}` for a folder in which it leaves its tables; without the former it reads messages on stdin. The
    environment has both as CDCSIM_MESSAGES and CDCSIM_TABLES. `table` is where the tables are then: the folder, or a
    place such as `sqlite:{tables}/out.db`. With `through`, a URL as `--to` takes it, messages are sent there first;
    `{case}` and `{partitions}` stand for the number of the case and its partitions, also in the command.
    """

    words: tuple[str, ...]
    envelope: bool = False
    table: str = "{tables}"
    through: str | None = None
    seconds: float = 60.0
    concurrent: bool = field(default=True, init=False)

    @property
    def chooses_order(self) -> bool:
        return self.through is not None

    @contextmanager
    def tables(self, history: History) -> Iterator[Output]:
        with tempfile.TemporaryDirectory(prefix="cdcsim-hunt-") as scratch:
            folder, file = Path(scratch) / "tables", Path(scratch) / "messages"
            folder.mkdir()
            container = None if self.envelope else history.job.codec.layout.container
            form = framing(envelope=self.envelope, container=container)
            file = file.with_suffix(f".{form.suffix}")
            with file.open("wb") as opened:
                opened.write(form.header())
                if len(history.arrived):
                    opened.writelines(form.frame(history.arrived))
            names = {
                "{messages}": str(file),
                "{tables}": str(folder),
                "{case}": Path(scratch).name.removeprefix("cdcsim-hunt-"),
                "{partitions}": str(history.case.partitions),
            }
            if self.through is not None:
                deliver(history.job, lambda job: [history.rendered(job)], _filled(self.through, names))
            self._run([_filled(word, names) for word in self.words], file, folder)
            yield _filled(self.table, names)

    def _run(self, words: Sequence[str], messages: Path, folder: Path) -> None:
        environment = {**os.environ, "CDCSIM_MESSAGES": str(messages), "CDCSIM_TABLES": str(folder)}
        try:
            with messages.open("rb") as stdin:
                result = subprocess.run(
                    words, stdin=stdin, capture_output=True, env=environment, timeout=self.seconds, check=False
                )
        except OSError as error:
            raise UsageError(f"{words[0]}: the consumer cannot be run: {error.strerror}.") from None
        except subprocess.TimeoutExpired:
            raise ConsumerEnded(f"the consumer did not end within {self.seconds:g} s.") from None
        if result.returncode:
            error_lines = result.stderr.decode(errors="replace").strip().splitlines()
            if result.returncode in NOT_RUN:
                raise UsageError(f"{words[0]}: the consumer cannot be run: {(error_lines or ['not found'])[-1]}.")
            raise ConsumerEnded(
                f"the consumer ended with status {result.returncode}"
                + (f": {error_lines[-1].rstrip('.')}." if error_lines else ".")
            )


def _filled(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text
