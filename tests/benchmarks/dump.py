"""A mysqldump of 50 MB as `canal-json`, on rows in memory: processor seconds and peak memory of the command."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from measure import ROOT, cdcsim, table

sys.path.insert(0, str(ROOT / "tests"))

from dumps import dump

ROWS = 366_000


def run(folder: Path, *, quick: bool) -> None:
    count = ROWS // 10 if quick else ROWS
    file = folder / "dump.sql"
    with file.open("w", encoding="utf-8") as out:
        out.writelines(dump(count))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = cdcsim("run", file, "-f", "canal-json", "-q", "--to", f"file:{folder / 'messages'}")
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    table(
        f"dump: {count:,} rows in {file.stat().st_size / 1e6:.0f} MB of SQL, as canal-json to a file",
        ("", "processor seconds", "peak memory"),
        [["cdcsim run", f"{seconds:.1f}", f"{after.ru_maxrss / 1024:.0f} MiB"]],
        "The start of Python and its imports included. The peak is that of the largest command so far.",
    )
