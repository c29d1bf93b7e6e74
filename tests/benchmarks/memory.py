"""The most memory that `cdcsim run` holds at once, by the number of changes: it must not grow."""

from __future__ import annotations

from measure import cdcsim, process, progress, table

COUNTS = (100_000, 1_000_000, 10_000_000)
BASE = 1_000_000


def run(scenario: str, format: str, *, quick: bool) -> None:
    peaks: dict[tuple[str, int], int] = {}
    for count in COUNTS[: 2 if quick else 3]:
        for snapshot in ("--no-snapshot", "--snapshot"):
            progress(f"{count:,} changes, {snapshot}")
            command = cdcsim("run", scenario, "-f", format, "-q", snapshot, "--limit", count)
            peaks[snapshot, count] = process(command).peak_bytes
    table(
        f"memory: {scenario}, {format}, to /dev/null",
        ("changes", "peak", f"to that of {BASE:,}", "with --snapshot", f"to that of {BASE:,}"),
        [
            [
                f"{count:,}",
                *(
                    cell
                    for snapshot in ("--no-snapshot", "--snapshot")
                    for cell in (
                        f"{peaks[snapshot, count] / (1 << 20):.0f} MiB",
                        f"{peaks[snapshot, count] / peaks[snapshot, BASE]:.2f}",
                    )
                ),
            ]
            for count in COUNTS
            if ("--snapshot", count) in peaks
        ],
        "The peak of the resident set of the whole process. It must be flat: about 1.",
    )
