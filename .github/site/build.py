"""The site of documents, from the Markdown of the repository as it stands.

    pip install -e '.[site]' && python .github/site/build.py site

Pages keep their places. A link to a file that is no page leads to the file on GitHub. The page of all formats, which
`cdcsim compare --html` writes, is added as `formats.html`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
FILES_ON_GITHUB: Final = "https://github.com/cdc-simulator/cdc-simulator/blob/main/"
PICTURES: Final = ROOT / ".github" / "pictures"
LINK: Final = re.compile(r"\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


def pages(navigation: Any) -> Iterator[str]:
    """The paths of the pages in mkdocs' navigation, in its order."""
    if isinstance(navigation, str):
        yield navigation
    elif isinstance(navigation, Mapping):
        for value in navigation.values():
            yield from pages(value)
    else:
        for each in navigation:
            yield from pages(each)


def page_text(name: str, known: set[str]) -> str:
    """A page whose links lead to pages of the site, to its pictures, or to GitHub."""
    folder = (ROOT / name).parent

    def link(match: re.Match[str]) -> str:
        target, anchor = (folder / match[1]).resolve(), match[2] or ""
        if target.is_dir():
            target = target / "README.md"
        path = target.relative_to(ROOT).as_posix()
        if path in known:
            return match[0] if not match[1].endswith("/") else f"]({match[1]}README.md{anchor})"
        if target.parent == PICTURES:
            return f"]({'../' * name.count('/')}pictures/{target.name})"
        return f"]({FILES_ON_GITHUB}{path}{anchor})"

    return LINK.sub(link, (ROOT / name).read_text("utf-8"))


def navigation() -> Any:
    import yaml

    # the tag of the slugs' function is mkdocs' own
    text = re.sub(r"!!python/\S+", "", (HERE / "mkdocs.yml").read_text("utf-8"))
    return yaml.safe_load(text)["nav"]


def copy_pages(folder: Path) -> None:
    """Writes the pages of the navigation and the pictures into a folder."""
    known = set(pages(navigation()))
    for name in sorted(known):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(page_text(name, known), encoding="utf-8")
    shutil.copytree(PICTURES, folder / "pictures", ignore=shutil.ignore_patterns("*.sh"))


def main(site: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copy_pages(folder / "docs")
        settings = (HERE / "mkdocs.yml").read_text("utf-8")
        (folder / "mkdocs.yml").write_text(f"{settings}docs_dir: docs\n", encoding="utf-8")
        subprocess.run(
            [
                sys.executable,
                "-m",
                "mkdocs",
                "build",
                "--strict",
                "-q",
                "-f",
                folder / "mkdocs.yml",
                "-d",
                site.resolve(),
            ],
            check=True,
        )
    subprocess.run([sys.executable, "-m", "simulator", "compare", "--html", site / "formats.html"], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
