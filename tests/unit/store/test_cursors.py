from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.store.paging import read_cursor, write_cursor
from unit.rules.cron_oracle import examples

KNOWN: dict[str, tuple[type, ...]] = {"living": (int,), "ended": (int, int), "name": (str,)}
numbers = st.integers(0, 2**53 - 1)
places = st.one_of(
    st.tuples(st.just("living"), numbers),
    st.tuples(st.just("ended"), numbers, numbers),
    st.tuples(st.just("name"), st.text(st.characters(blacklist_characters="\x00", codec="utf-8"), min_size=1)),
)


def cursor(place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def test_without_a_cursor_a_list_begins_at_its_beginning() -> None:
    assert read_cursor(None, KNOWN) is None


@given(places)
@examples(300)
def test_a_cursor_names_the_place_it_was_made_for(place: tuple[Any, ...]) -> None:
    assert read_cursor(write_cursor(*place), KNOWN) == place


@given(places)
@examples(100)
def test_a_cursor_can_stand_in_an_address(place: tuple[Any, ...]) -> None:
    assert all(character.isalnum() or character in "-_" for character in write_cursor(*place))


@pytest.mark.parametrize(
    "wrong",
    [
        "", "x", "%%%", "ü", "\ud800", "AAAA",
        cursor([]), cursor({}), cursor(5), cursor("living"), cursor(None), cursor([["living"], 1]),
        cursor(["other", 1]), cursor(["living"]), cursor(["living", "1"]), cursor(["living", True]),
        cursor(["living", 1.5]), cursor(["living", 1, 2]), cursor(["living", None]), cursor(["living", [1]]),
        cursor(["living", 2**53]), cursor(["ended", 2**62, 1]), cursor(["name", ""]), cursor(["name", "a\x00"]),
        cursor(["name", "\ud800"]), cursor(["name", 5]), "W" * 100_000,
    ],
)  # fmt: skip
def test_what_this_list_did_not_make_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_cursor(wrong, KNOWN)
    (error,) = refused.value.errors
    assert (error.field, error.value) == ("cursor", wrong)
    assert error.message == "is not a cursor of this list: use next_cursor of its last page"


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(InvalidInput):
        read_cursor(write_cursor("name", "books"), {"version": (int,)})


def test_hostile_nesting_is_refused() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 100_000).decode()
    with pytest.raises(InvalidInput):
        read_cursor(deep, KNOWN)


@given(st.text(max_size=50))
@examples(300)
def test_whatever_is_sent_as_a_cursor_is_read_or_refused(text: str) -> None:
    try:
        place = read_cursor(text, KNOWN)
    except InvalidInput:
        return
    assert place is None or place[0] in KNOWN
