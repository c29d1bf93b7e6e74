"""Errors of Spark as sentences."""

from __future__ import annotations

import re

from simulator import errors
from simulator.errors import MissingPackage, SimulatorError, UsageError


class TaskDied(SimulatorError):
    """Raised if Spark could not finish a job, for none of our errors; it may be tried again."""


def sentence(error: Exception) -> SimulatorError:
    """An error of Spark as one of ours: the error that a task raised, or the first line of Spark's message."""
    text = str(error)
    # a task's traceback ends with its error
    if raised := re.findall(r"^\s*simulator\.errors\.(\w+): (.+)$", text, re.MULTILINE):
        name, words = raised[-1]
        kind = getattr(errors, name, SimulatorError)
        return UsageError(words) if issubclass(kind, UsageError) else SimulatorError(words)
    if missing := re.findall(r"ModuleNotFoundError: No module named '([^'.]+)", text):
        return MissingPackage(
            f"the Python of Spark's executors has no package {missing[-1]!r}: install cdc-simulator there, or name a "
            "Python that has it in Spark's setting spark.pyspark.python."
        )
    if missing := re.findall(r'Cannot run program "([^"]+)"', text):
        return SimulatorError(
            f"Spark's executors have no program {missing[-1]!r}: name their Python in its setting spark.pyspark.python."
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return SimulatorError(
            "Spark's executors have another version of Python than the driver: name one of the same version in its "
            "setting spark.pyspark.python."
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = next(
        (line for line in lines if "failed" in line or "Exception" in line), lines[0] if lines else repr(error)
    )
    reason = re.sub(r"^.*?(Job aborted|: )", r"\1", reason, count=1).removeprefix(": ")
    return TaskDied(f"Spark could not do it: {reason[:500].rstrip('.')}.")
