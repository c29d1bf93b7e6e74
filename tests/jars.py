"""Jars of Maven Central, fetched once."""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from debezium_engine import jars as engine_jars
from native import native


@dataclass(frozen=True)
class Jars:
    """The jars of one reader: `group:artifact:version` each, some with `:classifier`, and nothing of what they depend
    on."""

    name: str
    artifacts: tuple[str, ...]

    def pom(self) -> str:
        """A project that depends on these and on nothing else."""
        parts = []
        for artifact in self.artifacts:
            group, name, version, *classifiers = map(escape, artifact.split(":"))
            parts.append(
                f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
                f"{''.join(f'<classifier>{classifier}</classifier>' for classifier in classifiers)}"
                "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
                "</dependency>"
            )
        return (
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            f"<groupId>cdcsim</groupId><artifactId>{escape(self.name)}</artifactId><version>1</version>"
            f"<packaging>pom</packaging><dependencies>{''.join(parts)}</dependencies></project>"
        )

    def folder(self) -> Path:
        """The folder that holds them, filled by Maven at the first call. Raises NativeError."""
        folder: Path = native("fetching").fetched(self.name, self.pom())
        count = len(list(folder.glob("*.jar")))
        if count != len(self.artifacts):
            pytest.fail(f"{folder} has {count} jars, not the {len(self.artifacts)} of {self.name}.", pytrace=False)
        return folder

    def classpath(self) -> str:
        """All of them, for Java. Raises NativeError."""
        return f"{self.folder()}/*"


@dataclass(frozen=True)
class Plugin:
    """A connector of Kafka Connect, `group:artifact:version`, with the jars of its archive whose names begin with one
    of `needed`. What Connect's workers have beside it are Debezium's engine's."""

    artifact: str
    needed: tuple[str, ...]

    def classpath(self) -> str:
        """The connector's jars, and Connect's converter behind them. Raises NativeError."""
        group, name, version = self.artifact.split(":")
        fetching = native("fetching")

        def fill(scratch: Path, folder: Path) -> None:
            pom = (
                '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
                f"<groupId>cdcsim</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>"
                f"<dependencies><dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
                f"<version>{version}</version><type>tar.gz</type><classifier>plugin</classifier>"
                "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
                "</dependency></dependencies></project>"
            )
            (archive,) = Path(fetching.fetched(f"{name}-{version}-archive", pom)).glob("*.tar.gz")
            folder.mkdir()
            wanted = re.compile(rf"({'|'.join(map(re.escape, self.needed))})-\d[^/]*\.jar")
            with tarfile.open(archive) as jars:
                for member in jars:
                    file = member.name.rpartition("/")[2]
                    if wanted.fullmatch(file) and (jar := jars.extractfile(member)) is not None:
                        (folder / file).write_bytes(jar.read())

        own = fetching.kept(f"{name}-{version}", fill)
        connect = (
            path
            for path in engine_jars().iterdir()
            if path.name.startswith(("connect-json", "connect-runtime", "jackson-"))
        )
        return ":".join((f"{own}/*", *map(str, sorted(connect))))
