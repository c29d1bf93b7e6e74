"""Opening Spark, and its errors as sentences."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from typing import Any, Final

from simulator import errors
from simulator.errors import MissingPackage, OptionError, SimulatorError, UsageError

INSTALL: Final = "--engine spark needs pyspark 4.2 or later: pip install 'cdc-simulator[spark]'."
JAVA: Final = "--engine spark needs Java 17 or later: install a JRE, or let JAVA_HOME name one."

# Unless --conf says otherwise.
SETTINGS: Final = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.executorEnv.MIMALLOC_PURGE_DELAY": "5000",  # as the command sets it for itself
    # Python may take longer than 15 s to start where a machine is busy.
    "spark.python.authenticate.socketTimeout": "2min",
}
LOCAL_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Python renders and writes. Java starts and hands out tasks, for which its best compiler costs more than it gains.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def parse_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """`--conf spark.executor.memory=4g`, each. Raises OptionError."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.startswith("spark.") and equals):
            raise OptionError(f"--conf {text}: write a setting of Spark, as in spark.executor.memory=4g.")
        settings[name] = value
    return settings


def open_session(master: str | None, settings: Mapping[str, str]) -> tuple[Any, bool]:
    """A session, and whether it was opened here: one that is there already is used as it is.

    Without a master that of spark-submit is used, else `local[*]`. Raises MissingPackage, UsageError, SimulatorError.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPackage(INSTALL) from None
    if (active := SparkSession.getActiveSession()) is not None:
        return active, False
    if master is not None and master.startswith("sc://"):
        raise UsageError(
            f"--master {master}: Spark Connect keeps Spark's driver on its server, and a run leads from the driver; "
            "name the cluster itself."
        )
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # by spark-submit, which has started Java
    if not submitted and shutil.which("java", path=_java_path()) is None:
        raise MissingPackage(JAVA)
    if "spark.pyspark.python" in settings:
        os.environ["PYSPARK_PYTHON"] = settings["spark.pyspark.python"]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("cdcsim")
    if master is None and not submitted:
        master = "local[*]"
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            settings = {**LOCAL_SETTINGS, **settings}
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate(), True
    except PySparkException as error:
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise MissingPackage(f"Java did not start, or is too old (its words stand above). {JAVA}") from None
        raise sentence(error) from None
    except Exception as error:
        raise sentence(error) from None


def _java_path() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin") if home else None


def sentence(error: Exception) -> SimulatorError:
    """What failed on Spark as one of our errors: a task's own, or Spark's first words."""
    text = str(error)
    # a task's traceback ends with its error
    if raised := re.findall(r"^\s*simulator\.errors\.(\w+): (.+)$", text, re.MULTILINE):
        name, words = raised[-1]
        kind = getattr(errors, name, SimulatorError)
        return UsageError(words) if issubclass(kind, UsageError) else SimulatorError(words)
    if missing := re.findall(r"ModuleNotFoundError: No module named '([^'.]+)", text):
        return MissingPackage(
            f"the Python of Spark's executors has no package {missing[-1]!r}: install cdc-simulator there, or name a "
            "Python that has it with --conf spark.pyspark.python=FILE."
        )
    if missing := re.findall(r'Cannot run program "([^"]+)"', text):
        return SimulatorError(
            f"Spark's executors have no program {missing[-1]!r}: name their Python, --conf spark.pyspark.python=FILE."
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return SimulatorError(
            "Spark's executors have another version of Python than the driver: name one of the same version with "
            "--conf spark.pyspark.python=FILE."
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = next(
        (line for line in lines if "failed" in line or "Exception" in line), lines[0] if lines else repr(error)
    )
    reason = re.sub(r"^.*?(Job aborted|: )", r"\1", reason, count=1).removeprefix(": ")
    return SimulatorError(f"Spark could not do it: {reason[:500].rstrip('.')}.")
