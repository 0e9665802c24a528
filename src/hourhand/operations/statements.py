"""Operations: what a statement that somebody wrote is, as far as its words tell: enough to refuse what cannot work."""

from __future__ import annotations

import re

from hourhand.model.data_source import Dialect

_BACKTICK = (Dialect.MARIADB, Dialect.MYSQL)
_ESCAPED = r"(?:[^'\\]|\\.|'')*"
_SKIPPED = r"--[^\n]*|/\*.*?\*/"
_SKIPPED_THERE = r"--[^\n]*|/\*M?!\d*|/\*.*?\*/"
"""MariaDB and MySQL execute what is in /*! … */ and /*M!100100 … */: only these signs themselves are no words."""
_QUOTED = r'"(?:[^"]|"")*"|`(?:[^`]|``)*`'
_WORDS = {
    Dialect.POSTGRESQL: rf"{_SKIPPED}|[eE]'{_ESCAPED}'|'(?:[^']|'')*'|{_QUOTED}|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$",
    Dialect.SQLITE: rf"{_SKIPPED}|'(?:[^']|'')*'|{_QUOTED}|\[[^\]]*\]",
    Dialect.SQLSERVER: rf"{_SKIPPED}|'(?:[^']|'')*'|{_QUOTED}|\[(?:[^\]]|\]\])*\]",
    **dict.fromkeys(_BACKTICK, rf"{_SKIPPED_THERE}|\#[^\n]*|'{_ESCAPED}'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`"),
}
_READ = {
    dialect: re.compile(rf"(?:{skipped})|(?P<word>;|[^\W\d]\w*)|\S", re.DOTALL) for dialect, skipped in _WORDS.items()
}
_READING = frozenset({"SELECT", "WITH", "VALUES", "SHOW", "TABLE", "PRAGMA", "EXPLAIN", "DESCRIBE"})
_KEEPING = _READING | frozenset(
    {"ALTER", "ANALYZE", "COMMENT", "CREATE", "GRANT", "INSERT", "OPTIMIZE", "REINDEX", "SET", "VACUUM"}
)
_DESTROYING = frozenset(
    {"ALTER", "CHANGE", "DELETE", "DISCARD", "DROP", "EXCHANGE", "MERGE", "MODIFY", "REPLACE", "TRUNCATE", "UPDATE"}
)
"""Behind the first word, and not as below: what begins harmlessly may destroy by these."""
_HARMLESS = re.compile(
    r"\b(FOR UPDATE|ON (DELETE|UPDATE) (CASCADE|RESTRICT|NO ACTION|SET (NULL|DEFAULT)|CURRENT_TIMESTAMP))\b"
)
"""As a whole, since SQL Server's SET NOCOUNT ON needs no end: ON DELETE FROM is a statement that follows it."""
_CONTROL = frozenset({"BEGIN", "START", "COMMIT", "ROLLBACK", "END", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE"})
_BODIES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER", "EVENT", "PACKAGE"})
_KEPT_TOGETHER = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "SELECT", "WITH", "DO", "SET", "VALUES"})
"""What MariaDB and MySQL leave in a transaction; all else commits it, or may."""
_HEAD = 4
"""So many words say what is made: CREATE OR REPLACE FUNCTION."""


class Statement:
    """One statement, by its words: names in quotes, texts and comments left out."""

    def __init__(self, dialect: Dialect, text: str) -> None:
        self.dialect = dialect
        self.text = text.strip()
        self.words = [one["word"].upper() for one in _READ[dialect].finditer(text) if one["word"]]

    @property
    def first(self) -> str:
        """What it does."""
        return next((word for word in self.words if word != ";"), "")

    @property
    def several(self) -> bool:
        """Whether another one follows it; what has a body (a trigger) may hold many."""
        if self.dialect is Dialect.SQLSERVER or (self.first in ("CREATE", "ALTER") and self._has_body()):
            return False
        return ";" in self.words and any(word != ";" for word in self.words[self.words.index(";") :])

    @property
    def reads(self) -> bool:
        """Whether it looks like one that only reads."""
        return self.first in _READING

    @property
    def destroys(self) -> bool:
        """Whether it may delete or overwrite something; what is unknown may."""
        if self.first not in _KEEPING:
            return True
        return not _DESTROYING.isdisjoint(_HARMLESS.sub("", " ".join(self.words)).split()[1:])

    @property
    def controls(self) -> bool:
        """Whether it begins or ends a transaction."""
        return self.first in _CONTROL

    @property
    def alone(self) -> bool:
        """Whether the database refuses it within a transaction."""
        head = set(self.words[:_HEAD])
        match self.dialect:
            case Dialect.POSTGRESQL:
                concurrently = "CONCURRENTLY" in self.words and self.first in ("CREATE", "DROP", "REINDEX", "ALTER")
                makes = self.first in ("CREATE", "DROP", "ALTER", "REINDEX")
                return (
                    concurrently
                    or self.first == "VACUUM"
                    or (makes and bool(head & {"DATABASE", "TABLESPACE", "SYSTEM"}))
                )
            case Dialect.SQLITE:
                return self.first in ("VACUUM", "ATTACH", "DETACH")
        return False

    @property
    def commits(self) -> bool:
        """Whether it ends the transaction it is in, as MariaDB's and MySQL's DDL does, or may (CALL)."""
        return self.dialect in _BACKTICK and self.first not in _KEPT_TOGETHER

    @property
    def own_batch(self) -> bool:
        """Whether SQL Server wants it to be the first of its batch."""
        return self.first in ("CREATE", "ALTER") and bool(
            {*self.words[:_HEAD]} & {"VIEW", "PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "SCHEMA"}
        )

    def _has_body(self) -> bool:
        if self.dialect is Dialect.POSTGRESQL:
            return "ATOMIC" in self.words
        return bool(_BODIES.intersection(self.words[:12]))
