"""Store: what users' code reports, made storable: without NUL, within bounds, and JSON."""

from __future__ import annotations

import json
from typing import Any

from hourhand.model.instance import Outcome
from hourhand.store.types import dump_json

SUMMARY_BYTES = 4 * 1024
ERROR_BYTES = 16 * 1024
JSON_BYTES = 256 * 1024
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
        return TRUNCATED + data[-room:].decode("utf-8", "ignore")
    return data[:room].decode("utf-8", "ignore") + TRUNCATED


def clean_json(value: Any, limit: int = JSON_BYTES) -> Any:
    """The value if it can be stored as it is, cleaned of NUL if need be; an explanation in its place if not."""
    if value is None:
        return None
    try:
        text = dump_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        return {"error": f"the result is not JSON: {error}"}
    size = len(text.encode("utf-8", "replace"))
    if size > limit:
        return {
            "error": f"the result has {size} bytes; at most {limit} are kept",
            "truncated": text[:1_000].replace("\x00", ""),
        }
    if "\\u0000" in text or not _encodable(text):
        return json.loads(text.encode("utf-8", "replace").decode().replace("\\u0000", ""))
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
    )
