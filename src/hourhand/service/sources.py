"""Service: passwords of data sources: sealed when they are written, opened when somebody connects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from hourhand.contracts.sealing import NewSecret
from hourhand.model.data_source import Address, DataSource
from hourhand.model.errors import InvalidInput
from hourhand.service.envelope import Envelope, Unsealable


class SealedSources:
    """The key of their passwords, which is asked for only where there is a password."""

    def __init__(self, envelope: Callable[[], Awaitable[Envelope]]) -> None:
        self._envelope = envelope

    async def secret(self, password: str) -> NewSecret:
        """A password as the store takes it; InvalidInput says what is to be done when there is no right key."""
        envelope = await self._envelope()
        return NewSecret(seal=partial(_sealed, envelope, password.encode()), sealed_with=envelope.check)

    async def address_of(self, source: DataSource) -> Address:
        """Where a data source is, with its password; raises Unsealable where that cannot be opened."""
        if source.secret is None:
            return source.address(None)
        try:
            envelope = await self._envelope()
        except InvalidInput as refused:
            raise Unsealable(str(refused)) from None
        return source.address(envelope.open(source.secret, belongs_to=owner_of(source.id)).decode())


def _sealed(envelope: Envelope, password: bytes, owner: str) -> bytes:
    return envelope.seal(password, belongs_to=owner)


def owner_of(source_id: int) -> str:
    """What the password of a data source belongs to, in the words that it is sealed with."""
    return f"data source {source_id}"
