"""Runs on Spark: the same blocks, rendered by the same functions, in tasks. README.md tells how to run them.

`work` cuts a run into the shares of tasks; `session` opens Spark; `files` is what a task does; `engine` is the run that
the driver leads, `record` its account. Nothing here is imported before Spark is asked for.
"""
