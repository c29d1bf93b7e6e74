"""What differs between the supported servers, as data: versions of MySQL and MariaDB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Server:
    """A server's ways, where they show in its log or in what it refuses.

    * `version`: as version comments count it.
    * `type_style`: how it prints types; `json_duplicates`, `json_is_text`: as in the type system.
    * `modes`: its sql_mode.
    * `modern`: syntax since MySQL 8.0 (RENAME COLUMN, expressions as defaults, invisible columns, SRID).
    * `checks`: CHECK constraints hold. `expression_keys`: a key part may be an expression.
    * `old_timestamps`: explicit_defaults_for_timestamp is off.
    * `annotates`: row events come with their statement, as if of the server itself (binlog_annotate_row_events).
    * `logs_existing`: CREATE TABLE IF NOT EXISTS of a table that is there is logged.
    * `logs_temporary_drop`: dropping a temporary table is logged in row format.
    * `as_select_tail`: what follows the bracket of a logged CREATE TABLE … AS SELECT.
    * `quotes_numbers`: SHOW CREATE TABLE quotes a number's default.
    * `password_as_alter_user`: SET PASSWORD is logged as ALTER USER with the hash.
    * `key_with_table`: a duplicate key is reported as `table.key`.
    * `counts_updates`: an UPDATE of the AUTO_INCREMENT column moves its counter on.
    * `drops_existing`: DROP TABLE drops the tables that are there before it tells of those that are not.
    * `offsets`: the farthest time zones in minutes. `detaches_xa`: a prepared transaction is no longer the session's.
    * `swaps_axes`: SRID 4326 has its latitude first in texts.
    """

    id: str
    version: int
    type_style: str
    modes: frozenset[str]
    charset: str
    collation: str
    json_duplicates: str = "last"
    json_is_text: bool = False
    modern: bool = False
    checks: bool = False
    expression_keys: bool = False
    old_timestamps: bool = False
    annotates: bool = False
    logs_existing: bool = True
    logs_temporary_drop: bool = False
    as_select_tail: str = ""
    quotes_numbers: bool = True
    password_as_alter_user: bool = False
    key_with_table: bool = False
    swaps_axes: bool = False
    counts_updates: bool = False
    drops_existing: bool = False
    offsets: tuple[int, int] = (-779, 780)
    detaches_xa: bool = False

    @property
    def json_way(self) -> str:
        """How documents are printed (`values.documents.text_of`)."""
        return "mariadb" if self.json_is_text else "mysql-5.7" if self.id == "mysql-5.7" else "printed"

    @property
    def mariadb(self) -> bool:
        return self.id.startswith("mariadb")


# Words of sql_mode, in the order in which a server lists them.
MODES: Final = (
    "REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION", "NO_BACKSLASH_ESCAPES", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE", "ALLOW_INVALID_DATES", "ERROR_FOR_DIVISION_BY_ZERO", "HIGH_NOT_PRECEDENCE", "NO_AUTO_CREATE_USER",
    "NO_ENGINE_SUBSTITUTION", "NO_AUTO_VALUE_ON_ZERO", "TIME_TRUNCATE_FRACTIONAL",
)  # fmt: skip
_STRICT: Final = ("ONLY_FULL_GROUP_BY", "STRICT_TRANS_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE",
                  "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION")  # fmt: skip
_SERVERS: Final[Mapping[str, Server]] = {
    server.id: server
    for server in (
        Server(
            "mysql-8.0",
            80_031,
            "show_create_80",
            frozenset(_STRICT),
            "utf8mb4",
            "utf8mb4_0900_ai_ci",
            modern=True,
            checks=True,
            expression_keys=True,
            as_select_tail=" START TRANSACTION",
            key_with_table=True,
            swaps_axes=True,
            counts_updates=True,
            offsets=(-839, 840),
            detaches_xa=True,
        ),
        Server(
            "mysql-5.7",
            50_722,
            "show_create_57",
            frozenset((*_STRICT, "NO_AUTO_CREATE_USER")),
            "utf8mb4",
            "utf8mb4_general_ci",
            json_duplicates="first",
            old_timestamps=True,
            logs_temporary_drop=True,
            password_as_alter_user=True,
            drops_existing=True,
        ),
        Server(
            "mariadb-10.11",
            101_119,
            "show_create_57",
            frozenset(("STRICT_TRANS_TABLES", "ERROR_FOR_DIVISION_BY_ZERO", "NO_AUTO_CREATE_USER",
                       "NO_ENGINE_SUBSTITUTION")),
            "utf8mb4",
            "utf8mb4_general_ci",
            json_is_text=True,
            modern=True,
            checks=True,
            annotates=True,
            logs_existing=False,
            quotes_numbers=False,
            counts_updates=True,
            drops_existing=True,
        ),
    )
}  # fmt: skip
# OceanBase in MySQL mode speaks MySQL 8.0's SQL; it prints types as 5.7 does.
SERVERS: Final[Mapping[str, Server]] = {
    **_SERVERS,
    "oceanbase-mysql-4.3": replace(
        _SERVERS["mysql-8.0"], type_style="show_create_57", collation="utf8mb4_general_ci", as_select_tail=""
    ),
}


def default_collation(charset: str, server: Server) -> str:
    """The collation that a character set has by default."""
    if charset == server.charset:
        return server.collation
    language = _LANGUAGES.get(charset, "general")
    return "binary" if charset == "binary" else f"{charset}_{language}_ci"


_LANGUAGES: Final = {
    "big5": "chinese", "cp932": "japanese", "eucjpms": "japanese", "euckr": "korean", "gb18030": "chinese",
    "gb2312": "chinese", "gbk": "chinese", "hp8": "english", "latin1": "swedish", "latin5": "turkish",
    "sjis": "japanese", "tis620": "thai", "ujis": "japanese",
}  # fmt: skip
# Character sets of servers for which Python has no codec.
WITHOUT_CODEC: Final = frozenset(("armscii8", "dec8", "geostd8", "keybcs2", "swe7"))
