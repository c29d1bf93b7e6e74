"""Build hook: compiles `simulator/native` into the wheel, or beside its sources for an editable install.

With the machine's C compiler, or where there is none with the one of PyPI's `ziglang`. Without either, the wheel has no
library and works all the same, several times slower; CDCSIM_BUILD=pure asks for that. CDCSIM_BUILD=musllinux_aarch64,
or another name of TARGETS, makes the wheel of a release for that platform, on any machine that has `ziglang`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = Path("simulator/native")
LIBRARY = Path("simulator/native/cdcsim.lib")
ZIG = "ziglang"


class Target(NamedTuple):
    """A platform that a release has a wheel for."""

    triple: str
    """Architecture, system and oldest C library or system version, as Zig writes them."""

    tag: str
    """Platform tag of the wheel (PEP 600, PEP 656)."""


TARGETS = {
    "manylinux_x86_64": Target("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "manylinux_aarch64": Target("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "musllinux_x86_64": Target("x86_64-linux-musl", "musllinux_1_2_x86_64"),
    "musllinux_aarch64": Target("aarch64-linux-musl", "musllinux_1_2_aarch64"),
    "macosx_x86_64": Target("x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macosx_arm64": Target("aarch64-macos.11.0", "macosx_11_0_arm64"),
}


class NativeHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there while a wheel is built
    """Compiles the library before the files of a wheel are collected."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The compiler from PyPI if the machine has none and pip finds it: a missing dependency would fail the
        installation. A target always needs it."""
        if target():
            return [ZIG]
        return [] if pure() or compiler() or not found(ZIG) else [ZIG]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        library = Path(self.root) / LIBRARY
        library.unlink(missing_ok=True)
        if pure() or not compiled(Path(self.root) / SOURCES, library):
            self.app.display_warning("cdcsim: no C compiler: the compiled core is left out, and runs take longer.")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"
        build_data["artifacts"].append(LIBRARY.as_posix())


def pure() -> bool:
    return os.environ.get("CDCSIM_BUILD") == "pure"


def target() -> Target | None:
    """The platform that CDCSIM_BUILD names; None: this machine. Raises ValueError."""
    name = os.environ.get("CDCSIM_BUILD", "")
    if name in ("", "pure"):
        return None
    if name not in TARGETS:
        raise ValueError(f"CDCSIM_BUILD={name}: it is pure, {', '.join(TARGETS)}, or empty for this machine.")
    return TARGETS[name]


def platform_tag() -> str:
    """The wheel's platform tag. A library built for this machine may need all that
    it has, so PyPI rejects such a wheel."""
    chosen_target = target()
    return chosen_target.tag if chosen_target else sysconfig.get_platform().replace("-", "_").replace(".", "_")


def compiler() -> list[str] | None:
    """The command of a C compiler; None if the machine has none."""
    chosen = os.environ.get("CC", "").split()
    names = [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]
    return next((name for name in names if shutil.which(name[0])), None)


def found(package: str) -> bool:
    """Whether pip finds a package; assumed true without pip, which other installers do not need."""
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--retries", "1", "--timeout", "10"]
    # isolated: pip itself is not in the environment of a build
    command = [sys.executable, "-I", "-m", "pip", "install", *options, package]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return not result.returncode or "No module named pip" in result.stderr


def compiled(sources: Path, library: Path) -> bool:
    """Whether the library could be compiled from the C files in a folder. For a target, raises CalledProcessError."""
    files = sorted(map(str, sources.glob("*.c")))
    if chosen_target := target():
        for_target(chosen_target, files, library)
        return True
    command = compiler() or [sys.executable, "-m", ZIG, "cc"]
    options = ["-O3", "-shared", *([] if os.name == "nt" else ["-fPIC"])]
    try:
        subprocess.run([*command, *options, "-o", str(library), *files], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def for_target(named: Target, files: list[str], library: Path) -> None:
    """Compile with Zig. A library for musl is linked to nothing: Zig names musl `libc.so`, which no system has under
    that name, and Python's process brings the two functions (memcpy, memmove) that are used."""
    zig = [sys.executable, "-m", ZIG, "cc", "-target", named.triple]
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        for number, file in enumerate(files):
            objects.append(str(Path(scratch, f"{number}.o")))
            subprocess.run([*zig, "-O3", "-fPIC", "-g0", "-c", "-o", objects[-1], file], check=True)
        alone = ["-nostdlib"] if named.triple.endswith("-musl") else []
        subprocess.run([*zig, "-shared", "-s", *alone, "-o", str(library), *objects], check=True)
