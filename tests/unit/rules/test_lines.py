"""Lines of an instance come in order, across its attempts, and a place among them is never ambiguous."""

from __future__ import annotations

import random

import pytest

from hourhand.rules.lines import FIRST_OF_CALLBACKS, LARGEST_SEQ, Place, line_seq, of_callback


def own(fence: int, number: int) -> int:
    return line_seq(fence, number)


def called(fence: int, number: int) -> int:
    return line_seq(fence, FIRST_OF_CALLBACKS + number)


def test_lines_of_a_later_attempt_come_later() -> None:
    assert line_seq(1, 0) < line_seq(1, 1) < line_seq(2, 0)


def test_a_number_fits_into_javascript() -> None:
    assert line_seq(2**20, 2**32 - 1) < 2**53


def test_lines_of_callbacks_are_told_from_those_of_the_executor() -> None:
    assert not of_callback(own(3, 2**31 - 1))
    assert of_callback(called(3, 0))


def test_the_beginning_comes_before_every_line() -> None:
    place = Place.after(-1)
    assert str(place) == "-1"
    assert not place.mixed
    assert not any(place.has(seq) for seq in (0, own(1, 0), called(1, 0)))


def test_a_line_of_the_executor_after_one_of_a_callback_has_not_been_read() -> None:
    place = Place.after(own(1, 4)).then(called(1, 7))
    assert place.has(own(1, 4))
    assert place.has(called(1, 7))
    assert not place.has(own(1, 5))
    assert not place.has(called(1, 8))
    assert not place.has(own(2, 0))
    assert place.then(own(1, 5)).has(own(1, 5))
    assert str(place) == f"{own(1, 4)}:{called(1, 7)}"


def test_the_next_attempt_ends_the_one_before() -> None:
    place = Place.after(own(1, 4)).then(called(1, 7)).then(own(2, 0))
    assert (place.fence, place.mixed, str(place)) == (2, False, str(own(2, 0)))
    assert place.has(called(1, 99))
    assert not place.has(called(2, 0))
    assert not Place.after(own(1, 4)).then(called(2, 0)).has(own(2, 0))


def test_after_a_single_number_of_a_callback_all_below_it_counts_as_read() -> None:
    place = Place.after(called(1, 7))
    assert place.has(own(1, 2**31 - 1))
    assert not place.has(called(1, 8))


def test_a_place_that_was_written_down_is_found_again() -> None:
    chance = random.Random(20)  # noqa: S311 - the same each time
    for _ in range(2_000):
        place = Place.after(-1)
        fence = 1
        numbers = {True: 0, False: 0}
        for _ in range(chance.randrange(1, 8)):
            if chance.random() < 0.2:
                fence, numbers = fence + chance.randrange(1, 3), {True: 0, False: 0}
            by_callback = chance.random() < 0.4
            seq = (called if by_callback else own)(fence, numbers[by_callback])
            numbers[by_callback] += chance.randrange(1, 5)
            assert not place.has(seq)
            place = place.then(seq)
            assert place.has(seq)
            assert place.fence == fence
            assert Place.read(str(place)) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "-2",
        "1:",
        ":1",
        "1.5",
        "٣",
        str(LARGEST_SEQ + 1),
        f"{own(1, 0)}:{own(1, 1)}",
        f"{own(2, 0)}:{called(1, 0)}",
        f"{called(1, 0)}:{called(1, 1)}",
        f"{own(1, 0) - 2}:{called(1, 0)}",
    ],
)
def test_what_no_stream_has_written_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="^" if not text else None):
        Place.read(text)


@pytest.mark.parametrize("text", ["-1", "0", str(own(1, 0)), f"{own(1, 0) - 1}:{called(1, 0)}", str(LARGEST_SEQ)])
def test_what_a_stream_may_have_written_is_read(text: str) -> None:
    Place.read(text)
