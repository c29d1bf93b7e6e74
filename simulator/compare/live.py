"""The live page of `cdcsim explore`: a comparison with an editor, served to browsers on this machine.

The server listens only on 127.0.0.1. Other pages in the same browser cannot reach it: the address has a random token,
a request must name this host (which stops DNS rebinding), and a POST must come from the page itself.
"""

from __future__ import annotations

import base64
import re
import secrets
import sys
import zlib
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final

import orjson

from simulator import __version__
from simulator.compare.page import BASE, described, html_of, types_of
from simulator.compare.worker import MOST_CHANGES, Request, Worker
from simulator.errors import UsageError
from simulator.formats import FORMATS, find
from simulator.formats.documents import MEANINGS
from simulator.formats.facts import EVENTS
from simulator.run.scenario import Draft
from simulator.sources import SOURCES
from simulator.sources import find as find_source
from simulator.sql import is_script
from simulator.stream.scenario.shipped import shipped

MOST_CHARACTERS: Final = 100_000
# A character takes at most twelve bytes in JSON.
MOST_BYTES: Final = 12 * MOST_CHARACTERS + 10_000
HOST: Final = "127.0.0.1"
# The page loads nothing from elsewhere, and talks only to this server.
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Server(ThreadingHTTPServer):
    """Serves the page of a draft at `url`, and the messages of edited drafts."""

    daemon_threads = True

    def __init__(self, draft: Draft, port: int) -> None:
        self.worker = Worker()
        super().__init__((HOST, port), _Handler)
        self.path = f"/{secrets.token_urlsafe(16)}/"
        number = self.server_address[1]
        self.hosts = (f"{HOST}:{number}", f"localhost:{number}")
        self.url = f"http://{self.hosts[0]}{self.path}"
        self.page = html_of(facts(draft), "live").encode()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores errors of connections that the browser closed."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        self.worker.close()


def open_server(draft: Draft, port: int = 0) -> Server:
    """Opens a listening server; `serve_forever` answers requests. Raises UsageError."""
    if sys.platform == "win32":
        raise UsageError("the live page needs a POSIX system; on Windows write a page with `cdcsim compare --html`.")
    if len(draft.text) > MOST_CHARACTERS:
        raise UsageError(
            f"{draft.file} has {len(draft.text):,} characters, and the editor takes {MOST_CHARACTERS:,}; look at a "
            "smaller scenario, or write a page with `cdcsim compare --html`."
        )
    try:
        return Server(draft, port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}; choose another port, or leave it out.") from None


@cache
def types(system: str) -> bytes:
    """The boundary values of a system's types in all formats that read it, as JSON."""
    return orjson.dumps(types_of(find_source(system), [name for name in FORMATS if system in find(name).sources]))


def shared(address: str) -> Draft | None:
    """The draft in an address that the page's Share button made, `…#messages?draft=yaml.eJy…`; None if there is none.
    Raises UsageError.
    """
    if not (match := re.search(r"[#?&]draft=(yaml|sql)\.([\w-]*)", address)):
        return None
    language, packed = match.groups()
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), 4 * MOST_CHARACTERS)
        text = data.decode()
    except (ValueError, zlib.error):
        text = ""
    if not text or not unpacker.eof:
        raise UsageError("the address has a scenario that cannot be read; copy it again, whole.")
    return Draft(text, f"scenario.{language}")


def view_of(address: str) -> str:
    """The rest of an address without its draft: `#messages?event=3`; empty for a scenario's name."""
    return (
        re.sub(r"([?&])draft=[\w.-]*&?", r"\1", "#" + address.partition("#")[2]).rstrip("?&") if "#" in address else ""
    )


def facts(draft: Draft) -> dict[str, Any]:
    """The data of the page; the page requests messages later."""
    systems = dict.fromkeys(source for name in FORMATS for source in find(name).sources)
    language = "sql" if is_script(draft.file) else "yaml"
    texts = {
        "yaml": Draft(shipped()["compare"].read_text("utf-8"), "scenario.yaml"),
        "sql": Draft(files(__package__).joinpath("live.sql").read_text("utf-8"), "scenario.sql"),
        language: draft,
    }
    return {
        "version": __version__,
        "scenario": draft.file,
        "base": BASE,
        "meanings": MEANINGS,
        "kinds": list(EVENTS),
        "formats": {name: described(find(name)) for name in FORMATS},
        "sources": {"": "the one that the scenario names", **{system: find_source(system).title for system in systems}},
        "messages": {"": [], **{source: [] for source in systems}},
        "types": {},
        "live": {
            "language": language,
            "system": "mysql",
            "changes": MOST_CHANGES,
            "characters": MOST_CHARACTERS,
            "drafts": {name: {"text": draft_text.text, "file": draft_text.file} for name, draft_text in texts.items()},
        },
    }


def parsed(body: bytes) -> Request:
    """Parses a request of the page. Raises ValueError."""
    match orjson.loads(body):
        case {"text": str(text), "file": str(file), "source": str() | None as source, "formats": list(formats)} if len(
            text
        ) <= MOST_CHARACTERS and set(formats) <= set(FORMATS):
            return Request(Draft(text, file), source, tuple(dict.fromkeys(formats)))
    raise ValueError


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 30  # seconds to wait for a silent client

    def do_GET(self) -> None:
        if self.headers["Host"] not in self.server.hosts:
            self._send(403, b"This server is for the browser of its own machine.", "text/plain")
        elif self.path == self.server.path:
            self._send(200, self.server.page, "text/html")
        elif self.path.startswith(f"{self.server.path}types/") and (system := self.path.rpartition("/")[2]) in SOURCES:
            self._send(200, types(system), "application/json")
        else:
            self._send(404, b"Open the address that cdcsim explore printed.", "text/plain")

    def do_POST(self) -> None:
        host, size = self.headers["Host"], self.headers["Content-Length"] or ""
        self.close_connection = True  # the body of a rejected request is not read
        if host not in self.server.hosts or self.headers["Origin"] != f"http://{host}":
            self._send(403, b"Only the page of this server may ask.", "text/plain")
        elif self.path != self.server.path:
            self._send(404, b"Open the address that cdcsim explore printed.", "text/plain")
        elif not size.isdecimal() or int(size) > MOST_BYTES:
            self._send(413, b"The scenario is too large.", "text/plain")
        else:
            self._answer(self.rfile.read(int(size)))

    def _answer(self, body: bytes) -> None:
        try:
            request = parsed(body)
        except ValueError:
            self._send(400, b"The request is none of the page's.", "text/plain")
            return
        answer = self.server.worker.answer(request)
        if answer is None:
            self._send(409, b"A newer edit has replaced this one.", "text/plain")
        else:
            self._send(200, answer, "application/json")

    def _send(self, status: int, body: bytes, type: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{type}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""
