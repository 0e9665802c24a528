"""Rules: what may be shown of a URL that holds a password."""

from __future__ import annotations

import re

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
