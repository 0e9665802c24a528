"""Model: what came of sealing the store's secrets with another key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unopened:
    """A target whose secret cannot be opened with the store's key."""

    rule_id: int
    rule: str
    target: str
    """Its address, fit to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnopenedSource:
    """A data source whose password cannot be opened with the store's key."""

    source_id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resealed:
    """How many secrets are sealed with the new key, and which are not."""

    count: int
    unopened: tuple[Unopened | UnopenedSource, ...] = ()
