"""Runners: which addresses an http task may reach; alerts obey the same policy, so that it is in `hourhand.service`."""

from __future__ import annotations

from hourhand.service.addresses import Address, AddressPolicy, AddressRefused, Resolve, Resolver

__all__ = ["Address", "AddressPolicy", "AddressRefused", "Resolve", "Resolver"]
