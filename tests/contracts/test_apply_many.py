"""Apply: many at once, and many tasks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.plans import statements
from contracts.setting import actions, apply, entry, found, set_of
from hourhand.model.answers import Aftermath
from hourhand.model.errors import DuplicateName
from hourhand.store import apply as applying
from hourhand.store import edit, open_store
from hourhand.store.verbs import applying as verb

if TYPE_CHECKING:
    from contracts.world import World


@pytest.mark.parametrize("existing", [False, True])
async def test_of_two_that_apply_at_once_one_follows_the_other(world: World, *, existing: bool) -> None:
    if existing:
        await apply(world, entry("a"), entry("b"))
    said = [
        [entry("a", "b", priority=number), entry("b", priority=number)]
        if number % 2
        else [entry("a", priority=number), entry("b", "a", priority=number)]
        for number in range(8)
    ]
    answers = await asyncio.gather(*[apply(world, *each) for each in said])
    a, b = await found(world, "a"), await found(world, "b")
    assert a.priority == b.priority
    assert (bool(a.dependency_ids), bool(b.dependency_ids)) == (bool(a.priority % 2), not a.priority % 2)
    assert sum(actions(answer)["a"] == "create" for answer in answers) == (not existing)


async def test_two_processes_on_one_database_apply_at_once(cluster_world: World, postgresql_url: str) -> None:
    others = [await open_store(postgresql_url) for _ in range(3)]
    try:
        wanted = set_of(*[entry(f"t{n}", *[f"t{n - 1}"] * (n > 0)) for n in range(20)])
        answers = await asyncio.gather(
            *[store.apply(wanted, by="ada") for store in (cluster_world.store, *others)],
        )
        assert sorted(actions(one)["t0"] for one in answers) == ["create", "unchanged", "unchanged", "unchanged"]
    finally:
        for one in others:
            await one.close()


async def test_a_name_that_is_taken_in_between_is_planned_with_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    async def first_fails(tx: Any, *given: Any, **more: Any) -> Any:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise DuplicateName("task", "load")
        return await edit.create_task(tx, *given, **more)

    monkeypatch.setattr(applying, "create_task", first_fails)
    assert actions(await apply(world, entry())) == {"load": "create"}
    assert tried == 2
    monkeypatch.setattr(applying, "create_task", lambda *_, **__: _taken())
    with pytest.raises(DuplicateName):
        await apply(world, entry("other"))
    assert verb._TRIES > 1  # noqa: SLF001


async def _taken() -> None:
    raise DuplicateName("task", "other")


async def test_how_many_statements_it_takes_does_not_depend_on_how_many_tasks_there_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for many in (3, 60):
        said = [entry(f"t{n}", *["t0"] * (n > 0)) for n in range(many)]
        await apply(world, *said)
        for dry_run in (False, True):
            with statements(monkeypatch) as seen:
                assert set(actions(await apply(world, *said, dry_run=dry_run)).values()) == {"unchanged"}
            counts.append(len(seen))
    assert counts[:2] == counts[2:]
    assert max(counts) <= 6


async def test_what_follows_is_looked_after(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[Aftermath] = []

    async def follow(_: object, aftermath: Aftermath) -> None:
        followed.append(aftermath)

    await apply(world, entry("up"), entry("load", "up", schedule="@every 1h"))
    await world.submit(await found(world), wait=True)
    monkeypatch.setattr(type(world.store), "follow", follow)
    await apply(world, entry("up"), entry("load", "up", schedule="@every 1h", upstream_failure_policy="fail"))
    assert followed[0].waiting
