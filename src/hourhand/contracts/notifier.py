"""Contracts: a notifier brings a notice to one target; one file each in `hourhand.notifiers`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol


class NotSent(Exception):
    """It did not arrive, or nobody knows whether it did; the message says why, and holds no secret."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final
        """Whether trying again is pointless."""


class Notifier(Protocol):
    """How notices get to one kind of target.

    A target is what somebody wrote into an alert rule: a text, or an object. All of it is taken for secret but what
    `check` answers.
    """

    kind: ClassVar[str]
    """By which stored targets name it."""
    parameters: ClassVar[Mapping[str, Any]]
    """JSON Schema of a target."""
    example: ClassVar[Any]
    """A target."""

    def takes(self, target: object) -> bool:
        """Whether a target, as somebody wrote it, is for this notifier."""

    def check(self, target: Any) -> str:  # noqa: ANN401 - whatever this kind of target is
        """What may be shown of it; raises ValueError, in words without its secrets, when nothing can be sent to it."""

    async def send(self, target: Any, event: Mapping[str, Any]) -> None:  # noqa: ANN401 - the same
        """Bring it a notice in the form of `rules.alerts.notice_json`; raises NotSent.

        The same notice may be sent again: its `notice` is the same then.
        """

    async def close(self) -> None:
        """Give everything back."""
