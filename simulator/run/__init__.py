"""One run: a scenario and a format made into a job (`job`), blocks rendered (`render`), sent and counted (`pipeline`),
as fast as `pacing` allows. Read `job` first.
"""
