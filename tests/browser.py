"""Headless Chromium and axe-core, for tests of pages.

CDCSIM_CHROMIUM names the program. Without it, one on the PATH is used, or else Debian's package, which is unpacked into
the cache as those of brokers are; no root needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from jars import Jars
from native import native

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
OPTIONS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
INSTEAD: Final = "install Chromium or Chrome, or name its program in CDCSIM_CHROMIUM."
# axe.min.js 4.10.2 is in it.
AXE: Final = Jars("axe-4.10.2", ("com.deque.html.axe-core:selenium:4.10.1",))


@cache
def program() -> tuple[str, Mapping[str, str]]:
    """The path of Chromium and the environment that it needs. Raises NativeError, in one sentence."""
    if named := os.environ.get("CDCSIM_CHROMIUM"):
        if not shutil.which(named):
            raise native("fetching").NativeError(f"CDCSIM_CHROMIUM names {named!r}, which is no program.")
        return named, {}
    if installed := next(filter(None, map(shutil.which, PROGRAMS)), None):
        return installed, {}
    root: Path = native("fetching").debian("chromium", instead=INSTEAD)
    libraries = sorted({str(file.parent) for file in (root / "usr/lib").glob("*-linux-gnu/**/*.so*")})
    return str(root / "usr/lib/chromium/chromium"), {
        "LD_LIBRARY_PATH": ":".join([*libraries, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]),
        # Fonts and their settings where the machine has none of its own.
        **({} if Path("/etc/fonts/fonts.conf").exists() else {"FONTCONFIG_PATH": str(root / "etc/fonts")}),
        "XDG_DATA_HOME": str(root / "usr/share"),
    }


def chromium(address: str, *arguments: str) -> str:
    """What headless Chromium prints for an address; a machine without it fails the test."""
    try:
        path, environment = program()
    except native("fetching").NativeError as error:
        pytest.fail(str(error), pytrace=False)
    profile = tempfile.mkdtemp(prefix="cdcsim-chromium-")
    try:
        done = subprocess.run(
            [path, *OPTIONS, f"--user-data-dir={profile}", *arguments, address],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, **environment},
        )
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    assert not done.returncode, f"Chromium ended with exit status {done.returncode}:\n{done.stderr[-2000:]}"
    return done.stdout


@cache
def axe() -> str:
    """axe-core as a text that can stand in a script element."""
    (jar,) = AXE.folder().glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        return archive.read("axe.min.js").decode().replace("</script", "<\\/script")
