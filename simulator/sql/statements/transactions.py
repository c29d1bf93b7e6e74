"""BEGIN, COMMIT, ROLLBACK, savepoints and XA."""

from __future__ import annotations

from simulator.model import StatementKind
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.words import Reader
from simulator.sql.store.session import Session
from simulator.sql.store.state import Savepoint
from simulator.stream.literal.transactions import Text


def begin(session: Session, words: Reader, text: str) -> None:
    words.take("WORK")
    words.need_end()
    _not_in_xa(session)
    session.commit()
    session.transaction.is_open = True


def _not_in_xa(session: Session) -> None:
    if session.transaction.xa:
        raise SqlError(1399, "ACTIVE")


def _chained(words: Reader) -> bool:
    """AND [NO] CHAIN [NO] RELEASE: whether a new transaction begins at once."""
    chain = False
    if words.take("AND"):
        chain = not words.take("NO")
        words.need("CHAIN")
    words.take("NO")
    words.take("RELEASE")
    words.need_end()
    return chain


def start(session: Session, words: Reader, text: str) -> None:
    if not words.take("TRANSACTION"):
        raise Unsupported("this statement")
    read_only = False
    while not words.done:
        if words.take("READ", "ONLY"):
            read_only = True
        elif not (words.take("READ", "WRITE") or words.take("WITH", "CONSISTENT", "SNAPSHOT") or words.take(",")):
            raise words.problem()
    _not_in_xa(session)
    session.commit()
    session.transaction.is_open, session.transaction.read_only = True, read_only


def commit(session: Session, words: Reader, text: str) -> None:
    words.take("WORK")
    chain = _chained(words)
    _not_in_xa(session)
    session.commit()
    session.transaction.is_open = chain


def rollback(session: Session, words: Reader, text: str) -> None:
    words.take("WORK")
    if not words.peek("TO"):
        chain = _chained(words)
        _not_in_xa(session)
        session.rollback()
        session.transaction.is_open = chain
        return
    words.need("TO")
    words.take("SAVEPOINT")
    name = words.name()
    index = _find(session, name)
    point = session.transaction.savepoints[index]
    session.undo_to(point.undo, point.entries)
    del session.transaction.savepoints[index + 1 :]


def savepoint(session: Session, words: Reader, text: str) -> None:
    name = words.name()
    session.transaction.savepoints = [
        point for point in session.transaction.savepoints if point.name.lower() != name.lower()
    ]
    session.transaction.savepoints.append(
        Savepoint(name, len(session.transaction.undo), len(session.transaction.entries))
    )


def release(session: Session, words: Reader, text: str) -> None:
    words.need("SAVEPOINT")
    del session.transaction.savepoints[_find(session, words.name()) :]


def _find(session: Session, name: str) -> int:
    for index, point in enumerate(session.transaction.savepoints):
        if point.name.lower() == name.lower():
            return index
    raise SqlError(1305, name)


def lock(session: Session, words: Reader, text: str) -> None:
    """LOCK TABLES and UNLOCK TABLES: there is no other session."""
    session.commit()


def xa(session: Session, words: Reader, text: str) -> None:
    """Distributed transactions: the rows are logged at PREPARE, then the outcome."""
    word = words.one_of("START", "BEGIN", "END", "PREPARE", "COMMIT", "ROLLBACK")
    if not word:
        raise Unsupported("this form of XA")
    parts = [words.text()]
    while words.take(","):
        parts.append(words.next().value)
    xid = _xid(parts)
    one_phase = words.take("ONE", "PHASE")
    if word in ("START", "BEGIN"):
        if session.transaction.xa or session.transaction.is_open:
            raise SqlError(1399, "ACTIVE")
        session.transaction.xa = xid
        return
    if word == "END":
        if session.transaction.xa != xid:
            raise SqlError(1397)
        return
    if word == "PREPARE":
        if session.transaction.xa != xid:
            raise SqlError(1397)
        session.connection.xa_prepared[xid] = list(session.transaction.undo)
        session.commit()
        session.transaction.xa = ""
        session.connection.xa_attached = "" if session.server.detaches_xa else xid
        return
    if session.transaction.xa == xid:
        if word == "COMMIT" and one_phase:
            session.commit()
        elif word == "ROLLBACK":
            session.rollback()
        else:
            raise SqlError(1399, "IDLE")
        session.transaction.xa = ""
        return
    if xid not in session.connection.xa_prepared:
        raise SqlError(1397)
    undo = session.connection.xa_prepared.pop(xid)
    session.connection.xa_attached = ""
    if word == "ROLLBACK":
        for data, number, old in reversed(undo):
            data.put(number, old)
    kind = StatementKind.XA_COMMIT if word == "COMMIT" else StatementKind.XA_ROLLBACK
    session.write([Text(kind, "", "", f"XA {word} {xid}", session.now_ms)])


def _xid(parts: list[str]) -> str:
    """`X'7831',X'',1` for 'x1'."""
    first, second, number = (*parts, "", "1")[:3] if len(parts) < 3 else parts[:3]
    return f"X'{first.encode().hex()}',X'{second.encode().hex()}',{number or 1}"
