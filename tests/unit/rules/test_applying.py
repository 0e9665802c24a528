"""The plan of applying a set of tasks; the contract suite applies them."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hourhand.model.task import Task, TaskDefinition
from hourhand.model.task_file import Drift, TaskSet
from hourhand.model.words import TaskType
from hourhand.rules.applying import Plan, Stored, applied_version, cycle_of, errors_of, file_owner, plan, summary
from hourhand.rules.closest import FEW
from hourhand.rules.task_files import read_tasks

AT = datetime(2026, 11, 15, 9, tzinfo=UTC)
OWNER = file_owner("billing")


def stored_task(name: str = "load", number: int = 1, **changes: Any) -> Task:
    values: dict[str, Any] = {
        "name": name,
        "type": TaskType.COMMAND,
        "payload": {"command": ["true"]},
        "managed_by": OWNER,
        "declared_hash": "1:x",
        "id": number,
        "group_id": 1,
        "version": 1,
        "created_at": AT,
        "updated_at": AT,
        "created_by": "ada",
        "updated_by": "ada",
        "anchored_at": AT,
    }
    return Task(**values | changes)


def definition_of(task: Task) -> TaskDefinition:
    return TaskDefinition(**{field.name: getattr(task, field.name) for field in fields(TaskDefinition)})


def wanted(*entries: dict[str, Any], **more: Any) -> TaskSet:
    return TaskSet(
        name="billing",
        tasks=read_tasks([{"name": "load", "command": ["true"], **one} for one in entries]).tasks,
        **more,
    )


def planned(wanted_set: TaskSet, *tasks: Task, prune: bool = False, take_over: bool = False, **more: Any) -> Plan:
    stored = Stored(
        living={task.name: task for task in tasks},
        names={task.id: task.name for task in tasks},
        groups={"default"},
        **more,
    )
    return plan(wanted_set, stored, prune=prune, take_over=take_over)


def actions(made: Plan) -> dict[str, str]:
    return {one.name: one.action.value for one in made.changes}


def test_what_is_missing_is_created_and_what_differs_edited() -> None:
    made = planned(wanted({"priority": 1}, {"name": "new"}, {"name": "same"}), stored_task(), stored_task("same", 2))
    assert actions(made) == {"load": "edit", "new": "create", "same": "unchanged"}
    assert not made.refused


def test_a_tuple_is_no_other_than_a_list() -> None:
    assert actions(planned(wanted({}), stored_task(payload={"command": ("true",)}))) == {"load": "unchanged"}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (1, True, False),
        (False, 0, False),
        (True, True, True),
        (1, 1.0, True),
        ([1, {"a": True}], [1, {"a": 1}], False),
        ([1], [1, 1], False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ("1", 1, False),
        (None, False, False),
    ],
)
def test_values_are_compared_as_json_has_them(before: object, after: object, *, same: bool) -> None:
    task = stored_task(type=TaskType.PYTHON, payload={"handler": "h", "args": {"x": before}})
    said = TaskSet(
        name="billing",
        tasks=read_tasks([{"name": "load", "handler": "h", "payload": {"args": {"x": after}}}]).tasks,
    )
    assert actions(planned(said, task)) == {"load": "unchanged" if same else "edit"}


def test_keys_of_a_payload_come_and_go() -> None:
    task = stored_task(payload={"command": ["true"], "cwd": "/a", "stdin": None})
    (change,) = planned(wanted({"payload": {"success_codes": [1]}}), task).changes
    assert {one.field: (one.before, one.after) for one in change.fields} == {
        "payload.cwd": ("/a", None),
        "payload.stdin": (None, None),
        "payload.success_codes": (None, [1]),
    }


def test_dependencies_are_compared_by_what_they_are_and_shown_by_name() -> None:
    up, load = stored_task("up", 1, managed_by=None), stored_task("load", 2, dependency_ids=(1,))
    assert actions(planned(wanted({"depends_on": ["up"]}), up, load)) == {"load": "unchanged"}
    (change,) = planned(wanted({"depends_on": ["new"]}), up, load).changes
    assert [(one.field, one.before, one.after) for one in change.fields] == [("depends_on", ["up"], ["new"])]
    (change,) = planned(wanted({}), stored_task(dependency_ids=(9,))).changes
    assert change.fields[0].before == ["#9"]


def test_who_manages_a_task_decides() -> None:
    by_hand, theirs = stored_task(managed_by=None), stored_task(managed_by="app:books", priority=1)
    assert actions(planned(wanted({}), by_hand)) == {"load": "adopt"}
    refused = planned(wanted({}), theirs)
    assert [(one.action, one.fields) for one in refused.refused] == [("refused", ())]
    (taken,) = planned(wanted({}), theirs, take_over=True).changes
    assert (taken.action, taken.reason, len(taken.fields)) == ("edit", "taken over from app:books", 1)


@pytest.mark.parametrize("prune", [False, True])
def test_what_is_gone_is_left_or_removed(*, prune: bool) -> None:
    others = [stored_task("other", 3, managed_by="file:other"), stored_task("unread", 4)]
    made = planned(replace(wanted({}), unread=("unread",)), stored_task(), stored_task("old", 2), *others, prune=prune)
    assert actions(made) == {"load": "unchanged", "old": "delete" if prune else "gone"}
    stays = "" if prune else ", and stays as it is unless it is pruned"
    assert made.changes[1].reason == f"it is no longer in the file{stays}"


def test_what_is_needed_is_not_removed() -> None:
    old, older = stored_task("old", 2), stored_task("older", 3)
    dependents = {2: ["load", "outside"], 3: ["old", "load"]}
    made = planned(wanted({}), stored_task(), old, older, dependents=dependents, prune=True)
    assert actions(made) == {"load": "unchanged", "old": "refused", "older": "delete"}
    assert str(made.refused[0].reason).startswith("it is no longer in the file, but outside depends on it")
    made = planned(wanted({"depends_on": ["old"]}), stored_task(), old, dependents={2: []}, prune=True)
    assert actions(made)["old"] == "refused"
    kept = planned(wanted({"depends_on": ["old"]}), stored_task(), old, dependents={2: ["load"]}, prune=True)
    assert "but load depends on it" in str(kept.refused[0].reason)


def test_drift_is_what_others_changed_and_applying_undoes() -> None:
    was = definition_of(stored_task(priority=3))
    now = stored_task(priority=9, owner="bob", version=2, updated_by="bob", dependency_ids=(7,))
    (change,) = planned(wanted({"priority": 3, "owner": "bob"}), now, applied={1: was}).changes
    assert change.drift == Drift(by="bob", at=AT, fields=("priority", "depends_on"))
    (change,) = planned(
        wanted({"priority": 9, "owner": "bob", "tags": ["x"]}), replace(now, dependency_ids=()), applied={1: was}
    ).changes
    assert (change.action, change.drift) == ("edit", None)


def test_a_deletion_by_others_is_drift() -> None:
    deleted = Drift(by="bob", at=AT, deleted=True)
    (change,) = planned(wanted({}), deleted={"load": deleted}).changes
    assert (change.action, change.drift) == ("create", deleted)


def test_a_rename_is_told_where_the_task_is_now() -> None:
    was = definition_of(stored_task())
    renamed = stored_task("renamed", updated_by="bob")
    made = planned(wanted({}), renamed, applied={1: was})
    assert "bob has renamed it from 'load'" in str(made.changes[1].reason)
    assert "stays as it is" in str(made.changes[1].reason)
    pruned = planned(wanted({}), renamed, applied={1: was}, prune=True).changes[1]
    assert (pruned.action, str(pruned.reason)[-31:]) == ("delete", "under this name it is not in the file"[-31:])
    same = planned(wanted({}), stored_task("old", 2), applied={2: definition_of(stored_task("old", 2))})
    assert "no longer in the file" in str(same.changes[1].reason)


def test_groups_that_are_missing_are_made() -> None:
    assert planned(wanted(groups=("new", "default"))).groups == ("new",)


def test_another_plan_has_another_hash() -> None:
    plans = [
        planned(wanted({})),
        planned(wanted({}, {"name": "b"})),
        planned(wanted({"priority": 1})),
        planned(wanted({}, groups=("g",))),
        planned(wanted({}), stored_task()),
        planned(wanted({}), stored_task(priority=1)),
        planned(wanted({}), stored_task(priority=1, version=2)),
        planned(wanted(), stored_task()),
        planned(wanted(), stored_task(), prune=True),
        planned(replace(wanted({}), name="other")),
    ]
    assert len({one.hash for one in plans}) == len(plans)
    unchanged = planned(wanted({}), stored_task(version=7))
    assert unchanged.hash == planned(wanted({}), stored_task()).hash


def test_unknown_groups_and_tasks_are_told_with_a_hint() -> None:
    said = wanted(
        {"group": "defalt", "depends_on": ["laod", "there", "unread", "b"]},
        {"name": "b", "group": "qqq"},
        {"name": "c", "group": "listed"},
        groups=("listed",),
        unread=("unread",),
    )
    stored = Stored(living={"there": stored_task("there")}, names={}, groups={"default"})
    told = {error.field: error.message for error in errors_of(said, stored, ["loader"])}
    assert told == {
        "tasks.0.group": "there is no group 'defalt': did you mean 'default'? Else list it under groups, and it will "
        "be made",
        "tasks.0.depends_on": "it depends on 'laod', and there is no task of that name: did you mean 'load'?",
        "tasks.1.group": "there is no group 'qqq': list it under groups, and it will be made",
    }


def test_only_the_first_of_many_errors_have_a_hint() -> None:
    said = wanted(*[{"name": f"t{number}", "depends_on": ["laod"], "group": "defalt"} for number in range(50)])
    stored = Stored(living={}, names={}, groups={"default"})
    messages = [error.message for error in errors_of(said, stored, ["load"])]
    assert len(messages) == 100
    assert sum("did you mean" in one for one in messages) == 2 * FEW


def test_what_is_expected_is_taken_to_be_there() -> None:
    said = wanted({"group": "new", "depends_on": ["coming"]}, groups=("new", "other"))
    stored = Stored(living={}, names={}, groups={"default"})
    assert [one.field for one in errors_of(said, stored, [])] == ["tasks.0.depends_on"]
    said = replace(said, expected_tasks=("coming",), expected_groups=("new",))
    assert list(errors_of(said, stored, [])) == []
    assert planned(said).groups == ("other",)
    assert list(errors_of(replace(said, groups=()), stored, [])) == []


def test_a_circle_is_told_of_the_sets_own_task_and_hides_what_is_to_be_hidden() -> None:
    said, others = wanted({"depends_on": ["far"]}), wanted({"name": "far", "depends_on": ["load"]}).tasks
    assert cycle_of(said, (), ()) is None
    error = cycle_of(said, others, {"far"})
    assert error is not None
    assert error.field == "tasks.0.depends_on"
    assert error.message == "these dependencies form a cycle: load → a task of another group → load"


def test_the_version_that_was_applied_is_remembered_with_the_task() -> None:
    assert [applied_version(stored_task(declared_hash=text)) for text in ("7:x", None, "x")] == [7, 0, 0]


def test_a_summary_counts() -> None:
    assert summary(["unchanged", "create", "create", "gone"]) == "2 created, 1 gone from the file, 1 unchanged"
    assert summary([]) == "no tasks"
