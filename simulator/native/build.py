"""Build hook: compiles `simulator/native` into the wheel, or beside its sources for an editable install.

With the machine's C compiler, or where there is none with the one of PyPI's `ziglang`. Without either, the wheel has no
library and works all the same, several times slower; CDCSIM_BUILD=pure asks for that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = Path("simulator/native")
LIBRARY = Path("simulator/native/cdcsim.lib")
ZIG = "ziglang"


class NativeHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there while a wheel is built
    """Compiles the library before the files of a wheel are collected."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Where the machine has no compiler, one from PyPI, if pip finds it: a dependency that is not there would fail
        the installation."""
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
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(LIBRARY.as_posix())


def pure() -> bool:
    return os.environ.get("CDCSIM_BUILD") == "pure"


def compiler() -> list[str] | None:
    """The command of a C compiler; None if the machine has none."""
    chosen = os.environ.get("CC", "").split()
    names = [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]
    return next((name for name in names if shutil.which(name[0])), None)


def found(package: str) -> bool:
    """Whether pip finds a package; without pip, which another installer may do without, it is taken to be there."""
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--retries", "1", "--timeout", "10"]
    # isolated: pip itself is not in the environment of a build
    command = [sys.executable, "-I", "-m", "pip", "install", *options, package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return not done.returncode or "No module named pip" in done.stderr


def compiled(sources: Path, library: Path) -> bool:
    """Whether the library could be compiled of the C files in a folder."""
    command = compiler() or [sys.executable, "-m", "ziglang", "cc"]
    options = ["-O3", "-shared", *([] if os.name == "nt" else ["-fPIC"])]
    files = map(str, sorted(sources.glob("*.c")))
    try:
        subprocess.run([*command, *options, "-o", str(library), *files], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
