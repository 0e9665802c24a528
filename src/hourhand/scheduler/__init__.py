"""Scheduler: turns instants into instances and looks after what nobody else does; any number of them, no leader."""

from __future__ import annotations

from hourhand.scheduler.scheduler import Scheduler

__all__ = ["Scheduler"]
