from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind
from hourhand.store.types import dump_json
from hourhand.store.values import (
    ERROR_BYTES,
    JSON_BYTES,
    JSON_DEPTH,
    SUMMARY_BYTES,
    TRUNCATED,
    clean,
    clean_json,
    clean_text,
)
from unit.rules.cron_oracle import examples

any_text = st.text(st.characters(blacklist_categories=()), max_size=200)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@given(any_text, st.integers(len(TRUNCATED.encode()), 100), st.booleans())
@examples(500)
def test_a_clean_text_can_be_stored_and_is_within_its_limit(text: str, limit: int, keep_end: bool) -> None:  # noqa: FBT001
    cleaned = clean_text(text, limit, keep_end=keep_end)
    assert cleaned is not None
    assert "\x00" not in cleaned
    assert len(cleaned.encode()) <= limit


def test_nothing_stays_nothing() -> None:
    assert clean_text(None, 10) is None
    assert clean_json(None) is None


def test_a_text_that_fits_is_kept_as_it_is() -> None:
    assert clean_text("schön", 6) == "schön"


def test_a_cut_text_says_so_at_the_end_that_was_cut() -> None:
    assert clean_text("a" * 50, 20) == "a" * 5 + TRUNCATED
    assert clean_text("a" * 50 + "b", 20, keep_end=True) == TRUNCATED + "aaaab"


def test_a_text_is_never_cut_inside_a_character() -> None:
    assert clean_text("é" * 50, 20) == "éé" + TRUNCATED
    assert clean_text("é" * 50, 20, keep_end=True) == TRUNCATED + "éé"


@given(any_json)
@examples(500)
def test_a_clean_value_can_be_stored_by_both_databases(value: Any) -> None:
    text = dump_json(clean_json(value))
    text.encode()
    assert "\x00" not in "".join(leaves(json.loads(text)))


@given(any_json)
@examples(300)
def test_what_can_be_stored_is_not_touched(value: Any) -> None:
    try:
        storable = "\\u0000" not in dump_json(value) and bool(dump_json(value).encode())
    except ValueError:
        storable = False
    if storable:
        assert clean_json(value) is value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a\x00": ["x\x00y", {"b": "\x00"}]}, {"a": ["xy", {"b": ""}]}),
        ({"pattern": r"\u0000q", "n": "\x00"}, {"pattern": r"\u0000q", "n": ""}),
        ({"half": "\ud800"}, {"half": "?"}),
    ],
)
def test_what_no_database_takes_is_removed_and_nothing_else(value: Any, expected: Any) -> None:
    assert clean_json(value) == expected


def test_a_backslash_before_u0000_is_text() -> None:
    assert clean_json({"pattern": r"\u0000q"}) == {"pattern": r"\u0000q"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": float("nan")}, "the result is not JSON: Out of range float values are not JSON compliant"),
        ({"a": object}, "the result is not JSON: Object of type type is not JSON serializable"),
        ({"a": 10**5_000}, "the result is not JSON: Exceeds the limit (4300 digits) for integer string conversion"),
    ],
)
def test_what_is_no_json_is_replaced_by_an_explanation(value: Any, told: str) -> None:
    assert clean_json(value)["error"].startswith(told)


def test_a_value_that_is_too_large_is_replaced_by_its_beginning() -> None:
    kept = clean_json({"log": "x\ud800" * JSON_BYTES})
    assert kept["error"] == f"the result has {2 * JSON_BYTES + 10} bytes; at most {JSON_BYTES} are kept"
    assert kept["truncated"].startswith('{"log":"x?x?')
    dump_json(kept).encode()


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_a_value_may_be_nested_to_a_depth_only() -> None:
    assert clean_json(nested(JSON_DEPTH)) == nested(JSON_DEPTH)
    assert clean_json(nested(100_000)) == {"error": f"the result is nested more than {JSON_DEPTH} levels deep"}


def test_a_value_that_holds_itself_twice_costs_no_more_than_one_that_does_so_once() -> None:
    circle: list[Any] = []
    circle += [circle, circle]
    assert "nested" in clean_json(circle)["error"]


def test_an_outcome_is_cleaned_as_a_whole() -> None:
    outcome = clean(
        Outcome(
            kind=OutcomeKind.FAILED,
            result={"a": "\x00"},
            error_message="e" * 2 * ERROR_BYTES,
            output_summary="begin" + "o" * 2 * SUMMARY_BYTES + "end",
            summary={"b": {1}},
            duration_ms=-5,
            retryable=False,
            delay_seconds=-1.0,
        )
    )
    assert (outcome.kind, outcome.result, outcome.retryable) == (OutcomeKind.FAILED, {"a": ""}, False)
    assert (outcome.duration_ms, outcome.delay_seconds) == (0, 0.0)
    assert outcome.error_message is not None
    assert outcome.error_message.endswith(TRUNCATED)
    assert outcome.output_summary is not None
    assert outcome.output_summary.endswith("end")
    assert outcome.output_summary.startswith(TRUNCATED)
    assert outcome.summary == {"error": "the result is not JSON: Object of type set is not JSON serializable"}


def leaves(value: Any) -> list[str]:
    """Return all texts inside a value, keys included."""
    match value:
        case dict():
            return [text for key, one in value.items() for text in (key, *leaves(one))]
        case list():
            return [text for one in value for text in leaves(one)]
        case str():
            return [value]
        case _:
            return []
