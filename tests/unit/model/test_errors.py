from __future__ import annotations

import inspect
import re

import pytest

from hourhand.model import errors
from hourhand.model.errors import (
    Conflict,
    DuplicateName,
    FieldError,
    Gone,
    HasDependents,
    HourhandError,
    IllegalEdge,
    InvalidInput,
    NotFound,
    StaleFence,
    StaleVersion,
    StoreError,
    Throttled,
    shown,
)

CLASSES = {
    name: one
    for name, one in inspect.getmembers(errors, inspect.isclass)
    if issubclass(one, Exception) and one.__module__ == errors.__name__
}


def drawn() -> dict[str, str | None]:
    """Return the tree of the module's docstring, each class with its parent."""
    tree: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^    ([│├└─ ]*)(\w+)", line)
        if found:
            depth = len(found[1]) // 4
            path = [*path[:depth], found[2]]
            tree[found[2]] = path[depth - 1] if depth else None
    return tree


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    parents = {name: one.__bases__[0].__name__ for name, one in CLASSES.items() if one is not HourhandError}
    assert drawn() == {"HourhandError": None, **parents}


@pytest.mark.parametrize("one", CLASSES.values())
def test_everything_that_is_refused_can_be_caught_as_one(one: type[Exception]) -> None:
    assert issubclass(one, HourhandError)
    assert one.__doc__


def test_wrong_input_carries_one_error_per_field() -> None:
    refused = InvalidInput(iter([FieldError("name", "", "is empty"), FieldError("priority", 10, "is too low")]))
    assert refused.errors == (FieldError("name", "", "is empty"), FieldError("priority", 10, "is too low"))
    assert str(refused) == "name: is empty; priority: is too low"
    assert InvalidInput.one("name", "", "is empty").errors == (FieldError("name", "", "is empty"),)
    assert [each.field for each in refused.within("tasks.3").errors] == ["tasks.3.name", "tasks.3.priority"]
    assert InvalidInput.one("", [], "is no object").within("tasks.0").errors[0].field == "tasks.0"


@pytest.mark.parametrize(
    ("refusal", "message", "facts"),
    [
        (NotFound("task", "books"), "there is no task 'books'", {"kind": "task", "key": "books"}),
        (NotFound("instance", 7), "there is no instance 7", {"key": 7}),
        (
            DuplicateName("task", "books"),
            "a task named 'books' exists already: choose another name, or edit or delete that one",
            {"kind": "task", "name": "books"},
        ),
        (
            StaleVersion("task", 7, 2, 3),
            "task 7 is at version 3, not 2: read it again and repeat the change on top",
            {"given": 2, "current": 3},
        ),
        (
            StaleFence(7, 3),
            "instance 7 is no longer running under fence 3: this attempt was superseded and must stop without writing",
            {"instance_id": 7, "fence": 3},
        ),
        (
            IllegalEdge("instance 7", "success", "pending", ()),
            "instance 7 is success and cannot be pending; from success it may become: nothing: it has ended",
            {"state": "success", "wanted": "pending", "legal": ()},
        ),
        (
            HasDependents("books", iter(["report", "mail"])),
            "task 'books' is needed by report, mail: remove the dependency there first, or force the deletion",
            {"dependents": ("report", "mail")},
        ),
        (Throttled(60), "too many sign-ins have failed here: try again in 60 seconds", {"seconds": 60}),
        (Gone("instance 7 has been removed by retention"), "instance 7 has been removed by retention", {}),
        (StoreError("PostgreSQL: no"), "PostgreSQL: no", {}),
    ],
)
def test_a_refusal_says_what_was_wrong_and_what_would_be_right(
    refusal: HourhandError, message: str, facts: dict[str, object]
) -> None:
    assert str(refusal) == message
    assert {name: getattr(refusal, name) for name in facts} == facts


def test_state_conflicts_are_no_input_errors() -> None:
    assert not issubclass(Conflict, InvalidInput)


def test_a_refused_value_is_shown_in_part_however_large_or_deep() -> None:
    assert shown("x") == "'x'"
    assert shown([1, "a"]) == "[1, 'a']"
    assert len(shown("x" * 1_000_000)) <= 100
    assert len(shown([["x"] * 100] * 100)) <= 500
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert len(shown(deep)) <= 100
