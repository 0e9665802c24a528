"""Store: what users' code reports, made storable: without NUL, within bounds, and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hourhand.model.instance import Outcome
from hourhand.store.types import dump_json

SUMMARY_BYTES = 4 * 1024
ERROR_BYTES = 16 * 1024
JSON_BYTES = 256 * 1024
JSON_DEPTH = 100
TRUNCATED = "… [truncated]"


def clean_text(text: str | None, limit: int, *, keep_end: bool = False) -> str | None:
    """Without NUL (no store takes it) and lone surrogates, at most `limit` bytes, with an explicit marker."""
    if text is None:
        return None
    data = text.replace("\x00", "").encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    room = limit - len(TRUNCATED.encode())
    if keep_end:
        return TRUNCATED + data[len(data) - room :].decode("utf-8", "ignore")
    return data[:room].decode("utf-8", "ignore") + TRUNCATED


def clean_json(value: Any, limit: int = JSON_BYTES) -> Any:
    """The value if it can be stored as it is, cleaned of NUL if need be; an explanation in its place if not."""
    if value is None:
        return None
    if _deeper(value, JSON_DEPTH):
        return {"error": f"the result is nested more than {JSON_DEPTH} levels deep"}
    try:
        text = dump_json(value)
    except (TypeError, ValueError) as error:
        return {"error": f"the result is not JSON: {error}"}
    size = len(text.encode("utf-8", "replace"))
    if size > limit:
        return {
            "error": f"the result has {size} bytes; at most {limit} are kept",
            "truncated": clean_text(text[:1_000], limit),
        }
    if "\\u0000" in text or not _encodable(text):
        return _without_nul(json.loads(text.encode("utf-8", "replace")))
    return value


def _deeper(value: Any, levels: int) -> bool:
    """Whether it is nested deeper; found without recursion, since depth is what may be hostile here."""
    level = [value]
    for _ in range(levels + 1):
        # Each object once: one that holds itself twice would double the level at every step.
        nests = {id(one): one for one in level if isinstance(one, Mapping | list | tuple)}
        if not nests:
            return False
        level = [inner for one in nests.values() for inner in (one.values() if isinstance(one, Mapping) else one)]
    return True


def _without_nul(value: Any) -> Any:
    """On the value, not on its text: there an escaped backslash before `u0000` looks like NUL as well."""
    match value:
        case str():
            return value.replace("\x00", "")
        case list():
            return [_without_nul(one) for one in value]
        case dict():
            return {_without_nul(name): _without_nul(one) for name, one in value.items()}
        case _:
            return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean(outcome: Outcome) -> Outcome:
    """The outcome as it will be stored."""
    return Outcome(
        kind=outcome.kind,
        result=clean_json(outcome.result),
        error_message=clean_text(outcome.error_message, ERROR_BYTES),
        output_summary=clean_text(outcome.output_summary, SUMMARY_BYTES, keep_end=True),
        summary=clean_json(outcome.summary),
        duration_ms=max(0, outcome.duration_ms),
        retryable=outcome.retryable,
        delay_seconds=max(0.0, outcome.delay_seconds),
        retry_after_seconds=outcome.retry_after_seconds,
    )
