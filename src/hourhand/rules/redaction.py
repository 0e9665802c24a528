"""Rules: what may be shown of values that hold passwords, tokens and other secrets.

Three kinds of places are known: values whose name says that they are secret (`password`, `api_key`, every variable of
an `env`, every header that is not known to be harmless); the user and password of a URL; and, within texts and lists of
words, what follows such a name or option (`--token x`, `PGPASSWORD=x`, `curl -u x`). Rather one value too many is
masked than one too few. Names are judged by `secret_names`, texts by `secret_text`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.rules.secret_names import Options, is_about, is_secret
from hourhand.rules.secret_text import MASK, redacted_text

CHANGED = f"{MASK} (changed)"

_BEFORE = re.compile(r"([\w+.-]+:/+)?([^:]*)(:.*)?", re.DOTALL)
_PARAMETER = re.compile(r"([?&;])([^=&;?]*+)=[^&;]*+")
_SECRET = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)


def without_password(url: str) -> str:
    """The URL with its password replaced by ***, also where it is written in a way that no parser would take.

    A password may hold any character if its writer forgot to encode it, so everything from the first colon behind the
    scheme up to the last @ is taken for one.
    """
    before, at, behind = url.rpartition("@")
    if at:
        scheme, user, password = _BEFORE.fullmatch(before).groups()  # type: ignore[union-attr]  # it matches anything
        before = f"{scheme or ''}{user}{':***' if password else ''}"
    return _PARAMETER.sub(_without_value, before + at + behind)


def _without_value(parameter: re.Match[str]) -> str:
    return f"{parameter[1]}{parameter[2]}={MASK}" if _SECRET.search(parameter[2]) else parameter[0]


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
_OWN = frozenset({"key"})
"""Names at the top of a record that are this program's own: the key of a submission tells one from another."""
_OPTION_NAME = re.compile(r"--?[\w-]+")
_PAIR = 2

_ABSENT = object()


def redacted(value: Any, former: Any = _ABSENT) -> Any:  # noqa: ANN401 - any JSON value
    """The value with every secret in it masked.

    With `former`, the value before a change, a mask tells whether what is behind it has changed. No digest of it is
    shown: a short password could be found from that.
    """
    if isinstance(value, Mapping):
        return {
            name: _any(one, _within(former, name)) if name in _OWN else _named(str(name), one, _within(former, name))
            for name, one in value.items()
        }
    return _any(value, former)


def _any(value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case Mapping():
            return {name: _named(str(name), one, _within(former, name)) for name, one in value.items()}
        case list() | tuple():
            return _words(value, former)
        case str():
            return _text(value, former)
        case _:
            return value


def _named(name: str, value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    if is_secret(name):
        return value if isinstance(value, int | float) and is_about(name) else _masked(value, former)
    if name.lower() in ("env", "environment"):
        return _variables(value, former)
    if name.lower() == "headers":
        return _headers(value, former)
    return _any(value, former)


def _variables(value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {name: _masked(one, _within(former, name)) for name, one in value.items()}
    if isinstance(value, list | tuple):  # of NAME=value
        parts = [one.partition("=") if isinstance(one, str) else (one, "", "") for one in value]
        return [f"{name}={MASK}" if behind else _any(name, _ABSENT) for name, _, behind in parts]
    return _any(value, former)


def _headers(value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {name: _header(name, one, _within(former, name)) for name, one in value.items()}
    if isinstance(value, list | tuple):  # of pairs
        return [
            [one[0], _header(one[0], one[1], _ABSENT)]
            if isinstance(one, list | tuple) and len(one) == _PAIR
            else _any(one, _ABSENT)
            for one in value
        ]
    return _any(value, former)


def _header(name: object, value: Any, former: Any) -> Any:  # noqa: ANN401 - any JSON value
    return (_any if str(name).lower() in _HARMLESS_HEADERS else _masked)(value, former)


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


def _words(values: Sequence[Any], former: Any) -> list[Any]:  # noqa: ANN401 - any JSON values
    """A list, which may be a command: what follows `--password`, or the `-p` of a program that is known for it."""
    shown, options, hidden = [], Options(), False
    for index, value in enumerate(values):
        before = _within(former, index)
        if not isinstance(value, str):
            shown.append(_any(value, before))
            hidden = False
            continue
        if hidden and not value.startswith("--"):
            shown.append(_masked(value, before))
            hidden = False
            continue
        begins = options.value_begins(value)
        attached = begins is not None and begins < len(value)
        shown.append(f"{value[:begins]}{_masked(value, before)}" if attached else _text(value, before))
        hidden = begins == len(value) or bool(_OPTION_NAME.fullmatch(value) and is_secret(value))
    return shown
