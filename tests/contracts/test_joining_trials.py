"""Joining, by chance: random transactions of every driver at once, rolled back, nested, failing, cut; and Django."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from contracts.joining_trials import TASK, told, trials
from contracts.joining_ways import WAYS, configure_django
from contracts.world import World
from hourhand import Client
from hourhand.errors import InvalidInput
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable


async def test_what_was_committed_is_there_and_nothing_else(postgresql_url: str) -> None:
    await tried(postgresql_url, 200 // len(WAYS))


@pytest.mark.chaos
async def test_what_was_committed_is_there_and_nothing_else_after_a_thousand_each(postgresql_url: str) -> None:
    await tried(postgresql_url, 1_000)


async def tried(url: str, transactions: int) -> None:
    seed = random.randrange(2**32)  # noqa: S311 - it is printed
    print(f"seed {seed}, {transactions} transactions by each of {len(WAYS)} drivers")  # noqa: T201 - for pytest -s
    counts = await trials(url, transactions, seed=seed)
    print(told(counts))  # noqa: T201
    # Else it would prove nothing: something of each kind must have happened.
    for what in ("submissions committed", "transactions: roll back", "savepoints: roll back", "savepoints: fail"):
        assert counts[what] > transactions
    assert counts["transactions: cut"] > 0
    assert counts["answered with the living one"] > 0


class TestDjango:
    """`client.sync.submit(…, conn=connection)`, as a view would."""

    @pytest.fixture
    async def url(self, postgresql_url: str) -> str:
        store = await open_store(postgresql_url)
        await store.ensure_group("elsewhere")
        await World(store).task(TASK, group="elsewhere")
        await store.close()
        return postgresql_url

    @staticmethod
    async def view(url: str, use: Callable[[Any, Any], Any]) -> Any:
        """Run in a thread of its own, with Django's default database there."""

        def run() -> Any:
            from django.db import connection  # noqa: PLC0415 - Django wants to be configured first

            configure_django(url)
            with Client(url).sync as client:
                try:
                    return use(client, connection)
                finally:
                    connection.close()

        return await asyncio.to_thread(run)

    async def test_an_atomic_block_that_ends_well_has_submitted(self, url: str) -> None:
        from django.db import transaction  # noqa: PLC0415

        def use(client: Any, connection: Any) -> Any:
            with transaction.atomic():
                made = client.submit(TASK, {"n": 1}, key="k", conn=connection)
                assert client.instances(TASK) == []
            assert client.get(made.id) == made
            return client.submit(TASK, key="k")

        assert (await self.view(url, use)).existing

    async def test_an_atomic_block_that_raises_has_not(self, url: str) -> None:
        from django.db import connections, transaction  # noqa: PLC0415

        def use(client: Any, _connection: Any) -> Any:
            try:
                with transaction.atomic():
                    client.submit(TASK, {"n": 1}, conn=connections["default"])
                    raise LookupError  # noqa: TRY301 - as a view would
            except LookupError:
                return client.instances(TASK)

        assert await self.view(url, use) == []

    async def test_without_an_atomic_block_it_is_refused(self, url: str) -> None:
        def use(client: Any, connection: Any) -> None:
            with pytest.raises(InvalidInput, match="not in a transaction"):
                client.submit(TASK, conn=connection)

        await self.view(url, use)

    async def test_another_kind_of_database_is_refused_in_words(self, url: str) -> None:
        from django.db.utils import ConnectionHandler  # noqa: PLC0415

        def use(client: Any, _connection: Any) -> None:
            other = ConnectionHandler({"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
            with pytest.raises(InvalidInput, match=r"sqlite through .*joining needs PostgreSQL and psycopg 3"):
                client.submit(TASK, conn=other["default"])
            other["default"].close()

        await self.view(url, use)
