"""The workflows of GitHub and the action, without GitHub: their schemas, and what they run.

`samples/github-workflow.json.gz` and `github-action.json.gz` are SchemaStore's schemas (Apache License 2.0) as PyPI's
check-jsonschema 0.39.0 brings them, without white space. `actionlint`, which the workflow `tests` runs, finds nothing.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import jsonschema
import pytest
import yaml

from simulator.cli.commands import cli

ROOT: Final = Path(__file__).parents[1]
SAMPLES: Final = Path(__file__).parent / "samples"
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION: Final = ROOT / ".github" / "actions" / "run" / "action.yml"


def loaded(path: Path) -> dict[str, Any]:
    """The document; YAML 1.1 reads the key `on` as true."""
    document: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return {"on" if key is True else key: value for key, value in document.items()}


def schema(name: str) -> Any:
    return json.loads(gzip.decompress((SAMPLES / f"{name}.json.gz").read_bytes()))


def steps() -> list[dict[str, Any]]:
    jobs = [job for path in WORKFLOWS for job in loaded(path)["jobs"].values()]
    return [step for job in (*jobs, loaded(ACTION)["runs"]) for step in job.get("steps", ())]


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_github_takes_the_file(path: Path) -> None:
    jsonschema.validate(loaded(path), schema("github-action" if path == ACTION else "github-workflow"))


def test_there_are_workflows_for_all_that_is_released() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "tests", "wheels"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_end_and_may_only_do_what_they_need(path: Path) -> None:
    document = loaded(path)
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert "uses" in job or job["timeout-minutes"] <= 60


def test_actions_of_others_have_a_version() -> None:
    used = {step["uses"] for step in steps() if "uses" in step}
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1)", name) for name in used), used


def test_scripts_and_commands_that_workflows_run_are_there() -> None:
    scripts, commands = set(), set()
    for line in (line for step in steps() for line in step.get("run", "").splitlines()):
        scripts |= set(re.findall(r"\.ci/\S+", line))
        for text in re.findall(r"(?:^|&& )cdcsim (.+?)(?= &&|$)", line):
            command, *arguments = shlex.split(text)
            if "html" in text:
                arguments[-1] = "page.html"
            cli.commands[command].make_context(command, arguments)
            commands.add(command)
    assert scripts == {".ci/run", ".ci/release", ".ci/wheels.py"}
    assert all((ROOT / script).is_file() for script in scripts)
    assert commands == {"run", "compare"}


def test_the_action_runs_what_its_inputs_say(tmp_path: Path) -> None:
    """The shell of its step, with `cdcsim` of this environment in place of an installed one."""
    document = loaded(ACTION)
    (step,) = (step for step in document["runs"]["steps"] if step.get("id") == "run")
    program = tmp_path / "cdcsim" / "bin" / "cdcsim"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m simulator "$@"\n')
    program.chmod(0o755)
    inputs = {name: str(value.get("default", "")) for name, value in document["inputs"].items()}
    # a name that a shell would run stays a name
    inputs |= {
        "scenario": "tour",
        "format": "canal-json",
        "to": f"file:{tmp_path}/$(touch oops)",
        "arguments": "-q --limit 3",
    }
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step["env"].items()
    }
    environment |= {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output"), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-e", "-c", step["run"]], check=True, cwd=ROOT, env=environment, timeout=600)
    summary = tmp_path / "cdcsim-summary.json"
    assert (tmp_path / "output").read_text() == f"summary={summary}\n"
    assert json.loads(summary.read_text())["changes"] >= 3
    assert list((tmp_path / "$(touch oops)").iterdir())
    assert document["outputs"]["summary"]["value"] == "${{ steps.run.outputs.summary }}"


@pytest.fixture
def parts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_parts", ROOT / ".ci" / "wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notes_of_a_release_are_its_section(parts: ModuleType) -> None:
    changelog = "# Changelog\n\n## Unreleased\n\n* new\n\n## 0.2.0 - 2026-11-27\n\n* a\n* b\n\n## 0.1.0\n\n* old\n"
    assert parts.notes("v0.2.0", changelog, "0.2.0") == "* a\n* b"
    with pytest.raises(ValueError, match=r"^the tag is v0\.2\.1, and simulator/__init__\.py says 0\.2\.0$"):
        parts.notes("v0.2.1", changelog, "0.2.0")
    with pytest.raises(ValueError, match=r"^CHANGELOG\.md has no section for 0\.3\.0$"):
        parts.notes("v0.3.0", changelog, "0.3.0")
