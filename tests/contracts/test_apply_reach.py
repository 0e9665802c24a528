"""Apply: what the audit keeps of it, and how far a caller reaches who is limited to groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.audits import kept, on_behalf
from contracts.setting import actions, apply, change, entry, fields, found
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, Forbidden, InvalidInput

if TYPE_CHECKING:
    from contracts.world import World

ADA = Author(id="user:1", name="ada")
ED = Author(id="token:7", name="ed", groups=frozenset({"alpha"}))


async def test_the_audit_has_every_change_and_the_whole(world: World) -> None:
    ada = on_behalf(world, ADA)
    await apply(ada, entry("old"), entry(), groups=("billing",))
    await apply(ada, entry(priority=1), prune=True)
    await apply(ada, entry(priority=1), prune=True)
    entries = await kept(world)
    assert [(one.action, one.resource_type, one.summary) for one in entries] == [
        ("create", "group", "group 'billing'"),
        ("create", "task", "task 'old'"),
        ("create", "task", "task 'load'"),
        ("apply", "task_file", "file:billing: 2 created"),
        ("edit", "task", "task 'load'"),
        ("delete", "task", "task 'old'"),
        ("apply", "task_file", "file:billing: 1 edited, 1 deleted"),
    ]
    assert entries[-1].after == {"edit": ["load"], "delete": ["old"]}
    assert {one.user_name for one in entries} == {"ada"}


@pytest.fixture
async def limited(world: World) -> World:
    for name in ("alpha", "beta"):
        await world.store.add_group(name)
    return on_behalf(world, ED)


async def test_a_limited_caller_applies_within_its_groups(world: World, limited: World) -> None:
    await apply(limited, entry(group="alpha"))
    assert (await found(world)).group == "alpha"


@pytest.mark.parametrize(
    "said",
    [{"entries": [entry(group="beta")]}, {"entries": [entry()]}, {"entries": [], "groups": ("new",)}],
    ids=["another group", "the default group", "a new group"],
)
@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_limited_caller_touches_nothing_beyond_its_groups(
    limited: World, said: dict[str, Any], *, dry_run: bool
) -> None:
    with pytest.raises(Forbidden, match="out of reach: 'ed' is limited to these groups: alpha"):
        await apply(limited, *said["entries"], groups=said.get("groups", ()), dry_run=dry_run)


async def test_a_limited_caller_moves_nothing_in_and_prunes_nothing_beyond(world: World, limited: World) -> None:
    await apply(world, entry(group="beta"), entry("secret", group="beta"))
    with pytest.raises(Forbidden, match="task 'load' is out of reach"):
        await apply(limited, entry(group="alpha"))
    with pytest.raises(Forbidden, match="a task that would be pruned is out of reach"):
        await apply(limited, entry("mine", group="alpha"), prune=True)
    assert actions(await apply(limited, entry("mine", group="alpha"))) == {"mine": "create"}


async def test_a_limited_caller_learns_nothing_of_tasks_beyond(world: World, limited: World) -> None:
    await world.task("secret", group="beta")
    for name in ("secret", "sceret"):
        with pytest.raises(InvalidInput) as refused:
            await apply(limited, entry("probe", name, group="alpha"))
        (error,) = refused.value.errors
        assert error.message == f"it depends on {name!r}, and there is no task of that name: create or declare it first"


async def test_a_limited_caller_may_keep_dependencies_that_are_beyond(world: World, limited: World) -> None:
    await world.task("secret", group="beta")
    await apply(world, entry("load", "secret", group="alpha"))
    assert actions(await apply(limited, entry("load", "secret", group="alpha", priority=1))) == {"load": "edit"}
    told = fields(change(await apply(limited, entry(group="alpha"))))
    assert told == {"depends_on": (["a task of another group"], []), "priority": (1, 5)}


async def test_dependents_beyond_are_not_named(world: World, limited: World) -> None:
    await apply(world, entry(group="alpha"))
    await world.task("secret", group="beta", dependency_ids=((await found(world)).id,))
    with pytest.raises(Conflict, match="but a task of another group depends on it"):
        await apply(limited, prune=True)


async def test_a_cycle_does_not_name_what_is_beyond(world: World, limited: World) -> None:
    await apply(world, entry("a", group="alpha"), entry("b", "a", group="alpha"))
    secret = await world.task("secret", group="beta", dependency_ids=((await found(world, "b")).id,))
    await world.execute(
        "INSERT INTO task_dependencies (task_id, depends_on_id) VALUES (:a, :secret)".replace(
            ":a", str((await found(world, "a")).id)
        ).replace(":secret", str(secret.id))
    )
    with pytest.raises(InvalidInput, match="a → a task of another group → b → a"):
        await apply(limited, entry("a", "secret", group="alpha"), entry("b", "a", group="alpha"))
