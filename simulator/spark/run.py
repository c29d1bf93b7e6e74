"""A session's run on Spark: into a folder where its sink can write parts of one, else into a broker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simulator.errors import UsageError
from simulator.run.job import Partitions
from simulator.run.session import Session, contents_of
from simulator.sinks.target import Target
from simulator.spark.brokers import Broker, BrokerRun
from simulator.spark.engine import SparkRun
from simulator.spark.files import FileRun, Folder


def spark_run(session: Session, *, remote: bool = False) -> Callable[..., SparkRun]:
    """Makes the run when Spark's session is there. `remote`: its executors have disks of their own. Raises UsageError
    for what the tasks of Spark do not do, and SinkError for a broker that cannot be used."""
    job, to = session.job, session.to
    if job.runs_on_server:
        raise UsageError(
            f"{job.scenario.file}: a server runs this script, and each Spark task would run it again; leave out "
            "--engine spark."
        )
    run: Callable[..., SparkRun]
    if isinstance(to, Target) and to.transport.parts is not None:
        folder = _folder(session, to, remote=remote)
        job = job.addressed(route=job.addressing.route, partitions=Partitions(folder.partitions))
        run = partial(FileRun, job=job, to=folder)
    elif isinstance(to, Target) and to.transport.broker is not None:
        for option in to.transport.one_writer:
            if to.options.get(option) == "true":
                raise UsageError(f"--to {to}: {option}=true is for the local engine; leave it out.")
        broker = Broker(to.url, contents_of(job))
        with broker.open() as sink:  # what is wrong with it is an error before Spark starts
            job = job.to_topic(sink.topic_pattern)
        run = partial(BrokerRun, job=job, to=broker)
    else:
        raise UsageError(
            f"--to {session.where}: Spark's tasks write to file:DIR, parquet:DIR or a broker; name one of these."
        )
    return partial(run, limits=session.limits, snapshot=session.snapshot)


def _folder(session: Session, to: Target, *, remote: bool) -> Folder:
    if to.place.is_file:
        raise UsageError(f"--to {to}: each Spark task writes files of its own; name a folder, --to file:DIR.")
    if remote and not to.place.path.is_absolute():
        raise UsageError(
            f"--to {to}: the server's executors write there, on their disks; write the whole path, as in "
            f"{to.scheme}:/data/orders."
        )
    recorded = session.about.record is not None
    return Folder(str(to.place.path.absolute()), to.place.partitions, session.envelope, recorded, to.scheme)
