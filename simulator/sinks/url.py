"""Options of sinks' URLs: `?partitions=4&compression=lz4` read by a table of names and parsers.

A parser gets an option's text and raises ValueError with what the text must be: "a whole number, 1 or more".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from simulator.errors import OptionError, UsageError, did_you_mean, short

Parser = Callable[[str], Any]
Options = Mapping[str, Parser]

SERVER: Final = re.compile(r"(?:[^\s:@/\[\]]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?")
SERVERS: Final = re.compile(rf"{SERVER.pattern}(?:[,;]{SERVER.pattern})*")
# As many partitions as a controller of Kafka makes in one request.
MOST_PARTITIONS: Final = 10_000
# The longest time that an option may say, in seconds.
LONGEST_SECS: Final = 1_000_000
# Defaults of the option `timeout_secs`.
CONNECT_SECS: Final = 5.0
OUTAGE_SECS: Final = 300.0
PLACEHOLDERS: Final = ("database", "schema", "table")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Waiting for a broker, in seconds: to connect, and in mid-run for it to come back. The option `timeout_secs` of a
    broker's URL says both."""

    timeout_secs: float | None = None

    @property
    def connect_secs(self) -> float:
        return self.timeout_secs or CONNECT_SECS

    @property
    def outage_secs(self) -> float:
        return self.timeout_secs or OUTAGE_SECS


def public(url: str) -> str:
    """The URL without a password, also without one that holds `/`, `?` or `@`."""
    scheme, separator, remainder = url.partition("://")
    if not separator or "@" not in remainder:
        return url
    place, mark, query = remainder.partition("?")
    if "@" not in place:
        # an option may hold an @; a host before it has at most a port
        host = place.partition("/")[0]
        return url if SERVERS.fullmatch(host) else f"{scheme}://…"
    login, _, host = place.rpartition("@")
    user = login.partition(":")[0]
    return f"{scheme}://{f'{user}@' if user else ''}{host}{mark}{query}"


def parse_options(query: str, options: Options, url: str, *, rest: str = "") -> dict[str, Any]:
    """The options of a URL's query. `url` names the kind of URL in errors ("a Kafka URL"); values with secrets are
    parsed by parsers that hide them. Raises OptionError."""
    parsed: dict[str, Any] = {}
    the_url = re.sub("^an? ", "the ", url)
    for part in filter(None, query.split("&")):
        name, given, text = part.partition("=")
        name, text = unquote(name), unquote(text)
        if name not in options:
            if "@" in query:  # the name may be a part of a password that holds a ?
                raise OptionError(f"{url} has an unknown option; write %3F for a ? in a user or password.")
            hint = did_you_mean(name, options, f" It takes {', '.join(options)}{rest}.")
            raise OptionError(f"{url} has no option {name!r}.{hint}")
        if name in parsed:
            raise OptionError(f"{the_url} has the option {name!r} twice: leave one out.")
        try:
            parsed[name] = options[name](text if given else "")
        except ValueError as expected:
            instead = "" if options[name] in SECRET else f", not {short(text)}"
            raise OptionError(f"{the_url}'s option {name!r} is {expected}{instead}.") from None
    return parsed


def whole_number(least: int, most: int | None = None) -> Parser:
    def parse(text: str) -> int:
        number = int(text) if re.fullmatch(r"[0-9]{1,20}", text) else -1
        if number < least or (most is not None and number > most):
            raise ValueError(f"a whole number, {least} or more" if most is None else f"a number from {least} to {most}")
        return number

    return parse


def seconds(text: str) -> float:
    if not re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII) or not 0 < float(text) <= LONGEST_SECS:
        raise ValueError(f"a number of seconds above 0, {LONGEST_SECS:,} at most")
    return float(text)


def one_of(*words: str) -> Parser:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"{', '.join(words[:-1])} or {words[-1]}")
        return text

    return parse


def flag(text: str) -> bool:
    return bool(one_of("true", "false")(text) == "true")


def path(text: str) -> Path:
    if not text:
        raise ValueError("the path of a file")
    return Path(text)


def text(given: str) -> str:
    if not given:
        raise ValueError("a text")
    return given


def servers(hosts: str, what: str, *, port: int, form: str, separator: str = ",") -> str:
    """`a:9092,b` as `a:9092,b:9092`. `what` names one in errors ("Kafka server"), `form` how several are written."""
    addresses = []
    for server in hosts.split(separator):
        match = SERVER.fullmatch(server)
        if not match or int(match[1] or 1) not in range(1, 65536):
            # behind a colon that no port follows a password may stand
            displayed = server if re.fullmatch(r"[^:]*(?::\d*)?", server) else f"{server.partition(':')[0]}:…"
            raise OptionError(f"{displayed!r} is no {what}: write {form}.")
        addresses.append(server if match[1] else f"{server}:{port}")
    return separator.join(addresses)


def check_pattern(pattern: str, known: Sequence[str] = PLACEHOLDERS, *, what: str = "the topic") -> None:
    """Raises UsageError for a placeholder that is not known."""
    for name in re.findall(r"\{(.*?)\}", pattern):
        if name not in known:
            allowed = ", ".join(f"{{{other}}}" for other in known[:-1]) + f" and {{{known[-1]}}}"
            raise UsageError(f"{what} {pattern!r} has {{{name}}}: it may have {allowed}.")


def environment(text: str) -> str:
    """The value of the environment variable of this name: where a secret may stand."""
    if text not in os.environ:
        raise ValueError("the name of an environment variable that is set")
    return os.environ[text]


def first_line(text: str) -> str:
    """The first line of a file that holds a secret."""
    try:
        return Path(text).read_text("utf-8").splitlines()[0]
    except (OSError, UnicodeDecodeError, IndexError):
        raise ValueError("the path of a readable file") from None


# Parsers of options whose text may be the secret itself, written in the wrong place: errors do not repeat it.
SECRET: Final = (environment, first_line)
