"""The table of generators in `scenarios/README.md`; `python -m simulator.stream.generators.reference` writes it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from simulator.stream.generators import everything

README: Final = Path(__file__).parents[3] / "scenarios" / "README.md"
_MARKED: Final = re.compile(r"(?<=generators.reference` -->\n).*?(?=<!-- end of generators -->)", re.DOTALL)


def section() -> str:
    """The table, generated from the generators' descriptions."""
    lines = ["", "| `values` | what the values are | columns of | example |", "| --- | --- | --- | --- |"]
    for generator in everything():
        fits = ", ".join(generator.fits) or "any type"
        lines.append(f"| `{generator.name}` | {generator.doc} | {fits} | `{generator.example}` |")
    return "\n".join([*lines, "", ""])


def written(text: str) -> str:
    """The reference with the table inserted."""
    return _MARKED.sub(lambda match: section(), text)


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
