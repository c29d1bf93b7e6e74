"""Scenario files, read into the models of the language. Every error is one sentence with file, line and key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from pydantic import ValidationError

from simulator.errors import ScenarioError, UnknownName, UsageError, closest
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.lines import Key, Mapping, dotted, line_of
from simulator.stream.scenario.problems import first_problem, sentence
from simulator.stream.scenario.yaml_text import YamlError, parse

SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class Loaded:
    """A scenario as written: `file` is the name by which the user knows the file, `name` a short one for it."""

    spec: ScenarioSpec
    file: str
    name: str
    data: Mapping = field(repr=False, compare=False)

    def fail(self, path: Key, problem: str) -> NoReturn:
        """Raise ScenarioError: `orders.yaml:14: tables.orders.columns.qty.type: 'varchr' is not a MySQL type.`

        `path` leads to a key of the file, by names and list indexes; the line is that of its nearest ancestor.
        """
        raise ScenarioError(self.file, line_of(self.data, path), dotted(path), sentence(problem))


def load(name_or_path: str) -> Loaded:
    """The scenario in a file, or a shipped one by its name (no separator, no suffix).

    Raises UnknownName, UsageError when there is no such file, ScenarioError for what is in it.
    """
    name = str(name_or_path)
    if "/" not in name and "\\" not in name and not name.endswith(SUFFIXES):
        known = shipped()
        if name not in known:
            hint = "`cdcsim scenarios` lists them all; a file name ends in .yaml or .sql."
            raise UnknownName("scenario", name, known, hint)
        return read(known[name].read_bytes(), f"scenarios/{known[name].name}")
    path = Path(name)
    try:
        return read(path.read_bytes(), name)
    except FileNotFoundError:
        near = closest(path.name, _siblings(path))
        guess = f" Did you mean {str(path.parent / near)!r}?" if near else ""
        raise UsageError(f"there is no scenario file {name!r}.{guess}") from None
    except IsADirectoryError:
        raise UsageError(f"{name!r} is a directory; a scenario is a YAML file or a SQL script.") from None
    except OSError as error:
        raise UsageError(f"the scenario file {name!r} cannot be read: {error.strerror}.") from None


def read(content: bytes | str, file: str) -> Loaded:
    """The scenario in a text; `file` is its name in errors. Raises ScenarioError."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScenarioError(file, line, "", "the file is not valid UTF-8.") from None
    try:
        data = parse(text)
    except YamlError as error:
        raise ScenarioError(file, error.line, "", sentence(error.problem)) from None
    if data is None:
        raise ScenarioError(file, None, "", "the file is empty; a scenario has at least tables.")
    if not isinstance(data, Mapping):
        raise ScenarioError(file, 1, "", "a scenario is a mapping of keys such as tables, lifecycles and script.")
    try:
        spec = ScenarioSpec.model_validate(data)
    except ValidationError as error:
        path, problem = first_problem(error.errors(include_url=False), data)
        raise ScenarioError(file, line_of(data, path), dotted(path), sentence(problem)) from None
    return Loaded(spec, file, Path(file).stem, data)


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


def _siblings(path: Path) -> list[str]:
    try:
        return [entry.name for entry in path.parent.iterdir() if entry.suffix in SUFFIXES]
    except OSError:
        return []
