"""Runners: the connections of http tasks; alerts make theirs the same way, so that it is in `hourhand.service`."""

from __future__ import annotations

from hourhand.service.connection import CheckedNetwork, open_pool, reason, trusted_authorities

__all__ = ["CheckedNetwork", "open_pool", "reason", "trusted_authorities"]
