#!/usr/bin/env python3
"""Measure and print; nothing here fails on a time.

python tests/benchmarks/run.py                      all of them, some minutes
python tests/benchmarks/run.py encode run --quick   two of them, shorter and rougher
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

# As the command sets it for itself, before Arrow is loaded.
os.environ.setdefault("MIMALLOC_PURGE_DELAY", "5000")

import bound
import dump
import encode
import latency
import measure
import memory
import produce
import stages
import steady
import verify
import whole
from load_tools import TOOLS

from simulator.formats import FORMATS

NAMES = ("stages", "bound", "encode", "run", "produce", "memory", "steady", "latency", "dump", "verify")


def main() -> None:
    parser = argparse.ArgumentParser(description="Ratios that are taken in one run on this machine; see README.md.")
    parser.add_argument("names", nargs="*", metavar="|".join(NAMES), help="what to measure; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer messages and rounds")
    parser.add_argument("--scenario", help="default: all shipped ones for stages, crud for the rest")
    parser.add_argument("--format", help="default: all formats for encode, eight for stages, canal-json for the rest")
    parser.add_argument("--source", help="source system for encode; default: the scenario's")
    parser.add_argument("--broker", choices=TOOLS, help="for produce and steady; default: all three")
    parser.add_argument(
        "--changes",
        type=int,
        help="row changes of run (default: 2 million, 200,000 with --quick) and of verify (10 million, 1 million)",
    )
    parser.add_argument("--folder", help="where scratch files go, up to 2 GB; default: the system's temporary folder")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}: choose from {', '.join(NAMES)}")
    scenario, format, quick = options.scenario or "crud", options.format or "canal-json", options.quick
    brokers = {kind: tool for kind, tool in TOOLS.items() if options.broker in (None, kind)}
    print(measure.machine())
    for name in options.names or NAMES:
        with measure.others(), tempfile.TemporaryDirectory(prefix="cdcsim-bench-", dir=options.folder) as scratch:
            match name:
                case "stages":
                    scenarios = [options.scenario] if options.scenario else stages.SHIPPED
                    stages.run(scenarios, [options.format] if options.format else stages.FORMATS, quick=quick)
                case "bound":
                    bound.run(quick=quick)
                case "encode":
                    formats = [options.format] if options.format else list(FORMATS)
                    encode.run(scenario, formats, options.source, quick=quick)
                case "run":
                    whole.run(scenario, format, Path(scratch), options.changes, quick=quick)
                case "produce":
                    produce.run(scenario, format, Path(scratch), brokers=brokers, quick=quick)
                case "memory":
                    memory.run(scenario, format, quick=quick)
                case "steady":
                    steady.run(scenario, format, Path(scratch), brokers=brokers, quick=quick)
                case "latency":
                    latency.run(scenario, format, quick=quick)
                case "dump":
                    dump.run(Path(scratch), quick=quick)
                case "verify":
                    verify.run(scenario, format, Path(scratch), count=options.changes, quick=quick)


if __name__ == "__main__":
    main()
