"""Jars of Maven Central, fetched once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from native import native


@dataclass(frozen=True)
class Jars:
    """The jars of one reader: `group:artifact:version` each, and nothing of what they depend on."""

    name: str
    artifacts: tuple[str, ...]

    def pom(self) -> str:
        """A project that depends on these and on nothing else."""
        parts = []
        for artifact in self.artifacts:
            group, name, version = map(escape, artifact.split(":"))
            parts.append(
                f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
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
