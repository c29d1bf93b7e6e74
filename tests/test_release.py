"""What a release says of itself: version, changelog, extras, PyPI's page, the platforms of its wheels."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import pytest
from packaging.tags import parse_tag
from packaging.version import Version

import simulator

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: Final[dict[str, list[str]]] = PROJECT["project"]["optional-dependencies"]


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build hook, where hatchling is not installed, too."""
    interface = SimpleNamespace(BuildHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    for parent in ("hatchling", "hatchling.builders", "hatchling.builders.hooks", "hatchling.builders.hooks.plugin"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    spec = importlib.util.spec_from_file_location("build_hook", ROOT / "simulator" / "native" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_has_one_home_and_the_changelog_ends_with_it() -> None:
    """A section `Unreleased` stands above the releases; the newest of these is the version, or the one before it."""
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "simulator/__init__.py"
    assert "version" in PROJECT["project"]["dynamic"]
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    unreleased = headings[0] == "Unreleased"
    releases = [Version(re.findall(r"\d+\.\d+\.\d+", heading)[0]) for heading in headings[unreleased:]]
    assert unreleased or releases
    assert releases == sorted(set(releases), reverse=True)
    current = Version(simulator.__version__)
    assert not releases or releases[0] == current or (unreleased and releases[0] < current)


def test_links_of_pypis_page_lead_to_the_release() -> None:
    page = readme = (ROOT / "README.md").read_text("utf-8")
    for substitution in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        replacement = substitution["replacement"].replace("$HFPR_VERSION", simulator.__version__)
        page = re.sub(substitution["pattern"], replacement, page)
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert len(targets) == len(re.findall(r"\]\(([^)]+)\)", readme)) > 10
    assert all(target.startswith(("https://", "#")) for target in targets)
    repository = PROJECT["project"]["urls"]["Source"]
    assert f"]({repository}/blob/v{simulator.__version__}/docker/README.md)" in page
    assert "](https://raw.githubusercontent.com/cdc-simulator/cdc-simulator/v" in page


def test_the_action_of_the_page_of_tasks_is_of_this_version() -> None:
    versions = re.findall(
        r"/\.github/actions/run@v(\S+)", (ROOT / "simulator" / "cli" / "README.md").read_text("utf-8")
    )
    assert versions == [simulator.__version__]


def test_extras_are_on_the_page_of_installing_and_all_is_all() -> None:
    (every,) = EXTRAS["all"]
    named = set(re.findall(r"[\w-]+", every.partition("[")[2]))
    # pyspark[connect] is pyspark and more
    assert named | {"spark"} == EXTRAS.keys() - {"all", "site", "test"}
    assert set(EXTRAS["test"]) > {every.replace("all", "")}
    page = (ROOT / "simulator" / "INSTALL.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == EXTRAS.keys() - {"site", "test"}


def test_wheels_have_a_tag_for_each_platform(hook: ModuleType) -> None:
    for name, (triple, tag) in hook.TARGETS.items():
        system, _, machine = name.partition("_")
        for part in parse_tag(f"py3-none-{tag}"):
            assert part.platform.endswith(f"_{machine}"), name
            assert part.platform.startswith(system), name
        assert triple.startswith(machine.replace("arm64", "aarch64")), name


def test_a_wheel_is_for_this_machine_or_for_the_platform_that_is_named(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_platform", lambda: "macosx-14.0-arm64")
    tags = {}
    for name in ("", "pure", "musllinux_aarch64"):
        monkeypatch.setenv("CDCSIM_BUILD", name)
        tags[name] = hook.platform_tag()
    assert tags == {"": "macosx_14_0_arm64", "pure": "macosx_14_0_arm64", "musllinux_aarch64": "musllinux_1_2_aarch64"}
    monkeypatch.setenv("CDCSIM_BUILD", "beos_x86_64")
    sentence = "CDCSIM_BUILD=beos_x86_64: it is pure, manylinux_x86_64, .*, or empty for this machine."
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        hook.target()
