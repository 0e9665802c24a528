"""Contracts: many tasks or instances at once, by filter."""

from __future__ import annotations

from typing import Protocol


class Bulk(Protocol):
    """Many at once."""
