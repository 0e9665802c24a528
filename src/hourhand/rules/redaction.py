"""Rules: what may be shown of values that hold passwords, tokens and other secrets.

Three kinds of places are known: values whose name says that they are secret (`password`, `api_key`, every variable of
an `env`, every header that is not known to be harmless); the user and password of a URL; and, within texts, what
follows such a name (`--token x`, `PGPASSWORD=x`, `Authorization: …`). Rather one value too many is masked than one
too few. Every pattern is bounded, so that no text, however hostile, takes long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "***"
CHANGED = "*** (changed)"

_BEFORE = re.compile(r"([\w+.-]+:/+)?([^:]*)(:.*)?", re.DOTALL)
_SECRET = re.compile(r"([?&;][^=&;]*(?:pass|pwd|secret|token|key)[^=&;]*=)[^&;]*", re.IGNORECASE)


def without_password(url: str) -> str:
    """The URL with its password replaced by ***, also where it is written in a way that no parser would take.

    A password may hold any character if its writer forgot to encode it, so everything from the first colon behind the
    scheme up to the last @ is taken for one.
    """
    before, at, behind = url.rpartition("@")
    if at:
        scheme, user, password = _BEFORE.fullmatch(before).groups()  # type: ignore[union-attr]  # it matches anything
        before = f"{scheme or ''}{user}{':***' if password else ''}"
    return _SECRET.sub(r"\1***", before + at + behind)


_SECRET_PARTS = (
    "password",
    "passwd",
    "passphrase",
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
_SECRET_NAMES = frozenset({"pass", "pw", "auth", "pin", "otp", "jwt", "bearer"})
_ABOUT = frozenset({"id", "count", "seconds", "days", "length", "limit"})
"""The last word of a name that tells something about a secret, such as `token_id`, if its value is a number."""
_HARMLESS_HEADERS = frozenset(
    {
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "content-encoding",
        "content-language",
        "content-length",
        "content-type",
        "user-agent",
    }
)
_NAME_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_NOT_LETTERS = re.compile(r"[^a-z0-9]")

_WORDS = (
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
    r"|authorization|cookie)"
)
_VALUE = r"""(?:\\"(?:(?!\\").)*(?:\\")?|"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s&;,"'}\\]+)"""
_NAMED = rf"{_WORDS}[\w.\-\[\]]{{0,60}}"
_CHUNK = re.compile(r"\S+")
_PORT = re.compile(r"\d{1,5}(?:[/?#]|\Z)")
_PRIVATE_KEY = re.compile(r"(?s)(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----).*?(?=-----END|\Z)")
_HEADER = re.compile(r"(?i)((?:authorization|cookie|api-key)\s{0,5}[:=]\s{0,5})[^\r\n\"'\\]+")
_OPTION = re.compile(rf"(?is)((?<![\w-])--?[\w-]{{0,40}}{_NAMED}\s{{1,5}})(?!-){_VALUE}")
_ASSIGNED = re.compile(rf"(?is)({_NAMED}(?:\\?[\"'])?\s{{0,5}}[=:]\s{{0,5}}){_VALUE}")
_PARAMETER = re.compile(r"(?i)([?&;][\w.-]{0,60}(?:pass|key|sig|auth|code)[\w.-]{0,60}=)[^&;\s\"'#]+")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s{1,5}[\w.~+/=-]{6,}")
_OUR_TOKEN = re.compile(r"\bhh_[\w-]{16,}")
_OPTION_NAME = re.compile(r"--?[\w-]+")

_ABSENT = object()


def redacted(value: Any, former: Any = _ABSENT) -> Any:  # noqa: ANN401 - any JSON value
    """The value with every secret in it masked.

    With `former`, the value before a change, a mask tells whether what is behind it has changed. No digest of it is
    shown: a short password could be found from that.
    """
    match value:
        case Mapping():
            return {name: _named(str(name), one, _within(former, name)) for name, one in value.items()}
        case list() | tuple():
            return [
                (_masked if _follows_a_secret_option(value, index) else redacted)(one, _within(former, index))
                for index, one in enumerate(value)
            ]
        case str():
            return _text(value, former)
        case _:
            return value


def redacted_text(text: str) -> str:
    """A text with the secrets masked that can be told by what stands before them."""
    text = _CHUNK.sub(_without_user, text) if "://" in text else text
    for pattern in (_PRIVATE_KEY, _HEADER, _OPTION, _ASSIGNED, _PARAMETER):
        text = pattern.sub(rf"\1{MASK}", text)
    return _OUR_TOKEN.sub(MASK, _BEARER.sub(rf"\1 {MASK}", text))


def is_secret(name: str) -> bool:
    """Whether something of this name is to be masked."""
    letters = _NOT_LETTERS.sub("", name.lower())
    return letters in _SECRET_NAMES or any(part in letters for part in _SECRET_PARTS)


def _named(name: str, value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    if is_secret(name):
        words = _NAME_WORDS.findall(name)
        about = isinstance(value, int | float) and bool(words) and words[-1].lower() in _ABOUT
        return value if about else _masked(value, former)
    if name.lower() in ("env", "environment") and isinstance(value, Mapping):
        return {each: _masked(one, _within(former, each)) for each, one in value.items()}
    if name.lower() == "headers" and isinstance(value, Mapping):
        return {
            each: (redacted if str(each).lower() in _HARMLESS_HEADERS else _masked)(one, _within(former, each))
            for each, one in value.items()
        }
    return redacted(value, former)


def _within(former: Any, place: Any) -> Any:  # noqa: ANN401 - any JSON value
    """What was at the same place before the change."""
    if isinstance(former, Mapping):
        return former.get(place, _ABSENT)
    if isinstance(former, list | tuple) and isinstance(place, int) and place < len(former):
        return former[place]
    return _ABSENT


def _masked(value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return value  # there is no secret in it, and that there is none is worth knowing
    return MASK if former is _ABSENT or former == value else CHANGED


def _text(value: str, former: object) -> str:
    shown = redacted_text(value)
    if shown != value and isinstance(former, str) and former != value and redacted_text(former) == shown:
        return shown.replace(MASK, CHANGED)
    return shown


def _follows_a_secret_option(values: Sequence[Any], index: int) -> bool:
    """Whether it is the value of the option before it, as in `--password x`."""
    option, value = values[index - 1], values[index]
    if not index or not isinstance(option, str) or not isinstance(value, str) or value.startswith("--"):
        return False
    return bool(_OPTION_NAME.fullmatch(option)) and is_secret(option)


def _without_user(found: re.Match[str]) -> str:
    """What has no spaces in it, without the password of a URL in it; one that is not encoded may hold anything."""
    chunk = found[0]
    begin, at = chunk.find("://"), chunk.rfind("@")
    while -1 < begin < at:
        begin += len("://")
        user, colon, rest = chunk[begin:at].partition(":")
        if colon and not set(user) & set("/?#[") and not _PORT.match(rest):
            return f"{chunk[:begin]}{user}:{MASK}{chunk[at:]}"
        authority = re.split(r"[/?#]", chunk[begin:], maxsplit=1)[0]
        if (
            "@" in authority
            and ":" not in authority.rpartition("@")[0]
            and chunk[:begin].endswith(("http://", "https://"))
        ):
            return f"{chunk[:begin]}{MASK}{chunk[begin + authority.rfind('@') :]}"  # a token in a user's place
        begin = chunk.find("://", begin)
    return chunk
