"""Contracts: alert rules, and the outbox of what is to be said to whom."""

from __future__ import annotations

from typing import Protocol


class Alerting(Protocol):
    """Who is told of what, at least once."""
