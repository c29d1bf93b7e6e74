"""Ids of schemas from a schema registry, by Confluent's API (Apicurio and others offer it, too), or from a file of the
registry's schemas, the answer of `GET /schemas`: `[{"subject":…,"version":1,"id":7,"schema":…}]`.

Source: Confluent's documentation, "Schema Registry API Reference".

Credentials come from the environment and are never printed: CDCSIM_SCHEMA_REGISTRY_USER_INFO (`user:password`), or
CDCSIM_SCHEMA_REGISTRY_TOKEN.
"""

from __future__ import annotations

import base64
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from simulator.errors import UsageError

SECONDS: Final = 30
USER_INFO, TOKEN = "CDCSIM_SCHEMA_REGISTRY_USER_INFO", "CDCSIM_SCHEMA_REGISTRY_TOKEN"
_HEADERS: Final = {"Content-Type": "application/vnd.schemaregistry.v1+json", "Accept": "application/json"}


@dataclass(frozen=True)
class Origin:
    """Origin of the ids of schemas: a registry's URL, or a file; neither: the schemas themselves. `register`: schemas
    that the registry does not have are registered."""

    url: str | None = None
    register: bool = True
    file: Path | None = None

    @property
    def is_given(self) -> bool:
        return bool(self.url or self.file)

    def numbered(self, subjects: Iterable[tuple[str, str]]) -> dict[str, int]:
        """Ids by schema for pairs of a subject and a schema, asked for in their order. Raises UsageError."""
        id_of = self._of_file() if self.file is not None else self._of_registry()
        return {schema: id_of(subject, schema) for subject, schema in dict.fromkeys(subjects)}

    def schema(self, id: int) -> str | None:
        """A schema by its id; None if there is none. Raises UsageError."""
        if self.file is not None:
            return next((entry["schema"] for entry in _entries(self.file) if entry["id"] == id), None)
        return None if self.url is None else _schema(self.url, id)

    def _of_file(self) -> Callable[[str, str], int]:
        assert self.file is not None
        file, ids = self.file, {_canonical(entry["schema"]): int(entry["id"]) for entry in _entries(self.file)}

        def of(subject: str, schema: str) -> int:
            if (id := ids.get(_canonical(schema))) is None:
                raise UsageError(
                    f"schema.ids={file}: it has no schema for the subject {subject} as it is here; save the registry's"
                    " schemas (GET /schemas) after a run that registers them."
                )
            return id

        return of

    def _of_registry(self) -> Callable[[str, str], int]:
        assert self.url is not None
        url, path = self.url, "versions" if self.register else ""

        def of(subject: str, schema: str) -> int:
            subject_path = f"/subjects/{quote(subject, safe='')}"
            answer = _asked(url, f"{subject_path}/{path}" if path else subject_path, {"schema": schema}, subject)
            return int(answer["id"])

        return of


# Without a registry or a file.
OWN: Final = Origin()


def checked_url(text: str) -> str:
    """The URL of a registry. Raises ValueError."""
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.netloc:
        raise ValueError("it is a URL such as http://localhost:8081")
    return text.rstrip("/")


def _canonical(schema: str) -> str:
    return json.dumps(json.loads(schema))


@cache
def _entries(file: Path) -> list[Mapping[str, Any]]:
    try:
        entries = json.loads(file.read_text("utf-8"))
        for entry in entries:
            json.loads(entry["schema"])
            int(entry["id"])
    except OSError as error:
        raise UsageError(f"schema.ids={file}: it cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UsageError(
            f"schema.ids={file}: it is no list of schemas, as a registry answers to GET /schemas:"
            ' [{"subject":…,"version":1,"id":7,"schema":…}].'
        ) from None
    return list(entries)


@cache
def _schema(url: str, id: int) -> str | None:
    try:
        return str(_asked(url, f"/schemas/ids/{id}")["schema"])
    except Missing:
        return None


class Missing(UsageError):
    """A registry does not have what was asked for."""


def _asked(url: str, path: str, body: Any = None, subject: str = "") -> Any:
    """A registry's answer. Raises UsageError with what it says."""
    headers = dict(_HEADERS)
    if user_info := os.environ.get(USER_INFO):
        headers["Authorization"] = "Basic " + base64.b64encode(user_info.encode()).decode()
    elif token := os.environ.get(TOKEN):
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    where = f"schema.registry.url={url}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(where, error.code, error.read(), subject) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise UsageError(f"{where}: the registry does not answer as one: {reason}.") from None


def _refusal(where: str, status: int, body: bytes, subject: str) -> UsageError:
    try:
        text = str(json.loads(body)["message"])
    except (ValueError, TypeError, KeyError):
        text = f"status {status}"
    text = text.rstrip(".")[:500]
    match status:
        case 401 | 403:
            return UsageError(
                f"{where}: the registry refuses access ({text}); set {USER_INFO} to user:password, or {TOKEN}."
            )
        case 404:
            hint = "; set auto.register.schemas=true to register it" if subject else ""
            owner = f" of {subject}" if subject else ""
            return Missing(f"{where}: the registry has no such schema{owner} ({text}){hint}.")
        case 409:
            return UsageError(
                f"{where}: the registry refuses a schema of {subject} as incompatible with an earlier one ({text}); set"
                " the subject's compatibility to NONE, or allow the change."
            )
    return UsageError(f"{where}: the registry refuses a schema of {subject} with status {status}: {text}.")
