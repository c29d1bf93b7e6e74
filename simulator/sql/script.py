"""A SQL file as a scenario: read, split into statements, and run to its end or its first error."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from simulator import sources
from simulator.errors import ScenarioError, UsageError, closest
from simulator.model import Table, TableId
from simulator.sources.source import Source
from simulator.sql import RECORDING
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.errors import SqlError, UnreadLog, Unsupported
from simulator.sql.memory import give_back
from simulator.sql.parse.client import WORDS, Meta, Statement, split
from simulator.sql.parse.secrets import masked
from simulator.sql.server.url import WHEEL
from simulator.sql.store.session import Session
from simulator.stream.literal import recording
from simulator.stream.literal.transactions import TableRows, Transaction

if TYPE_CHECKING:
    from simulator.sql.server.postgresql.history import Session as PostgresSession

# The initial clock of a script: the same as that of YAML scenarios.
START_MS: Final = 1_714_521_600_000  # 2024-05-01T00:00:00Z


# The size of a file that is probably a dump.
_LONG_BYTES: Final = 1 << 20
# Ends the errors about unsupported statements; by source, the server that runs them.
HINT: Final = "--sql-engine {} runs it on a real server"
_SERVERS_BY_SOURCE: Final = {"mysql-5.7": "mysql-5.7", "mariadb-10.11": "mariadb"}
# The system that the embedded engine does not support: a server runs its scripts.
POSTGRESQL: Final = "postgresql"


@dataclass(frozen=True)
class Spec:
    """The settings that a run reads from any scenario: a seed (scripts draw nothing), whether it begins with a
    snapshot, and the delay between a commit and the product's write time (`--set delay=1s..2s`)."""

    seed: int = 0
    snapshot: bool = False
    delay: tuple[int, int] | None = None


@dataclass(frozen=True)
class Script:
    """A SQL file: `parts` are its statements and meta-comments in order. A recording has no parts; its `content`
    identifies it. A `fitted` script needs no `content`."""

    file: str
    name: str
    parts: tuple[Statement | Meta, ...] = field(repr=False)
    content: bytes = field(repr=False)
    spec: Spec = Spec()
    each_type: Mapping[TableId, str] = field(
        default_factory=dict, repr=False
    )  # none: it has the tables that it creates
    engine: str = field(default="", repr=False)  # the URL of the server that runs the script; "": the embedded engine

    @property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that depend on every statement."""
        digest = blake2b(repr(self.spec.delay).encode(), digest_size=16)
        for part in self.parts or (self.content,):
            digest.update(repr(part).encode())
        return digest.hexdigest()

    @property
    def is_recording(self) -> bool:
        return self.file.lower().endswith(RECORDING)

    def meta(self, word: str) -> Meta | None:
        return next((part for part in self.parts if isinstance(part, Meta) and part.word == word), None)


def read_script(path: str, engine: str | None = None) -> Script:
    """Read a script or recording. `engine` is the value of `--sql-engine`; it overrides a `-- @engine` line.

    Raises UsageError for a file that cannot be read, ScenarioError for a script that is not valid.
    """
    if path.lower().endswith(RECORDING):
        if engine is not None:
            raise UsageError(f"--sql-engine {engine}: {path} is a recording, so no server runs it.")
        facts = recording.facts_of(path)
        digest = blake2b(content_of(path), digest_size=16).hexdigest()
        return Script(path, Path(path).stem, (), f"{facts.source} {digest}".encode(), Spec(snapshot=facts.snapshot))
    script = script_of(content_of(path), path)
    meta = script.meta("engine")
    url = engine or (meta.argument if meta else "")
    return replace(script, engine="" if url == "embedded" else url)


def with_setting(script: Script, setting: str) -> Script:
    """Apply `--set`: `start`, the first timestamp, or `delay`. Raises UsageError."""
    key, _, value = setting.partition("=")
    if key == "delay":
        from simulator.stream.scenario.language.words import durations_ms

        try:
            return replace(script, spec=replace(script.spec, delay=durations_ms(value)))
        except ValueError as error:
            raise UsageError(f"--set {setting}: {error}.") from None
    if script.is_recording:
        raise UsageError(
            f"--set {setting}: {script.file} is a recording, of which only delay can be set; leave it out."
        )
    if key != "start":
        raise UsageError(f"--set {setting}: {script.file} is a SQL script, which has no such keys; edit it.")
    if noted := script.meta("at"):
        raise UsageError(
            f"--set {setting}: {script.file}:{noted.line}: -- @at says when it happens; leave one of them out."
        )
    return replace(script, parts=(Meta("at", value, 0), *script.parts))


def content_of(path: str) -> bytes:
    """The content of a SQL file. Raises UsageError."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no scenario file {path!r}.") from None
    except IsADirectoryError:
        raise UsageError(f"{path!r} is a directory; a scenario is a YAML file or a SQL script.") from None
    except OSError as error:
        raise UsageError(f"the scenario file {path!r} cannot be read: {error.strerror}.") from None


def script_of(content: bytes | str, file: str) -> Script:
    encoded = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    encoded = encoded.removeprefix(BOM_UTF8)
    parts = tuple(split(encoded))
    if len(encoded) > _LONG_BYTES:
        give_back()
    if not parts:
        raise ScenarioError(file, None, "", "the file is empty; a script has at least one statement.")
    return Script(file, Path(file).stem, parts, encoded, _spec(parts))


def _spec(parts: Sequence[Statement | Meta]) -> Spec:
    return Spec(snapshot=any(isinstance(part, Meta) and part.word == "snapshot" for part in parts))


def fitted(script: Script, source: Source, *, draft: bool = False) -> Script:
    """The script split into statements as the client of its source does. Raises UsageError for a draft in the editor
    that only a server can run."""
    if script.is_recording:
        return script
    if source.id != POSTGRESQL:
        return replace(script, content=b"")  # a dump is long, and its statements are in `parts`
    if draft:
        raise UsageError(
            f"{script.file}: scripts for PostgreSQL run on a server, which the editor does not use: record the script "
            "with `cdcsim record`, and run the recording."
        )
    from simulator.sql.server.postgresql.client import split as split_as_psql

    parts = tuple(split_as_psql(script.content.decode("utf-8", "surrogateescape")))
    return replace(script, parts=parts, spec=_spec(parts), engine=script.engine or WHEEL)


def source_of(script: Script, requested: str | None) -> Source:
    """The source system: `--source`, else a `-- @source` line, else MySQL. Raises UsageError for a system that cannot
    run scripts."""
    if script.is_recording:
        recorded = recording.facts_of(script.file).source
        if requested and sources.find(requested) != sources.find(recorded):
            raise UsageError(f"--source {requested}: {script.file} was recorded on {recorded}; leave it out.")
        return sources.find(recorded)
    meta = script.meta("source")
    name = requested or (meta.argument if meta else _default(script))
    try:
        source = sources.find(name)
        if script.engine and name == source.id:  # without a version it is the server's
            server = sources.find(_default(script))
            source = server if server.id == source.id else source
    except UsageError as error:
        if requested or meta is None:
            raise
        raise ScenarioError(script.file, meta.line, "@source", str(error).removeprefix("--source ")) from None
    if str(source) not in SERVERS and source.id != POSTGRESQL:
        raise UsageError(
            f"{script.file}: SQL scripts are run as on {', '.join((*SERVERS, POSTGRESQL))}, not on {source}."
        )
    return source


def _default(script: Script) -> str:
    """MySQL, or the system of the server that runs the script."""
    if not script.engine:
        return sources.DEFAULT
    from simulator.sql.server.url import engine_of

    engine = engine_of(script.engine)
    connection: MysqlConnection | PostgresConnection
    if engine.local:
        return engine.local[0]
    if not engine.host:
        return POSTGRESQL
    if engine.system == POSTGRESQL:
        from simulator.sql.server.postgresql.connection import Connection as PostgresConnection

        connection = PostgresConnection(engine)
    else:
        from simulator.sql.server.mysql.connection import Connection as MysqlConnection

        connection = MysqlConnection(engine)
    try:
        return connection.source
    finally:
        connection.close()


class LogOf(Protocol):
    """The log of a run."""

    transactions: list[Transaction]


class Running(Protocol):
    """The session of a run: its clock, which meta-comments set, and its log."""

    now_us: int
    account: str

    @property
    def warnings(self) -> list[str]: ...
    @property
    def log(self) -> LogOf: ...
    @property
    def in_transaction(self) -> bool: ...
    def heartbeat(self) -> None: ...


class MysqlSession(Running, Protocol):
    """The session of a run on MySQL or MariaDB, real or embedded."""

    @property
    def database(self) -> str: ...
    def current_rows(self) -> list[TableRows]: ...
    def take_tables(self) -> list[Table]: ...
    def forget_spellings(self) -> None: ...


S = TypeVar("S", bound=Running)
S_co = TypeVar("S_co", bound=Running, covariant=True)


@dataclass
class Outcome(Generic[S]):
    """The result of a run: the session at its end, and its errors."""

    session: S
    failure: ScenarioError | None = None
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # differences that a server may show
    steps: list[tuple[str, int]] = field(default_factory=list)
    started: bool = False


def run(
    script: Script,
    source: Source,
    *,
    force: bool = False,
    until: int | None = None,
    at_snapshot: Callable[[MysqlSession], None] | None = None,
    at_end: Callable[[MysqlSession], None] | None = None,
) -> Outcome[MysqlSession]:
    """Run a script. The first error ends it, as with the `mysql` client; with `force` it continues and collects
    `errors`.

    `until`: stop when the log holds this many transactions after `-- @snapshot`. `at_end` is called while the server
    still has the script's tables.
    """
    server: ServerRun | None = None
    engine: Engine[MysqlSession] = Embedded(source)
    if script.engine:
        from simulator.sql.server.mysql.run import ServerRun

        engine = server = ServerRun(script.engine, source, SERVERS[str(source)], START_MS)
    try:
        hint = HINT.format(_SERVERS_BY_SOURCE.get(str(source), "mysql"))
        outcome = _run(script, engine, force, until, at_snapshot, hint)
        if server is not None:
            server.end()
        if at_end is not None:
            at_end(engine.session)
        return outcome
    finally:
        if server is not None:
            server.close()


def run_on_postgresql(
    script: Script, source: Source, *, force: bool, at_snapshot: Callable[[PostgresSession], None]
) -> Outcome[PostgresSession]:
    from simulator.sql.server.postgresql.run import PostgresRun

    server = PostgresRun(script.engine, source, START_MS, leaves_out=force)
    try:
        outcome = _run(script, server, force, None, at_snapshot)
        outcome.errors += [f"{script.file}:{problem.line}: {problem}" for problem in server.left_out]
        outcome.warnings += [f"{script.file}:{line}: warning: {text}." for line, text in server.skipped]
        return outcome
    finally:
        server.close()


class Engine(Protocol[S_co]):
    """Runs the statements of a script; their changes are in the session's log after `read`."""

    @property
    def session(self) -> S_co: ...
    def statement(self, part: Statement) -> None: ...
    def read(self) -> None: ...


class Embedded:
    """The embedded engine on rows in memory."""

    def __init__(self, source: Source) -> None:
        from simulator.sql.statements.execute import call_function, execute, run_body

        self._execute = execute
        self.session = Session(SERVERS[str(source)], START_MS * 1000, run_body, call_function)

    def statement(self, part: Statement) -> None:
        self._execute(self.session, part.text)

    def read(self) -> None:
        """Nothing to do: statements write the log at once."""


def _run(
    script: Script,
    engine: Engine[S],
    force: bool,
    until: int | None,
    at_snapshot: Callable[[S], None] | None,
    hint: str = "",
) -> Outcome[S]:
    session = engine.session
    outcome = Outcome(session)
    for part in script.parts:
        in_stream = outcome.started or not script.spec.snapshot
        if until is not None and in_stream and len(session.log.transactions) >= until and not session.in_transaction:
            break
        try:
            if isinstance(part, Meta):
                engine.read()
                _meta(script, part, outcome, at_snapshot)
            else:
                engine.statement(part)
                if until is not None:
                    engine.read()
        except SqlError as error:
            problem = ScenarioError(script.file, part.line, "", _masked(f"{error}: {_begin(part)}", part))
        except ScenarioError:
            raise
        except UsageError as error:
            outcome.failure = _unread(script, part, error)
            break
        except Exception as error:
            problem = ScenarioError(script.file, part.line, "", _masked(_refusal(error, part, hint), part))
            problem.__cause__ = error
        else:
            for warning in dict.fromkeys(session.warnings):
                text = _masked(f"{warning}: {_begin(part)}", part)
                outcome.warnings.append(f"{script.file}:{part.line}: warning: {text}.")
            session.warnings.clear()
            continue
        session.warnings.clear()
        if not force:
            outcome.failure = problem
            break
        outcome.errors.append(str(problem))
    try:
        engine.read()
    except UsageError as error:
        outcome.failure = _unread(script, script.parts[-1], error)
    return outcome


def _unread(script: Script, part: Statement | Meta, error: UsageError) -> ScenarioError:
    """The end of a run whose log cannot be read any more; what was read before it stays."""
    line = error.line if isinstance(error, UnreadLog) else part.line
    return ScenarioError(script.file, line, "", str(error))


def _refusal(error: Exception, part: Statement | Meta, hint: str) -> str:
    """The text of an unsupported statement; internal errors of the evaluator are not shown to users."""
    reason = str(error) if isinstance(error, Unsupported) else "this statement"
    if reason.endswith("."):  # a full sentence about a type
        return f"{reason[:-1]}: {_begin(part)}."
    reason = "a statement nested so deeply" if isinstance(error, RecursionError) else reason
    return f"{reason} is not supported by the embedded engine: {_begin(part)}; {hint}."


def _masked(text: str, part: Statement | Meta) -> str:
    return masked(text, part.text) if isinstance(part, Statement) else text


def _begin(part: Statement | Meta) -> str:
    text = part.text if isinstance(part, Statement) else f"-- @{part.word} {part.argument}"
    words = " ".join(text.split())
    return repr(words if len(words) <= 60 else words[:57] + "...")


def _meta(script: Script, meta: Meta, outcome: Outcome[S], at_snapshot: Callable[[S], None] | None) -> None:
    session = outcome.session
    match meta.word:
        case "at":
            try:
                timestamp = datetime.fromisoformat(meta.argument)
            except ValueError:
                problem = f"{meta.argument!r} is no time; it is written like 2024-05-01T10:00:00Z."
                raise ScenarioError(script.file, meta.line, "@at", problem) from None
            us = round((timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).timestamp() * 1_000_000)
            logged = session.log.transactions
            if logged and us // 1000 < logged[-1].ms:
                raise ScenarioError(script.file, meta.line, "@at", "this is before the transaction above it.")
            session.now_us = us
        case "heartbeat":
            session.heartbeat()
        case "snapshot":
            if session.in_transaction:
                raise ScenarioError(script.file, meta.line, "@snapshot", "a transaction is open; COMMIT it before.")
            if outcome.started:
                raise ScenarioError(script.file, meta.line, "@snapshot", "a script has one at most.")
            outcome.started = True
            session.log.transactions.clear()
            outcome.steps.clear()
            if at_snapshot is not None:
                at_snapshot(session)
        case "step" if not meta.argument:
            raise ScenarioError(script.file, meta.line, "@step", "the step has no name; write `-- @step NAME`.")
        case "step":
            outcome.steps.append((meta.argument, len(session.log.transactions)))
        case "user":
            session.account = meta.argument
        case "source" | "engine":
            pass
        case word:
            problem = f"there is no such meta-comment. Did you mean '@{closest(word, WORDS)}'?"
            raise ScenarioError(script.file, meta.line, f"@{word}", problem)
