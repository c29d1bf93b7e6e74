"""The scenarios that come with the package, and their descriptions. Imports nothing: listing them is quick."""

from __future__ import annotations

from pathlib import Path


def shipped() -> dict[str, Path]:
    """The scenarios that come with the package, by name: inside it in a wheel, next to it in a checkout."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "scenarios", package.parent / "scenarios"):
        if paths := sorted(folder.glob("*.yaml")):
            return {path.stem: path for path in paths}
    return {}


def about(path: Path) -> str:
    """The first comment paragraph of a scenario file: what it imitates and what it is for."""
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("#") and text.strip("# "):
            lines.append(text.lstrip("#").strip())
        elif lines or (text and not text.startswith("#")):
            break
    return " ".join(lines)
