"""One run. What is asked for (`request`) is checked and opened in one place (`session`): a scenario (`scenario`) and a
format are a job (`job`), which has a plan of blocks (`plan`). These are rendered (`render`; in several processes:
`workers`), sent and counted (`pipeline`), as fast as `pacing` allows. A run that can be resumed (`resume`) keeps its
position in a file (`bookmark`). `account`, `record` and `metrics` say what a run did, `estimate` what it would do. Read
`session` first; users of the package call `simulator.library`.
"""
