"""Rules: how long to wait before the next attempt."""

from __future__ import annotations

import zlib
from datetime import timedelta

from hourhand.model.words import RetryBackoff

LONGEST_DELAY = timedelta(hours=1)
"""A growing delay stops growing here; a longer one that was asked for stays as it is."""
JITTER = 0.2
"""Delays are spread by up to this share, so that what failed together does not return together."""


def retry_delay(base_seconds: int, backoff: RetryBackoff, retry_count: int, *, seed: str) -> timedelta:
    """The delay before attempt `retry_count + 2`; the seed, not a clock or a generator, decides the jitter."""
    seconds = float(base_seconds)
    if backoff is RetryBackoff.EXPONENTIAL:
        # 2.0 ** 1024 overflows; past 32 doublings every base is over the longest delay anyway.
        grown = seconds * 2.0 ** min(retry_count, 32)
        seconds = min(grown, max(seconds, LONGEST_DELAY.total_seconds()))
    spread = zlib.crc32(seed.encode()) / 0xFFFF_FFFF
    return timedelta(seconds=seconds * (1.0 + JITTER * spread))
