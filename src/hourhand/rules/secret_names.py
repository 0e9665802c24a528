"""Rules: which names say that what they name is secret, and which short options of well-known programs do."""

from __future__ import annotations

import re

_PARTS = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "sshkey",
    "credential",
    "authorization",
    "cookie",
    "sessionid",
    "webhook",
)
"""Secret wherever they are in a name, its dashes and underscores left out."""
_WORDS = frozenset({"pass", "passin", "passout", "pw", "key"})
"""Secret as a word of a name, such as `DB_PASS` or `ssh-key`; `monkey` and `bypass` are other words."""
_WHOLE = frozenset({"auth", "pin", "otp", "jwt", "bearer"})
_HARMLESS_KEYS = frozenset({"concurrency", "dedup", "foreign", "idempotency", "partition", "primary", "public", "sort"})
_ABOUT = frozenset({"id", "count", "seconds", "days", "length", "limit"})
_KNOWN = frozenset({"keycolumns"})
"""Names of our own that only look secret: columns by which rows are told apart."""
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")


def is_secret(name: str) -> bool:
    """Whether something of this name is to be masked."""
    letters = _NOT_LETTERS.sub("", name.lower())
    if letters in _KNOWN:
        return False
    if letters in _WHOLE or any(part in letters for part in _PARTS):
        return True
    before = ""
    for word in map(str.lower, _NAME_WORDS.findall(name)):
        if word in _WORDS and not (word == "key" and before in _HARMLESS_KEYS):
            return True
        before = word
    return False


def is_about(name: str) -> bool:
    """Whether a secret name, such as `token_id`, tells something about a secret, if its value is a number."""
    words = _NAME_WORDS.findall(name)
    return bool(words) and words[-1].lower() in _ABOUT


# Each matches an option up to where its value begins, be that in the same word or in the next one.
_P = re.compile(r"-p=?")
_LARGE_P = re.compile(r"-P=?")
_A = re.compile(r"-a|--auth(?:=|\Z)")
_W = re.compile(r"-w")
_LARGE_U = re.compile(r"-U|--user(?:=|\Z)")
# The letters before it are options of curl that take no value: `-sSu me:secret`.
_CURL = re.compile(r"-[#0-46afgGiIjJkLlMnNOqRsSvZ]*[uU]|--(?:proxy-)?user(?:=|\Z)|--oauth2-bearer(?:=|\Z)")
# `login` is that of docker, podman and others, whose `-p` means something else elsewhere.
_PROGRAMS = {
    "curl": _CURL,
    "wget": re.compile(r"--(?:http-|ftp-|proxy-)?user(?:=|\Z)"),
    "lftp": re.compile(r"-u|--user(?:=|\Z)"),
    "openssl": re.compile(r"-(?:k|K|pass|passin|passout)\Z"),
    **dict.fromkeys(("sshpass", "login", "rabbitmqadmin", "mongo", "mongosh"), _P),
    **dict.fromkeys(("mongodump", "mongorestore", "mongoexport", "mongoimport", "7z", "7za"), _P),
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlbinlog"), _P),
    **dict.fromkeys(("mariadb", "mariadb-dump", "mariadb-admin", "mariadb-import", "mariadb-check"), _P),
    **dict.fromkeys(("sqlcmd", "bcp", "ipmitool", "mosquitto_pub", "mosquitto_sub", "unzip", "zip"), _LARGE_P),
    **dict.fromkeys(("redis-cli", "valkey-cli", "http", "https"), _A),
    **dict.fromkeys(("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd"), _W),
    **dict.fromkeys(("smbclient", "rpcclient", "net"), _LARGE_U),
}
NAMES_A_PROGRAM = re.compile(
    rf"(?i)(?<![\w-])(?:{'|'.join(map(re.escape, sorted(_PROGRAMS, key=len, reverse=True)))})(?![\w-])"
)
_MARKS = "\"'`$({[\\"


class Options:
    """Where the secret values of short options are, word after word of a command."""

    def __init__(self) -> None:
        self._secret: re.Pattern[str] | None = None

    def value_begins(self, word: str) -> int | None:
        """Where in this word a secret value begins: at its end if it is the next word; None if there is none."""
        bare = word.lstrip(_MARKS)
        if self._secret is not None and (option := self._secret.match(bare)):
            return len(word) - len(bare) + option.end()
        program = bare.rstrip("\"'`").rpartition("/")[2].lower().removesuffix(".exe")
        self._secret = _PROGRAMS.get(program, self._secret)
        return None

    def end(self) -> None:
        """The command has ended, and another one may begin."""
        self._secret = None
