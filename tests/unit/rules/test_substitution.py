from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.rules.substitution import places, substitute
from unit.rules.cron_oracle import examples

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)


def test_places_are_found_in_order_and_as_often_as_they_are_written() -> None:
    assert places("a-${x}-${_y2}-${x}", "field") == ("x", "_y2", "x")
    assert places("no places, $x, {x} and $$ are texts", "field") == ()


@pytest.mark.parametrize("name", ["", " x", "1a", "a.b", "a-b", "x\n", "ü", "a b"])
def test_a_place_that_is_not_a_name_is_refused(name: str) -> None:
    text = f"k-${{{name}}}"
    with pytest.raises(InvalidInput) as refused:
        places(text, "concurrency_key")
    (error,) = refused.value.errors
    assert (error.field, error.value) == ("concurrency_key", text)
    assert error.message == (
        f"${{{name}}} in {text!r} is not a name: write ${{arg}}, a letter first, then letters, digits or _"
    )


@pytest.mark.parametrize("text", ["${", "a${b", "${a}${b"])
def test_a_place_that_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        places(text, "concurrency_key")
    assert refused.value.errors[0].message == f"{text!r} opens a place with ${{ and does not close it: write ${{arg}}"


@pytest.mark.parametrize(
    ("value", "expected"), [("eu", "eu"), (7, "7"), (1.5, "1.5"), (True, "true"), ("", ""), ("${x}", "${x}")]
)
def test_an_argument_is_filled_in_as_it_is_and_never_evaluated(value: object, expected: str) -> None:
    assert substitute("k-${x}.", {"x": value}, "field") == f"k-{expected}."


@pytest.mark.parametrize("value", [None, [], {}, [1]])
def test_a_structured_argument_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        substitute("k-${x}", {"y": 1, "x": value}, "concurrency_key")
    (error,) = refused.value.errors
    assert (error.field, error.value) == ("concurrency_key", "k-${x}")
    assert error.message == "'k-${x}' needs the argument 'x' as text or a number; arguments given: x, y"


@pytest.mark.parametrize("args", [None, {}])
def test_a_missing_argument_is_refused(args: dict[str, Any] | None) -> None:
    with pytest.raises(InvalidInput, match="needs the argument 'x' as text or a number; arguments given: none"):
        substitute("${x}", args, "field")


def test_a_text_without_places_needs_no_arguments() -> None:
    assert substitute("plain", None, "field") == "plain"


@given(st.lists(st.tuples(st.text(alphabet="ab$- "), names), max_size=5), st.text(alphabet="ab- "))
@examples(200)
def test_filling_in_replaces_every_place_and_nothing_else(parts: list[tuple[str, str]], end: str) -> None:
    text = "".join(f"{before}.${{{name}}}" for before, name in parts) + end
    args = {name: f"<{name}>" for _, name in parts}
    assert places(text, "field") == tuple(name for _, name in parts)
    assert substitute(text, args, "field") == "".join(f"{before}.<{name}>" for before, name in parts) + end
