"""Fixtures of the contract suite: every test runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.world import World

if TYPE_CHECKING:
    from hourhand.store import Store


@pytest.fixture
def world(store: Store) -> World:
    """Return shorthand for the fresh store."""
    return World(store)
