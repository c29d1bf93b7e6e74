"""What is loaded when: looking is cheap, importing is late. Each in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
HEAVY: Final = {"numpy", "pyarrow", "sqlglot", "faker", "pydantic", "yaml", "orjson", "confluent_kafka", "pandas"}
SHOW: Final = "import sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"


@cache
def loaded(program: str) -> set[str]:
    """The top-level packages that a fresh interpreter has after running this."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{SHOW}"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def third_party(names: set[str]) -> set[str]:
    """What Python itself did not bring; some environments load packages at start, which are not ours."""
    return {name for name in names - loaded("") if name not in sys.stdlib_module_names and not name.startswith("_")}


def test_import_simulator_loads_the_standard_library_only() -> None:
    assert third_party(loaded("import simulator")) == {"simulator"}


def test_looking_at_names_loads_nothing() -> None:
    program = (
        "import simulator.formats as f\nfrom simulator import registry\nassert registry.names('format', f.FORMATS)"
    )
    assert third_party(loaded(program)) == {"simulator"}


LOOKING: Final = [["--help"], ["--version"], ["run", "--help"], ["formats"], ["sources"], ["scenarios"]]


def test_looking_loads_nothing_heavy() -> None:
    """One command after the other: what one of them loads, the process has from then on."""
    loaded(
        f"import sys, runpy\nfor words in {LOOKING!r}:\n    sys.argv = ['cdcsim', *words]\n"
        "    try:\n        runpy.run_module('simulator', run_name='__main__', alter_sys=True)\n"
        "    except SystemExit as end:\n        assert not end.code, (words, end.code)\n"
        f"    assert not sys.modules.keys() & {HEAVY!r}, words"
    )


def test_names_of_the_package_are_there() -> None:
    program = "import simulator\nfor name in simulator.__all__: getattr(simulator, name)\nprint()"
    assert "pyarrow" in loaded(program)


def test_unknown_names_of_the_package_are_not() -> None:
    program = (
        "import simulator\ntry: simulator.nope\n"
        "except AttributeError as error: assert 'nope' in str(error)\nelse: raise SystemExit(1)"
    )
    assert "pyarrow" not in loaded(program)


# Windows has neither these modules nor these functions. The platform's name changes last: other packages read it, too.
WINDOWS: Final = """
import os, pkgutil, signal, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("fork", "geteuid", "memfd_create", "pwrite", "sched_getaffinity"):
    vars(os).pop(name, None)
for name in ("SIGALRM", "alarm"):
    vars(signal).pop(name, None)
import simulator
for module in pkgutil.walk_packages(simulator.__path__, "simulator."):
    if not module.name.startswith(("simulator.spark", "simulator.native.build", "simulator.scenarios")):
        __import__(module.name)
sys.platform = "win32"
from simulator.cli import commands
for words in COMMANDS:
    sys.argv = ["cdcsim", *words]
    try:
        commands.main()
    except SystemExit as end:
        sys.stdout.flush()
        print("status", end.code, file=sys.stderr, flush=True)
"""


def test_windows_runs_in_one_process(tmp_path: Path) -> None:
    """As far as it shows here: nothing is imported that Windows lacks, and what needs more is refused in a sentence."""
    run = ["run", "tour", "-f", "canal-json", "--limit", "5", "-q"]
    commands = [
        [*run, "--to", f"file:{tmp_path}/messages"],
        [*run, "--workers", "2"],
        [*run, "--to", f"file:{tmp_path}/resumed", "--resume", f"{tmp_path}/position"],
        ["explore", "tour", "--no-browser"],
    ]
    program = f"COMMANDS = {commands!r}\n{WINDOWS}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stderr.splitlines() == [
        "status 0",
        "cdcsim: --workers 2: on Windows a run is one process; leave --workers out.",
        "status 2",
        f"cdcsim: --resume {tmp_path}/position: its lock needs a POSIX system; leave --resume out on Windows.",
        "status 2",
        "cdcsim: the live page needs a POSIX system; on Windows write a page with `cdcsim compare --html`.",
        "status 2",
    ]
    assert sum(len(file.read_bytes().splitlines()) for file in (tmp_path / "messages").iterdir()) > 1
