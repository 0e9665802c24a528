from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.model.task import TaskDefinition
from hourhand.model.words import MisfirePolicy, TaskType
from hourhand.rules.definition import (
    FIELDS,
    MAX_JSON_BYTES,
    MAX_JSON_DEPTH,
    OPTIONAL,
    RANGES,
    TEXTS,
    WORDS,
    changes_from,
    check,
    check_args,
    definition_from,
    json_errors,
)
from unit.rules.cron_oracle import examples

GIVEN: dict[str, Any] = {"name": "close books", "type": "command", "payload": {"command": "true"}}


def refusals(**changes: Any) -> list[tuple[str, str]]:
    """Return the fields and messages with which a definition is refused."""
    with pytest.raises(InvalidInput) as refused:
        definition_from({**GIVEN, **changes})
    return [(error.field, error.message) for error in refused.value.errors]


def refusal(**changes: Any) -> tuple[str, str]:
    (one,) = refusals(**changes)
    return one


def test_what_is_left_out_gets_the_default_of_the_model() -> None:
    assert definition_from(GIVEN) == TaskDefinition(
        name="close books", type=TaskType.COMMAND, payload={"command": "true"}
    )


def test_words_and_lists_get_their_types() -> None:
    made = definition_from({**GIVEN, "misfire_policy": "catch_up", "tags": ["a"], "dependency_ids": [3, 4]})
    assert made.misfire_policy is MisfirePolicy.CATCH_UP
    assert (made.tags, made.dependency_ids) == (("a",), (3, 4))


def test_every_field_of_the_model_is_known_and_of_one_shape() -> None:
    assert tuple(field.name for field in fields(TaskDefinition)) == FIELDS
    nullable = {field.name for field in fields(TaskDefinition) if "None" in str(field.type)}
    assert nullable == OPTIONAL
    assert not set(WORDS) & set(RANGES) | set(RANGES) & set(TEXTS) | set(WORDS) & set(TEXTS)


def test_every_default_is_within_its_range() -> None:
    for field in fields(TaskDefinition):
        if field.name in RANGES and field.default not in (None, MISSING):
            least, most = RANGES[field.name]
            assert least <= field.default <= most


def test_all_refusals_come_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        definition_from({"schedul": "@daily", "priority": "high", "enabled": 1})
    assert [(error.field, error.value, error.message) for error in refused.value.errors] == [
        ("name", None, "is required: give a text"),
        ("type", None, "is required: give one of: command, http, python, operation, xxl"),
        ("schedul", "@daily", "is not a field of a task; did you mean 'schedule'?"),
        ("priority", "high", "'high' is not a whole number"),
        ("enabled", 1, "1 is not true or false"),
    ]


def test_rules_are_checked_all_at_once_too() -> None:
    found = refusals(name="", priority=10, schedule="nonsense", payload={}, concurrency_key="${")
    assert [field for field, _ in found] == ["name", "priority", "schedule", "payload.command", "concurrency_key"]


def test_an_unknown_field_that_resembles_none_lists_them_all() -> None:
    field, message = refusal(xyzzy=1)
    assert field == "xyzzy"
    assert message == f"is not a field of a task; the fields are: {', '.join(FIELDS)}"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("name", 5, "5 is not a text"),
        ("name", None, "None is not a text"),
        ("type", "shell", "'shell' is not one of: command, http, python, operation, xxl"),
        ("type", None, "None is not one of: command, http, python, operation, xxl"),
        ("type", ["http"], "['http'] is not one of: command, http, python, operation, xxl"),
        ("retry_backoff", "linear", "'linear' is not one of: fixed, exponential"),
        ("priority", 2.5, "2.5 is not a whole number"),
        ("priority", True, "True is not a whole number"),
        ("priority", None, "None is not a whole number"),
        ("broadcast", "yes", "'yes' is not true or false"),
        ("payload", [], "[] is not an object"),
        ("executor_labels", "gpu", "'gpu' is not an object"),
        ("dependency_ids", 3, "3 is not a list of task ids"),
        ("dependency_ids", ["3"], "['3'] is not a list of task ids"),
        ("dependency_ids", [True], "[True] is not a list of task ids"),
        ("tags", "a", "'a' is not a list of texts"),
        ("tags", [1], "[1] is not a list of texts"),
    ],
)
def test_a_value_of_the_wrong_shape_is_refused_with_what_is_right(name: str, value: object, message: str) -> None:
    assert refusal(**{name: value}) == (name, message)


@pytest.mark.parametrize("name", sorted(OPTIONAL))
def test_an_optional_field_may_be_null(name: str) -> None:
    assert getattr(definition_from({**GIVEN, name: None}), name) is None


def test_a_long_wrong_value_is_shown_in_part() -> None:
    _, message = refusal(priority="x" * 100_000)
    assert len(message) < 200


@pytest.mark.parametrize(("name", "bounds"), RANGES.items())
def test_a_number_is_allowed_up_to_its_bounds_and_refused_beyond(name: str, bounds: tuple[int, int]) -> None:
    least, most = bounds
    for value in bounds:
        assert getattr(definition_from({**GIVEN, name: value}), name) == value
    for value in (least - 1, most + 1):
        assert refusal(**{name: value}) == (name, f"{value} is out of range: give {least} to {most}")


@pytest.mark.parametrize(("name", "longest"), TEXTS.items())
def test_a_text_is_allowed_up_to_its_length(name: str, longest: int) -> None:
    assert len(getattr(definition_from({**GIVEN, name: "x" * longest}), name)) == longest
    message = f"has {longest + 1} characters; at most {longest} are allowed"
    assert refusal(**{name: "x" * (longest + 1)}) == (name, message)


@pytest.mark.parametrize("name", ["name", "group"])
def test_a_name_is_not_empty_and_has_no_space_around_it(name: str) -> None:
    assert refusal(**{name: ""}) == (name, f"'' is empty: give a {name}")
    assert refusal(**{name: "  "}) == (name, f"'  ' is empty: give a {name}")
    assert refusal(**{name: " x"}) == (name, "' x' begins or ends with a space: remove it")


def test_an_empty_concurrency_key_or_tag_is_refused() -> None:
    assert refusal(concurrency_key="") == ("concurrency_key", "'' is empty: give a concurrency key, or null for none")
    assert refusal(tags=["a", " "]) == ("tags", "holds an empty tag: leave it out")


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\n", "\t", "\ud800"])
def test_a_name_has_no_control_characters(character: str) -> None:
    name = f"a{character}b"
    message = f"{name!r} contains the control character {character!a}: remove it"
    assert refusal(name=name) == ("name", message)


def test_a_description_may_have_lines_but_no_other_control_characters() -> None:
    assert definition_from({**GIVEN, "description": "one\r\n\ttwo"}).description == "one\r\n\ttwo"
    assert refusal(description="a\x00")[1] == "'a\\x00' contains the control character '\\x00': remove it"


def test_a_dependency_is_named_once_and_is_an_id() -> None:
    assert refusal(dependency_ids=[4, 3, 4, 3]) == (
        "dependency_ids",
        "[3, 4] are named more than once: name each once",
    )
    for strange in (0, -1, 2**63):
        assert refusal(dependency_ids=[5, strange]) == ("dependency_ids", f"{strange} is not the id of a task")


def test_labels_map_texts_to_texts() -> None:
    assert definition_from({**GIVEN, "executor_labels": {"gpu": "yes", "zone": "eu"}})
    assert refusal(executor_labels={"gpu": 1}) == (
        "executor_labels.gpu",
        "1 is not a text: labels map texts to texts",
    )


def test_a_wrong_schedule_is_refused_by_its_own_rules_and_once() -> None:
    field, message = refusal(schedule="61 * * * *", concurrency_key="${x}")
    assert field == "schedule"
    assert "61" in message
    assert refusal(timezone="Mars/Base")[0] == "timezone"


def test_a_schedule_may_be_written_with_tabs() -> None:
    assert definition_from({**GIVEN, "schedule": "0\t2 * * *"})


def test_upstream_needs_somebody_to_follow() -> None:
    assert refusal(schedule="@upstream") == (
        "schedule",
        "@upstream follows its dependencies: name at least one in dependency_ids",
    )
    assert definition_from({**GIVEN, "schedule": "@upstream", "dependency_ids": [1]})


@pytest.mark.parametrize("schedule", ["@daily", "@every 5m", "@after 5m", "@at 2027-01-01T00:00Z", "@upstream"])
def test_what_the_scheduler_makes_has_no_arguments_for_its_concurrency_key(schedule: str) -> None:
    assert refusal(schedule=schedule, concurrency_key="k-${day}", dependency_ids=[1]) == (
        "concurrency_key",
        "scheduled instances have no argument 'day': leave it out of the key",
    )


def test_a_python_task_may_give_the_arguments_of_its_key_in_its_payload() -> None:
    python = {"name": "t", "type": "python", "schedule": "@daily", "concurrency_key": "k-${day}"}
    assert definition_from({**python, "payload": {"handler": "h", "args": {"day": "monday"}}})
    for args in (dict[str, str](), None):
        with pytest.raises(InvalidInput, match=r"'day': give it in payload\.args, or leave it out of the key"):
            definition_from({**python, "payload": {"handler": "h", "args": args}})


def test_a_task_run_by_hand_may_use_any_argument_in_its_key() -> None:
    assert definition_from({**GIVEN, "concurrency_key": "k-${day}"})
    assert definition_from({**GIVEN, "schedule": "@daily", "concurrency_key": "plain"})


def test_a_change_is_read_field_by_field() -> None:
    assert changes_from({"type": "http", "tags": ["x"], "owner": None}) == {
        "type": TaskType.HTTP,
        "tags": ("x",),
        "owner": None,
    }
    with pytest.raises(InvalidInput, match="priority: 'high' is not a whole number"):
        changes_from({"priority": "high"})


def test_a_definition_made_in_python_is_checked_by_the_same_rules() -> None:
    with pytest.raises(InvalidInput, match="priority: 99 is out of range: give 0 to 9"):
        check(TaskDefinition(name="t", type=TaskType.COMMAND, payload={"command": "true"}, priority=99))


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value] if depth % 2 else {"in": value}
    return value


def test_arguments_are_an_object_or_nothing() -> None:
    check_args(None)
    check_args({"a": [1, None, "x"]})
    for wrong in (["x"], "x", 3):
        with pytest.raises(InvalidInput) as refused:
            check_args(wrong)
        assert str(refused.value) == f"args: {wrong!r} is not an object: give named arguments"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": float("nan")}, "is not JSON: Out of range float values are not JSON compliant"),
        ({"a": {1, 2}}, "is not JSON: Object of type set is not JSON serializable"),
        ({"a": MappingProxyType({})}, "is not JSON: Object of type mappingproxy is not JSON serializable"),
        ({(1, 2): 3}, "is not JSON: keys must be str, int, float, bool or None, not tuple"),
        ({"a": "x\x00"}, "contains the NUL character, which no database text can hold: remove it"),
        ({"a\x00": "\\\x00"}, "contains the NUL character, which no database text can hold: remove it"),
        ({"a": "x" * MAX_JSON_BYTES}, f"has {MAX_JSON_BYTES + 9} bytes; at most {MAX_JSON_BYTES} are allowed"),
    ],
)
def test_what_no_store_can_keep_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_args(value)
    (error,) = refused.value.errors
    assert error.field == "args"
    assert error.message.startswith(message)


def test_half_a_surrogate_pair_is_refused() -> None:
    (error,) = json_errors({"a": "\ud800"}, "payload")
    assert error.message == "holds half of a surrogate pair, which is no character: remove it"


def test_a_backslash_before_u0000_is_text_and_no_nul() -> None:
    assert not list(json_errors({"pattern": r"\u0000", "more": "\\\\u0000"}, "args"))


@pytest.mark.parametrize("depth", [MAX_JSON_DEPTH - 1, MAX_JSON_DEPTH])
def test_nesting_is_allowed_up_to_a_depth(depth: int) -> None:
    assert not list(json_errors(nested(depth), "args"))
    (error,) = json_errors(nested(depth + 2), "args")
    assert error.message == f"is nested more than {MAX_JSON_DEPTH} levels deep"


def test_hostile_nesting_is_refused_without_recursion() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    (error,) = json_errors(deep, "args")
    assert "nested" in error.message
    circle: list[Any] = []
    circle.append(circle)
    (error,) = json_errors(circle, "args")
    assert "nested" in error.message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
@examples(300)
def test_json_is_refused_exactly_when_a_database_would_refuse_it(value: Any) -> None:
    inside = list(leaves(value))
    finite = all(math.isfinite(one) for one in inside if isinstance(one, float))
    texts = "".join(one for one in inside if isinstance(one, str))
    assert (not list(json_errors(value, "args"))) == (finite and "\x00" not in texts)


def leaves(value: Any) -> Iterator[Any]:
    """Yield all keys and single values inside a value."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one)
    else:
        yield value
