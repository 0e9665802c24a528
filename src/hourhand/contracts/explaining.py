"""Contracts: why an instance is where it is."""

from __future__ import annotations

from typing import Protocol


class Explaining(Protocol):
    """Why."""
