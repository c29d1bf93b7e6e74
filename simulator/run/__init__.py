"""One run. A request (`request`) is checked and opened in one place (`session`): a scenario (`scenario`) and a format
are a job (`job`), which has a plan of blocks (`plan`). These are rendered (`render`; in several processes:
`processes`), sent and counted (`pipeline`), as fast as `pacing` allows. A run that can be resumed (`resume`) keeps its
position in a file (`bookmark`). `report` says what a run did, or would do. Read `session` first; users of the package
call `simulator.library`.
"""
