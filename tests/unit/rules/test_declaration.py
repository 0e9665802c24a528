from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.model.task import Declaration, Task, TaskDefinition
from hourhand.model.words import TaskType
from hourhand.rules.closest import Closest
from hourhand.rules.declaration import Verdict, decide, declared_hash, in_order, missing_dependency, owner_of

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def declaration(name: str = "load", *depends_on: str, **changes: Any) -> Declaration:
    values = {"name": name, "type": TaskType.PYTHON, "payload": {"handler": name}, **changes}
    return Declaration(definition=TaskDefinition(**values), depends_on=depends_on)


LOAD = declaration()


def stored(release: int = 1, declared: Declaration = LOAD, **changes: Any) -> Task:
    definition = {field: getattr(declared.definition, field) for field in TaskDefinition.__dataclass_fields__}
    state: dict[str, Any] = {
        "id": 1,
        "group_id": 1,
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
        "anchored_at": NOW,
        "created_by": "app:billing",
        "updated_by": "app:billing",
        "managed_by": "app:billing",
        "declared_hash": declared_hash(declared, release),
    }
    return Task(**{**definition, **state, **changes})


def verdict(task: Task | None, release: int = 1, declared: Declaration = LOAD) -> tuple[Verdict, str]:
    decision = decide(task, declared_hash(declared, release), "billing")
    return decision.verdict, decision.reason


def test_the_hash_changes_exactly_when_the_declaration_does() -> None:
    first = declared_hash(LOAD, 3)
    assert first.startswith("3:")
    assert first == declared_hash(declaration(managed_by="app:billing", declared_hash="old"), 3)
    assert declared_hash(declaration("load", "a", "b"), 3) == declared_hash(declaration("load", "b", "a", "a"), 3)
    others = [declaration(priority=1), declaration("load", "a"), declaration(payload={"handler": "other"})]
    assert len({first, *[declared_hash(one, 3) for one in others]}) == 4


def test_what_is_not_there_is_created() -> None:
    assert verdict(None) == (Verdict.CREATE, "")


def test_a_name_that_a_deleted_task_of_somebody_else_had_is_free() -> None:
    assert verdict(stored(managed_by=None, deleted_at=NOW))[0] is Verdict.CREATE


def test_what_was_deleted_is_not_made_again() -> None:
    kept, reason = verdict(stored(deleted_at=NOW), release=2, declared=declaration(priority=1))
    assert kept is Verdict.KEEP
    assert "deleted" in reason


def test_a_task_of_another_owner_is_kept() -> None:
    assert verdict(stored(managed_by="app:other")) == (
        Verdict.KEEP,
        "the task of this name is managed by app:other: choose another name, or rename or delete that",
    )
    assert "was created by ann" in verdict(stored(managed_by=None, created_by="ann"))[1]


def test_what_is_as_declared_is_left() -> None:
    assert verdict(stored()) == (Verdict.LEAVE, "")


def test_a_new_declaration_of_the_same_or_a_newer_release_is_written() -> None:
    for release in (1, 2):
        assert verdict(stored(), release, declaration(priority=1))[0] is Verdict.CHANGE


def test_a_newer_release_of_the_same_declaration_is_written_so_that_older_ones_know() -> None:
    assert verdict(stored(release=1), release=2)[0] is Verdict.CHANGE


def test_an_older_release_changes_nothing_and_says_so_only_if_it_would() -> None:
    assert verdict(stored(release=3), release=2) == (Verdict.LEAVE, "")
    assert verdict(stored(release=3), 2, declaration(priority=1)) == (
        Verdict.KEEP,
        "release 3 has declared it already, and this is release 2",
    )


def test_what_a_person_edited_is_kept_and_said_only_if_there_was_something_new() -> None:
    edited = stored(updated_by="ann", enabled=False)
    assert verdict(edited, release=2) == (Verdict.LEAVE, "")
    kept, reason = verdict(edited, 2, declaration(priority=1))
    assert kept is Verdict.KEEP
    assert reason.startswith("ann has edited it")


@pytest.mark.parametrize("text", [None, "", "gibberish", "x:1"])
def test_a_hash_that_no_app_wrote_is_older_than_every_release(text: str | None) -> None:
    assert verdict(stored(declared_hash=text), release=0)[0] is Verdict.CHANGE


def test_owners_are_named_by_app() -> None:
    assert owner_of("billing") == "app:billing"


def test_dependencies_come_first() -> None:
    chain = [declaration("c", "b", "elsewhere"), declaration("b", "a"), declaration("a"), declaration("d", "c", "a")]
    assert [one.definition.name for one in in_order(chain)] == ["a", "b", "c", "d"]


@given(st.lists(st.sets(st.integers(0, 11)), max_size=12))
def test_every_order_has_dependencies_first_whatever_they_are(wanted: list[set[int]]) -> None:
    acyclic = [
        declaration(str(number), *[str(one) for one in needed if one < number]) for number, needed in enumerate(wanted)
    ]
    names = [one.definition.name for one in in_order(acyclic[::-1])]
    assert sorted(names) == sorted(one.definition.name for one in acyclic)
    for one in acyclic:
        assert all(names.index(needed) < names.index(one.definition.name) for needed in one.depends_on)


def test_a_very_long_chain_is_ordered() -> None:
    chain = [declaration("0"), *[declaration(str(number), str(number - 1)) for number in range(1, 1_100)]]
    assert in_order(chain[::-1]) == tuple(chain)


def test_a_cycle_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="a → c → b → a"):
        in_order([declaration("a", "c"), declaration("b", "a"), declaration("c", "b")])
    with pytest.raises(InvalidInput, match="a → a"):
        in_order([declaration("a", "a")])


def test_a_cycle_at_the_end_of_a_long_chain_is_named_alone() -> None:
    chain = [declaration(str(number), str(number + 1)) for number in range(5_000)]
    with pytest.raises(InvalidInput, match=r"a cycle: 5000 → z → 5000$"):
        in_order([*chain, declaration("5000", "z"), declaration("z", "5000")])


def test_a_task_may_depend_on_thousands() -> None:
    many = [declaration(str(number)) for number in range(5_000)]
    everything = declaration("all", *[one.definition.name for one in many])
    assert in_order([everything, *many]) == (*many, everything)


def test_a_name_declared_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="two tasks named 'a' are declared"):
        in_order([declaration("a"), replace(declaration("a"), depends_on=("b",))])


def test_a_missing_dependency_is_named_with_what_was_probably_meant() -> None:
    assert missing_dependency("laod", Closest(["load", "extract"])).endswith("did you mean 'load'?")
    assert missing_dependency("x", Closest([])).endswith("create or declare it first")
