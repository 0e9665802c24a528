"""Contracts: figures of this very moment, for those who watch a cluster."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.figures import GroupFigures, Signs


class Figures(Protocol):
    """What is waiting, what is running, who is there. Each is cheap, whatever has piled up."""

    async def figures(self) -> list[GroupFigures]:
        """Of every group, by name. What has piled up is counted up to a bound, and then the bound is told."""

    async def sign_cycle(self, scheduler: str) -> None:
        """Leave a sign that this scheduler has just completed a cycle."""

    async def signs(self) -> Signs:
        """Whether the cluster does its work."""
