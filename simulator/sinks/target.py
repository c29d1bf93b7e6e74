"""Parsed destination of `--to` (`Target`), and the declaration of a URL scheme by its sink (`Transport`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import unquote

from simulator.errors import UsageError
from simulator.sinks.url import Options, public

if TYPE_CHECKING:
    from simulator.sinks.reading import Reader
    from simulator.sinks.sink import FileState, Sink
    from simulator.wire.avro import Container

# Parsed form of a URL, a type of the sink's own.
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Contents:
    """Properties of the messages that a sink must know before the first one.

    `envelope` asks for whole messages instead of values. `container` describes files of binary values, `properties` are
    those that the product gives each message of AMQP, and `files` the files that a resumed run continues.
    """

    envelope: bool = False
    container: Container | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, FileState] | None = None


@dataclass(frozen=True, kw_only=True)
class Transport(Generic[U]):
    """A scheme of `--to`: how its URLs are read, how its sink is opened, and what the sink can do.

    * `form`: a URL as help texts and errors write it, such as `kafka://HOST:PORT/TOPIC`.
    * `parse`: a URL as a value; raises OptionError or UsageError. `open`: the sink of that value, connected; raises
      UsageError, MissingPackage, SinkError.
    * `read`: a reader of the messages that were sent to that value; None: they cannot be read back. Raises what `open`
      raises.
    * `topic`: the topic that a value names, which may hold `{placeholders}`; None: the format's own.
    * `broker`: the kind of broker, by which formats choose topics, keys, tags and headers; None: no broker.
    * `resumes`: a run can continue where an earlier one stopped.
    * `lines`: values are written as lines of text, and so can whole messages be (`--envelope`); `binary`: values may be
      bytes that are no text.
    * `options` of the URL; a resumed run may have other values of those in `may_change`. Only one writer at a time can
      have an option in `one_writer`.
    * `parts`: the `FolderSink` of one part of a folder (path, partitions of a topic, number of the part), where several
      processes can write a folder together.
    """

    form: str
    parse: Callable[[str], U]
    open: Callable[[U, Contents], Sink]
    read: Callable[[U], Reader] | None = None
    topic: Callable[[U], str | None] = lambda place: None
    broker: str | None = None
    resumes: bool = False
    lines: bool = False
    binary: bool = True
    options: Options = field(default_factory=dict)
    may_change: Collection[str] = ()
    one_writer: Collection[str] = ()
    parts: Callable[[Path, int, int, Contents], Any] | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Destination of messages. `str()` gives the URL without secrets."""

    url: str = field(repr=False)
    scheme: str
    transport: Transport[Any]
    place: Any = field(repr=False)  # the URL as parsed by `Transport.parse`

    def __str__(self) -> str:
        return public(self.url)

    @property
    def options(self) -> dict[str, str]:
        """The options of the URL as they are written, by name."""
        parts = [part.partition("=") for part in self.url.partition("?")[2].split("&") if part]
        return {unquote(name): unquote(text) for name, _, text in parts}

    @property
    def topic(self) -> str | None:
        """The topic that the URL names, which may hold `{placeholders}`; None: the format's own."""
        return self.transport.topic(self.place)

    def open(self, contents: Contents = Contents()) -> Sink:
        """The sink, connected. Raises UsageError, MissingPackage, SinkError."""
        return self.transport.open(self.place, contents)

    def check_resumable(self) -> None:
        """Raises UsageError if the sink does not support resumed runs."""
        if not self.transport.resumes:
            raise UsageError(f"--resume: a run to {self} cannot be resumed; write to file:DIR or a broker's URL.")

    def deciding(self) -> dict[str, str]:
        """Values that decide where messages go and how, by name: the place, and the options that must not change. A
        default is the same whether it is written or not."""
        written = self.options
        deciding = {"destination": str(self).partition("?")[0]}
        for name in {**self.transport.options, **written}:
            if name in self.transport.may_change:
                continue
            value = written.get(name)
            if is_dataclass(self.place):
                value = getattr(self.place, name.replace("-", "_"), value)
            if value is not None:
                deciding[f"the URL's option {name}"] = str(value).lower() if isinstance(value, bool) else str(value)
        return deciding
