"""Parses a body into statements: blocks, conditions, loops, cursors, handlers; SQL statements stay text."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.sql.errors import Unsupported
from simulator.sql.parse.words import Reader


@dataclass(frozen=True, slots=True)
class Sql:
    """A statement about tables, or any other statement that is not part of the program's own syntax."""

    text: str


@dataclass(frozen=True, slots=True)
class Set:
    """SET a = 1, NEW.b = 2: targets and expressions."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Declare:
    names: tuple[str, ...]
    type: str
    default: str


@dataclass(frozen=True, slots=True)
class Cursor:
    name: str
    query: str


@dataclass(frozen=True, slots=True)
class Handler:
    """`conditions` are SQLSTATEs, error numbers, `sqlexception`, `sqlwarning` or `not found`."""

    exits: bool
    conditions: tuple[str, ...]
    body: Statement


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    declared: tuple[Declare | Cursor | Handler, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with their branches; the condition "" is ELSE."""

    arms: tuple[tuple[str, tuple[Statement, ...]], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`test` ends the loop before a pass (WHILE, if false) or after one (REPEAT, if true)."""

    label: str
    kind: str  # loop, while, repeat
    test: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Jump:
    leaves: bool
    label: str


@dataclass(frozen=True, slots=True)
class Return:
    value: str


@dataclass(frozen=True, slots=True)
class CursorStep:
    kind: str  # open, fetch, close
    name: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signal:
    """SIGNAL SQLSTATE 'x' SET MESSAGE_TEXT = …; RESIGNAL has no state."""

    state: str
    items: tuple[tuple[str, str], ...] = field(default=())


Statement = Sql | Set | Block | If | Loop | Jump | Return | CursorStep | Signal


def parse_program(text: str) -> Statement:
    """Raises SqlError 1064, Unsupported."""
    words = Reader(text)
    program = _statement(words)
    words.take(";")
    words.need_end()
    return program


def _statement(words: Reader) -> Statement:
    label = ""
    if words.words[words.position + 1 : words.position + 2] and words.words[words.position + 1].value == ":":
        label = words.name().lower()
        words.next()
    if words.take("BEGIN"):
        return _block(words, label)
    if words.take("IF"):
        return _if(words)
    if words.take("CASE"):
        return _case(words)
    for kind in ("WHILE", "LOOP", "REPEAT"):
        if words.take(kind):
            return _loop(words, kind.lower(), label)
    if kind := words.one_of("LEAVE", "ITERATE"):
        return Jump(kind == "LEAVE", words.name().lower())
    if words.take("RETURN"):
        return Return(_until(words, ";"))
    if kind := words.one_of("OPEN", "CLOSE"):
        return CursorStep(kind.lower(), words.name().lower())
    if words.take("FETCH"):
        words.take("NEXT")
        words.take("FROM")
        name = words.name().lower()
        words.need("INTO")
        return CursorStep("fetch", name, _names(words))
    if kind := words.one_of("SIGNAL", "RESIGNAL"):
        return _signal(words)
    if words.take("SET"):
        return _set(words)
    return Sql(_until(words, ";"))


def _body(words: Reader, *ends: str) -> tuple[Statement, ...]:
    """Statements up to one of these words, which is not consumed."""
    statements = []
    while words.upper not in ends:
        statements.append(_statement(words))
        words.need(";")
    return tuple(statements)


def _block(words: Reader, label: str) -> Block:
    declared: list[Declare | Cursor | Handler] = []
    while words.take("DECLARE"):
        declared.append(_declaration(words))
        words.need(";")
    body = _body(words, "END")
    words.need("END")
    if label and words.upper not in ("", ";"):
        words.name()
    return Block(label, tuple(declared), body)


def _declaration(words: Reader) -> Declare | Cursor | Handler:
    kind = words.one_of("CONTINUE HANDLER FOR", "EXIT HANDLER FOR", "UNDO HANDLER FOR")
    if kind:
        conditions = [_condition(words)]
        while words.take(","):
            conditions.append(_condition(words))
        return Handler(kind.startswith("EXIT"), tuple(conditions), _statement(words))
    names = [words.name().lower()]
    if words.take("CURSOR"):
        words.need("FOR")
        return Cursor(names[0], _until(words, ";"))
    if words.peek("CONDITION"):
        raise Unsupported("DECLARE … CONDITION")
    while words.take(","):
        names.append(words.name().lower())
    type = _until(words, ";", "DEFAULT")
    default = _until(words, ";") if words.take("DEFAULT") else ""
    return Declare(tuple(names), type, default)


def _condition(words: Reader) -> str:
    if words.take("NOT", "FOUND"):
        return "not found"
    if words.take("SQLSTATE"):
        words.take("VALUE")
        return words.text()
    return words.next().value.lower()


def _if(words: Reader) -> If:
    arms = []
    test = _until(words, "THEN")
    while True:
        words.take("THEN")
        arms.append((test, _body(words, "ELSEIF", "ELSE", "END")))
        if words.take("ELSEIF"):
            test = _until(words, "THEN")
        elif words.take("ELSE"):
            test = ""
        else:
            words.need("END", "IF")
            return If(tuple(arms))


def _case(words: Reader) -> If:
    value = "" if words.upper == "WHEN" else _until(words, "WHEN")
    arms = []
    while words.take("WHEN"):
        test = _until(words, "THEN")
        words.need("THEN")
        arms.append((f"({value}) = ({test})" if value else test, _body(words, "WHEN", "ELSE", "END")))
    if words.take("ELSE"):
        arms.append(("", _body(words, "END")))
    words.need("END", "CASE")
    return If(tuple(arms))


def _loop(words: Reader, kind: str, label: str) -> Loop:
    test = ""
    if kind == "while":
        test = _until(words, "DO")
        words.need("DO")
    body = _body(words, "UNTIL" if kind == "repeat" else "END")
    if kind == "repeat":
        words.need("UNTIL")
        test = _until(words, "END")
    words.need("END", kind.upper())
    if label and words.upper not in ("", ";"):
        words.name()
    return Loop(label, kind, test, body)


def _signal(words: Reader) -> Signal:
    state = ""
    if words.take("SQLSTATE"):
        words.take("VALUE")
        state = words.text()
    items = []
    if words.take("SET"):
        while True:
            name = words.name().upper()
            words.need("=")
            items.append((name, _until(words, ";", ",")))
            if not words.take(","):
                break
    return Signal(state, tuple(items))


def _set(words: Reader) -> Set | Sql:
    statement_start = words.position - 1
    pairs = []
    while True:
        start = words.position
        while not words.done and words.upper not in ("=", ":=", ":", ";"):
            words.next()
        target = words.between(start, words.position)
        words.one_of(":")
        if words.upper == ";" or words.done or target.split()[:1] in (["NAMES"], ["names"]):
            words.position = statement_start
            return Sql(_until(words, ";"))
        words.next()
        pairs.append((target, _until(words, ";", ",")))
        if not words.take(","):
            return Set(tuple(pairs))


def _names(words: Reader) -> tuple[str, ...]:
    names = [_variable(words)]
    while words.take(","):
        names.append(_variable(words))
    return tuple(names)


def _variable(words: Reader) -> str:
    word = words.next().value
    return word + words.next().value if word == "@" else word


def _until(words: Reader, *ends: str) -> str:
    """The text up to one of these words outside brackets and CASE; the word is not consumed."""
    start, depth, cases = words.position, 0, 0
    while not words.done:
        word = words.words[words.position]
        if not depth and not cases and word.upper in ends:
            break
        if word.kind == "mark":
            depth += word.brackets_opened
            if not depth and word.value.startswith(")") and word.value[1:] in ends:  # `);` is a single mark
                break
        cases += (word.upper == "CASE") - (word.upper == "END" and cases > 0)
        words.next()
    return words.between(start, words.position) if words.position > start else ""
