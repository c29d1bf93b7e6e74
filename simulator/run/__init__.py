"""One run: a scenario and a format are a job (`job`), which has a plan of blocks (`plan`). These are rendered
(`render`), sent and counted (`pipeline`), as fast as `pacing` allows. `library` is for users of the package. Read `job`
first.
"""
