"""Service: targets of alerts: sealed when they are written, opened when something is sent to them."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from hourhand.contracts.notifier import Notifier, NotSent
from hourhand.model.alert import Target
from hourhand.model.errors import FieldError, InvalidInput
from hourhand.service.envelope import Envelope, Unsealable

MOST_TARGETS = 20
LONGEST_TARGET = 4_000


class Post:
    """The notifiers of this process, and the key of their targets."""

    def __init__(self, notifiers: Iterable[Notifier], envelope: Callable[[], Awaitable[Envelope]]) -> None:
        self._notifiers = {one.kind: one for one in notifiers}
        self._envelope = envelope

    @property
    def notifiers(self) -> tuple[Notifier, ...]:
        """What there is."""
        return tuple(self._notifiers.values())

    async def sealed(self, given: Sequence[object]) -> tuple[Target | str, ...]:
        """The targets that somebody wrote, checked and sealed; of `{"id": …}`, which keeps one, the id."""
        if len(given) > MOST_TARGETS:
            raise InvalidInput.one("targets", None, f"there are {len(given)} targets: give at most {MOST_TARGETS}")
        errors: list[FieldError] = []
        targets: list[Target | str] = []
        for place, one in enumerate(given):
            try:
                targets.append(kept_id(one) or await self._seal(one))
            except ValueError as error:
                errors.append(FieldError(f"targets.{place}", None, str(error)))  # never with the value: it is secret
        if errors:
            raise InvalidInput(errors)
        if len(set(targets)) < len(targets):  # what is new has an id of its own
            raise InvalidInput.one("targets", None, "one of the targets is named twice: name it once")
        return tuple(targets)

    async def _seal(self, given: object) -> Target:
        notifier = next((one for one in self._notifiers.values() if one.takes(given)), None)
        if notifier is None:
            raise ValueError(
                'is no target: give an Apprise URL such as "mailto://user:password@example.com", or an object like '
                '{"webhook": "https://example.com/alerts", "secret": "…"}'
            )
        text = json.dumps(given)
        if len(text) > LONGEST_TARGET:
            raise ValueError(f"is too long: give at most {LONGEST_TARGET} characters")
        shown = await asyncio.to_thread(notifier.check, given)  # it may have much to load
        target_id = secrets.token_hex(8)
        envelope = await self._envelope()
        sealed = envelope.seal(text.encode(), belongs_to=owner_of(target_id))
        return Target(
            id=target_id,
            kind=notifier.kind,
            shown=shown,
            sealed=base64.b64encode(sealed).decode(),
            sealed_with=envelope.check,
        )

    async def send(self, target: Target, event: Mapping[str, Any]) -> None:
        """Bring a notice to a target; raises NotSent."""
        notifier = self._notifiers.get(target.kind)
        if notifier is None:
            raise NotSent(f"this release knows no target of the kind {target.kind!r}")
        try:
            envelope = await self._envelope()
            opened = envelope.open(base64.b64decode(target.sealed), belongs_to=owner_of(target.id))
        except (Unsealable, InvalidInput, ValueError) as error:
            raise NotSent(str(error)) from None
        await notifier.send(json.loads(opened), event)

    async def close(self) -> None:
        """Give everything back."""
        for one in self._notifiers.values():
            await one.close()


def kept_id(given: object) -> str | None:
    """The id in `{"id": …}`, which stands for a target that a rule has; the store knows whether it has it."""
    if not isinstance(given, Mapping) or set(given) != {"id"}:
        return None
    if not isinstance(given["id"], str) or not given["id"]:
        raise ValueError("has no id that a target could have: give the text that the rule shows, or the target itself")
    return str(given["id"])


def owner_of(target_id: str) -> str:
    """What the secret of a target belongs to, in the words that it is sealed with."""
    return f"alert target {target_id}"
