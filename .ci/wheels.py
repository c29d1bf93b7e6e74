"""Parts of a release that are easier said in Python. `notes` needs Python alone, the others the tools of .ci/release.

python .ci/wheels.py platforms       the names of CDCSIM_BUILD, one a line
python .ci/wheels.py version DIST    the version of the files in a folder
python .ci/wheels.py check DIST      what wheels of each platform hold, against their tags
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
LIBRARY: Final = "simulator/native/cdcsim.lib"
CPU_TYPES: Final = {"x86_64": 0x01000007, "arm64": 0x0100000C}
LC_BUILD_VERSION: Final = 0x32


def build_hook() -> ModuleType:
    """The build hook as a module; it needs hatchling."""
    spec = importlib.util.spec_from_file_location("build_hook", ROOT / "simulator/native/build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version(dist: Path) -> str:
    (archive,) = dist.glob("cdc_simulator-*.tar.gz")
    return archive.name.removeprefix("cdc_simulator-").removesuffix(".tar.gz")


def notes(tag: str, changelog: str, own: str) -> str:
    """The section of a release. Raises ValueError for a tag that is not of this version, or not in the changelog."""
    if tag != f"v{own}":
        raise ValueError(f"the tag is {tag}, and simulator/__init__.py says {own}")
    for section in re.split(r"^(?=## )", changelog, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        if own in re.findall(r"\d+\.\d+\.\d+", heading):
            return text.strip()
    raise ValueError(f"CHANGELOG.md has no section for {own}")


def check(dist: Path) -> None:
    """Raises AssertionError for a platform without its wheel, and for a wheel that promises what it does not hold."""
    tags = {name: target.tag for name, target in build_hook().TARGETS.items()}
    wheels = {file.name.removesuffix(".whl").split("-", 4)[4]: file for file in dist.glob("*.whl")}
    assert sorted(wheels) == sorted(["any", *tags.values()]), f"{dist} has wheels for {sorted(wheels)}"
    with zipfile.ZipFile(wheels["any"]) as archive:
        assert LIBRARY not in archive.namelist(), "the wheel for any platform has a compiled library"
    for name, tag in tags.items():
        assert version(dist) in wheels[tag].name
        if name.startswith("macosx"):
            check_macos(wheels[tag], name.removeprefix("macosx_"))
        else:
            check_linux(wheels[tag], tag.partition(".")[0])
        print(f"{wheels[tag].name}: as its tag says")


def check_linux(wheel: Path, tag: str) -> None:
    """auditwheel, which looks for libraries nowhere on this machine, finds the wheel to be of its tag."""
    command = [sys.executable, "-m", "auditwheel", "show", "--json", "--ldpaths", "/nonexistent", str(wheel)]
    report: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert report["overall_tag"] == tag, f"{wheel.name}: auditwheel says {report['overall_tag']}"


def check_macos(wheel: Path, machine: str) -> None:
    """The library is for this machine and for macOS 11, and needs the system's library alone."""
    from macholib.MachO import MachO

    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        (header,) = MachO(archive.extract(LIBRARY, folder)).headers
    assert header.header.cputype == CPU_TYPES[machine], f"{wheel.name}: cputype {header.header.cputype:#x}"
    needed = [bytes(data).rstrip(b"\0").decode() for _, _, data in header.commands if isinstance(data, bytes)]
    libraries = [name for name in needed if name.endswith(".dylib") and name.startswith("/")]
    assert libraries == ["/usr/lib/libSystem.B.dylib"], f"{wheel.name}: needs {libraries}"
    (oldest,) = [command.minos for load, command, _ in header.commands if load.cmd == LC_BUILD_VERSION]
    assert int(oldest) >> 16 == 11, f"{wheel.name}: for macOS {int(oldest) >> 16}"


def main(command: str, *argument: str) -> None:
    match command:
        case "platforms":
            print(*build_hook().TARGETS, sep="\n")
        case "version":
            print(version(Path(*argument)))
        case "check":
            check(Path(*argument))
        case "notes":
            (own,) = re.findall(
                r'^__version__ = "(.+)"', (ROOT / "simulator/__init__.py").read_text("utf-8"), re.MULTILINE
            )
            print(notes(*argument, (ROOT / "CHANGELOG.md").read_text("utf-8"), own))


if __name__ == "__main__":
    main(*sys.argv[1:])
