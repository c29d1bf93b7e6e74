"""Differences between the supported servers as data: versions of MySQL and MariaDB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.tables import CsvColumns


@dataclass(frozen=True)
class Server:
    """The behaviour of a server that shows in its log or in its errors: a column of `servers.csv`, which explains the
    fields."""

    id: str
    version: int
    type_style: str
    modes: frozenset[str]
    charset: str
    collation: str
    json_duplicates: str
    offsets: tuple[int, int]
    as_select_tail: str = ""
    json_is_text: bool = False
    modern: bool = False
    checks: bool = False
    expression_keys: bool = False
    old_timestamps: bool = False
    annotates: bool = False
    logs_existing: bool = False
    logs_temporary_drop: bool = False
    quotes_numbers: bool = False
    password_as_alter_user: bool = False
    key_with_table: bool = False
    swaps_axes: bool = False
    counts_updates: bool = False
    drops_existing: bool = False
    detaches_xa: bool = False
    text_per_table: bool = False
    event_per_partition: bool = False

    @property
    def json_way(self) -> str:
        """Style in which documents are printed (`values.documents.text_of`)."""
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
SERVERS: Final = CsvColumns(__file__, "servers.csv", Server)


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
