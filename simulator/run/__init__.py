"""One run. A scenario (`scenario`) and a format are a job (`job`), which has a plan of blocks (`plan`). These are
rendered (`render`; in several processes: `workers`), sent and counted (`pipeline`), as fast as `pacing` allows. A run
that can be resumed (`resume`) keeps its position in a file (`bookmark`). `record`, `latencies` and `metrics` say what a
run did, `estimate` what it would do. Read `job` first; users of the package call `simulator.library`.
"""
