"""One run: a scenario and a format are a job (`job`), which has a plan of blocks (`plan`). These are rendered
(`render`; in several processes: `workers`), sent and counted (`pipeline`), as fast as `pacing` allows. A run that goes
on (`resume`) has its position in a file (`bookmark`); `record`, `latencies` and `metrics` say what it did, `estimate`
what it would do. `library` is for users of the package. Read `job` first.
"""
