"""Rules: texts without the secrets in them that can be told by what stands before them.

Each look at a text goes along it once, from its beginning to its end, and never back by more than a few characters:
no text, however hostile, takes longer than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hourhand.rules.secret_names import NAMES_A_PROGRAM, Options, is_secret

MASK = "***"
UNFINISHED = 1_000
"""How far before the place where a text was cut a URL is looked for, whose password would end behind it."""

_CHUNK = re.compile(r"\S+")
_STOP = re.compile(r"[:/?#\[]")
_PATH = re.compile(r"[/?#]")
_PORT = re.compile(r"\d{1,5}[/?#]")
_PRIVATE_KEY = re.compile(r"(?s)(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----).*?(?=-----END|\Z)")
_HEADER = re.compile(r"(?i)((?:authorization|cookie|api-key)\s{0,5}[:=]\s{0,5})[^\r\n\"'\\]+")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s{1,5}[\w.~+/=-]{6,}")
_OUR_TOKEN = re.compile(r"\bhh_[\w-]{16,}")

_NAME = re.compile(r"[\w.\-\[\]]++")
_SIGN = re.compile(r"(?:\\?[\"'])?\s{0,5}([=:])[=:]?>?\s{0,5}")
_SPACES = re.compile(r"\s{1,5}")
_QUOTED = r"""\\"(?:(?!\\").)*+(?:\\")?|"(?:[^"\\]|\\.)*+"?|'[^']*+'?"""
_AFTER_COLON = re.compile(rf"""(?s){_QUOTED}|(?:[^\s&;,"'}}\\]|\\(?!["']))++""")
_AFTER_EQUALS = re.compile(rf"""(?s){_QUOTED}|(?:[^\s&;"'\\]|\\(?!["']))++""")
_PARAMETER_VALUE = re.compile(r"[^&;\s\"'#]++")
_PARAMETER = re.compile(r"(?i)pass|key|sig|auth|code")
_WORD = re.compile(r"&&|[;|]|(?<!\\)\n|[^\s;|]++")
_ENDS = frozenset({"&&", ";", "|", "\n"})


def redacted_text(text: str) -> str:
    """A text with the secrets masked that can be told by what stands before them."""
    if "://" in text and "@" in text:
        text = _CHUNK.sub(_without_users, text)
    text = _HEADER.sub(rf"\1{MASK}", _PRIVATE_KEY.sub(rf"\1{MASK}", text))
    text = _masked(text, _named(text))
    if NAMES_A_PROGRAM.search(text):
        text = _masked(text, _options(text))
    return _OUR_TOKEN.sub(MASK, _BEARER.sub(rf"\1 {MASK}", text))


def cut(text: str, limit: int) -> str:
    """The first so many characters, with a marker that tells how many there were.

    A URL that would be cut within its password is left out, since nothing shows any more that it has one.
    """
    if len(text) <= limit:
        return text
    url = text.rfind("://", max(0, limit - UNFINISHED), limit)
    end = limit if url < 0 or not text[url:limit].isprintable() or " " in text[url:limit] else url
    return f"{text[:end]}… [cut: {len(text)} characters in all]"


def _masked(text: str, secrets: Iterator[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for begin, end in secrets:
        parts += [text[done:begin], MASK]
        done = end
    return "".join([*parts, text[done:]])


def _named(text: str) -> Iterator[tuple[int, int]]:
    """Where the values of secret names are: `PGPASSWORD=x`, `"pass": "x"`, `--token x`, `?key=x`."""
    place = 0
    while name := _NAME.search(text, place):
        place = name.end()
        if (value := _value_of(text, name)) is not None:
            yield value.span()
            place = value.end()


def _value_of(text: str, name: re.Match[str]) -> re.Match[str] | None:
    begin, end = name.span()
    if (sign := _SIGN.match(text, end)) is not None:
        if begin and text[begin - 1] in "?&;" and sign[0] == "=" and (_PARAMETER.search(name[0]) or is_secret(name[0])):
            return _PARAMETER_VALUE.match(text, end + 1)
        kind = _AFTER_EQUALS if sign[1] == "=" else _AFTER_COLON
        return kind.match(text, sign.end()) if is_secret(name[0]) else None
    if name[0].startswith("-") and (spaces := _SPACES.match(text, end)) is not None and is_secret(name[0]):
        return None if text.startswith("-", spaces.end()) else _AFTER_EQUALS.match(text, spaces.end())
    return None


def _options(text: str) -> Iterator[tuple[int, int]]:
    """Where the values of well-known programs' short options are: `curl -u me:x`, `mysql -px`."""
    options, place = Options(), 0
    while word := _WORD.search(text, place):
        place = word.end()
        if word[0] in _ENDS:
            options.end()
        elif (begins := options.value_begins(word[0])) is not None:
            begin = word.start() + begins
            if begin == place and (spaces := _SPACES.match(text, begin)) is not None:
                begin = spaces.end()
            value = None if text.startswith("-", begin) else _AFTER_EQUALS.match(text, begin)
            if value is not None:
                yield value.span()
                place = value.end()


def _without_users(found: re.Match[str]) -> str:
    """What has no spaces in it, without the passwords of URLs in it; one that is not encoded may hold anything."""
    chunk = found[0]
    begin, at = chunk.find("://"), chunk.rfind("@")
    parts: list[str] = []
    done = 0
    while -1 < begin < at:
        begin += len("://")
        stop = _STOP.search(chunk, begin, at)
        if stop is not None and stop[0] == ":" and not _PORT.match(chunk, stop.end(), at):
            return "".join([*parts, chunk[done : stop.end()], MASK, chunk[at:]])
        path = _PATH.search(chunk, begin)
        user = chunk.rfind("@", begin, len(chunk) if path is None else path.start())
        if user > -1 and ":" not in chunk[begin:user] and chunk.endswith(("http://", "https://"), 0, begin):
            parts += [chunk[done:begin], MASK]  # a token in a user's place
            done = user
        begin = chunk.find("://", begin)
    return "".join([*parts, chunk[done:]])
