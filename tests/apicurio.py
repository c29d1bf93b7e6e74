"""Apicurio's registry with its storage in memory, from Maven Central: a schema registry with Confluent's API."""

from __future__ import annotations

import json
import os
import tarfile
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from native import native

# The smallest that has the API: 79 MB, where 2.6.13.Final has 142 and 3.3.3 159; CDCSIM_APICURIO names another one.
VERSION: Final = os.environ.get("CDCSIM_APICURIO", "2.0.2.Final")
_POM: Final = (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    "<groupId>cdcsim</groupId><artifactId>apicurio</artifactId><version>1</version><packaging>pom</packaging>"
    "<dependencies><dependency><groupId>io.apicurio</groupId><artifactId>apicurio-registry-app</artifactId>"
    f"<version>{VERSION}</version><type>tar.gz</type><classifier>all</classifier>"
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    "</dependency></dependencies></project>"
)
_TYPE: Final = "application/vnd.schemaregistry.v1+json"


def program() -> Path:
    """The jar that is run, beside those it needs; fetched once. Raises NativeError."""
    fetching = native("fetching")

    def fill(scratch: Path, folder: Path) -> None:
        (archive,) = Path(fetching.fetched(f"apicurio-{VERSION}-archive", _POM)).glob("*.tar.gz")
        with tarfile.open(archive) as files:
            for member in files:
                if (jar := files.extractfile(member)) is not None:
                    path = folder / member.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(jar.read())

    (jar,) = Path(fetching.kept(f"apicurio-{VERSION}", fill)).glob("*-runner.jar")
    return jar


class Apicurio(native("server").Server):  # type: ignore[misc]
    """One registry, whose schemas end with it."""

    title = "Apicurio"
    default_port = 8080
    listeners = ("http",)

    @property
    def url(self) -> str:
        """Where Confluent's API is."""
        return f"http://{self.address}/apis/ccompat/v6"

    def prepare(self) -> None:
        program()

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        java = native("fetching").java_tool("java", wanted_by="Apicurio")
        options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Djava.io.tmpdir={self.folder}"]
        listening = ["-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self.ports['http']}"]
        return [java, *options, *listening, "-jar", str(program())], {}

    def is_ready(self) -> bool:
        try:
            return self.ask("GET", "/subjects") == []
        except OSError:
            return False

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request. Raises OSError."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": _TYPE}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
