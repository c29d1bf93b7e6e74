"""A small schema registry for tests: Confluent's API as far as the client uses it, ids in order of registration."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

TYPE: Final = "application/vnd.schemaregistry.v1+json"


class Registry(ThreadingHTTPServer):
    """`subjects`: texts by subject in order; `schemas`: texts, whose id is their place, from 1. `asked`: requests so
    far. `refuses`: (status, message) for each registration. `credentials`: the only Authorization that is let in."""

    daemon_threads = False  # closing waits for requests

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.subjects: dict[str, list[str]] = {}
        self.schemas: list[str] = []
        self.asked: list[str] = []
        self.refuses: tuple[int, str] | None = None
        self.credentials: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def listed(self) -> list[dict[str, Any]]:
        """What GET /schemas answers."""
        return [
            {"subject": subject, "version": number, "id": self.schemas.index(text) + 1, "schema": text}
            for subject, texts in self.subjects.items()
            for number, text in enumerate(texts, 1)
        ]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        parts = path.partition("?")[0].strip("/").split("/")
        if method == "GET" and parts[:2] == ["schemas", "ids"]:
            place = int(parts[2]) - 1
            if 0 <= place < len(self.schemas):
                return 200, {"schema": self.schemas[place]}
            return 404, {"error_code": 40403, "message": "Schema not found"}
        subject, text = parts[1], body["schema"]
        if parts[2:] == ["versions"]:
            if self.refuses is not None:
                return self.refuses[0], {"error_code": self.refuses[0], "message": self.refuses[1]}
            if text not in self.schemas:
                self.schemas.append(text)
            if text not in self.subjects.setdefault(subject, []):
                self.subjects[subject].append(text)
        elif text not in self.subjects.get(subject, ()):
            return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
        return 200, {"id": self.schemas.index(text) + 1}


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        self.server.asked.append(f"{self.command} {self.path}")
        if self.server.credentials is not None and self.headers.get("Authorization") != self.server.credentials:
            status, answer = 401, {"error_code": 401, "message": "Unauthorized"}
        else:
            status, answer = self.server.answer(self.command, self.path, body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", TYPE)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""


@contextmanager
def schema_registry() -> Iterator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
