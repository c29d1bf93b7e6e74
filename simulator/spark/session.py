"""Opening Spark: a driver in this process, or a session on a Spark Connect server."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from simulator.errors import MissingPackage, OptionError, SimulatorError, UsageError
from simulator.spark.classic import ClassicJobs
from simulator.spark.connect import ConnectJobs
from simulator.spark.failures import sentence

INSTALL: Final = "--engine spark needs pyspark 4.2 or later: pip install 'cdc-simulator[spark]'."
JAVA: Final = "--engine spark needs Java 17 or later: install a JRE, or let JAVA_HOME name one."
CONNECT: Final = "sc://"
CONNECT_PORT: Final = 15002
CONNECT_SECONDS: Final = 10
SERVERS: Final = re.compile(r"spark://([^\s:/,]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})((?:,[^\s:/,]+:\d{1,5})*)")
# What Spark takes as a master, but for spark:// and sc://; it says of a wrong one that Java did not start.
MASTERS: Final = re.compile(
    r"local(\[(\d+|\*)(\s*,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|yarn|k8s://\S+"
)

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
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPackage(INSTALL) from None
    if (active := SparkSession.getActiveSession()) is not None:
        return active, False
    if master is not None and master.startswith(CONNECT):
        return _connected(master, settings), True
    if master is not None:
        check_master(master)
    return _started(master, settings), True


def check_master(master: str) -> None:
    """Raises OptionError for a text that is no master, and SimulatorError for a standalone cluster that does not
    answer: Spark would try for a minute."""
    if MASTERS.fullmatch(master):
        return
    if not SERVERS.fullmatch(master):
        raise OptionError(
            f"--master {master}: write local[4], local[*], spark://host:7077, yarn, k8s://https://host:6443 or"
            " sc://host:15002."
        )
    reason = ""
    for server in master.removeprefix("spark://").split(","):
        host, _, port = server.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
            return
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
    raise SimulatorError(f"--master {master}: no Spark master answers there: {reason}.")


def set_executors_python() -> None:
    """Makes this process's Python that of the executors, unless PYSPARK_PYTHON names another one.

    Spark's own default is `python3` on the PATH, which in a virtual environment that is not activated lacks this
    package. A driver that runs already gets it, too.
    """
    if "PYSPARK_PYTHON" in os.environ:
        return
    import pyspark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # a client of Spark Connect may have no SparkContext
    context = getattr(getattr(pyspark, "SparkContext", None), "_active_spark_context", None)
    if context is not None and context.getConf().get("spark.pyspark.python") is None:
        context.pythonExec = sys.executable


def jobs_of(session: Any) -> type[ClassicJobs] | type[ConnectJobs]:
    """The class of jobs for a session."""
    from pyspark.sql import SparkSession

    return ClassicJobs if isinstance(session, SparkSession) else ConnectJobs


def _started(master: str | None, settings: Mapping[str, str]) -> Any:
    """A session whose driver is here."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # by spark-submit, which has started Java
    if not submitted and shutil.which("java", path=_java_path()) is None:
        raise MissingPackage(JAVA)
    if "spark.pyspark.python" in settings:
        os.environ["PYSPARK_PYTHON"] = settings["spark.pyspark.python"]
    set_executors_python()
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
        return builder.getOrCreate()
    except PySparkException as error:
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise MissingPackage(f"Java did not start, or is too old (its words stand above). {JAVA}") from None
        raise sentence(error) from None
    except Exception as error:
        raise sentence(error) from None


def _java_path() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin") if home else None


def _connected(master: str, settings: Mapping[str, str]) -> Any:
    """A session on a Spark Connect server."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        url = urlsplit(master)
        address = url.hostname or "", url.port or CONNECT_PORT
    except ValueError:
        address = "", 0
    if not address[0]:
        raise OptionError("--master: write the URL of a Spark Connect server as sc://host:15002.")
    where = f"--master {CONNECT}{address[0]}:{address[1]}"  # behind that there may be a token
    try:
        import pyspark.sql.connect.session  # noqa: F401
    except ImportError as error:
        words = str(error).partition("] ")[2] or str(error)
        raise MissingPackage(f"{where}: {words.rstrip('.')}: pip install 'cdc-simulator[connect]'.") from None
    try:
        socket.create_connection(address, CONNECT_SECONDS).close()  # Spark would try for ten minutes
        session = SparkSession.builder.remote(master).getOrCreate()
        session.version  # noqa: B018 (the first thing that the server is asked)
    except OSError as error:
        raise SimulatorError(f"{where}: no Spark Connect server answers there: {error.strerror or error}.") from None
    except Exception as error:
        raise sentence(error) from None
    for name, value in settings.items():
        try:
            session.conf.set(name, value)
        except PySparkException:
            raise UsageError(
                f"--conf {name}={value}: this is not a session's setting; give it to the server when it is started."
            ) from None
    return session
