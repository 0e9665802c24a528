"""Executor: claims instances, carries them out, and reports what came of them."""

from __future__ import annotations

from hourhand.executor.executor import Executor, Timing

__all__ = ["Executor", "Timing"]
