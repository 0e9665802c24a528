"""Lines of an instance log by level and text, forwards and backwards; each request looks at so many and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.filters import LineFilter
from hourhand.model.instance import Held, LogLine
from hourhand.model.words import LineLevel
from hourhand.rules.lines import LARGEST_SEQ, line_seq
from hourhand.store import line_search

if TYPE_CHECKING:
    from contracts.world import World

LEVELS = ("debug", "info", "warning", "error", "critical", "ERROR", "notice", "Debug")


async def written(world: World, lines: list[dict[str, Any]]) -> int:
    """An instance that runs, and has written these."""
    await world.executor()
    await world.submit(await world.task())
    (claimed,) = await world.claim()
    now, held = await world.store.now(), Held(claimed.instance_id, claimed.fence)
    numbered = [
        (held, LogLine(**{"seq": line_seq(claimed.fence, number), "logged_at": now, "message": str(number), **line}))
        for number, line in enumerate(lines)
    ]
    assert await world.store.write_lines(numbered) == len(lines)
    return claimed.instance_id


async def walked(
    world: World, instance_id: int, wanted: LineFilter, *, back: bool, limit: int
) -> tuple[list[str], int]:
    """The messages of all that fit, in order, and how many requests that took."""
    place = LARGEST_SEQ if back else -1
    found: list[str] = []
    for number in range(1, 1_000):
        where: dict[str, int] = {"before": place} if back else {"after": place}
        some = await world.store.search_lines(instance_id, wanted, limit=limit, **where)
        messages = [line.message for line in some.lines]
        assert len(messages) <= limit
        found = [*messages, *found] if back else [*found, *messages]
        if not some.more:
            return found, number
        assert some.first is not None
        moved = some.first if back else some.last
        assert moved < place if back else moved > place
        place = moved
    raise AssertionError("it goes on for ever")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (LineLevel.DEBUG, LEVELS),
        (LineLevel.INFO, ("info", "warning", "error", "critical", "ERROR", "notice")),
        (LineLevel.WARNING, ("warning", "error", "critical", "ERROR")),
        (LineLevel.ERROR, ("error", "critical", "ERROR")),
    ],
)
async def test_a_level_means_at_least_that_level(world: World, level: LineLevel, expected: tuple[str, ...]) -> None:
    instance_id = await written(world, [{"level": one, "message": one} for one in LEVELS])
    found = await world.store.search_lines(instance_id, LineFilter(level=level))
    assert tuple(line.message for line in found.lines) == expected
    assert (found.first, found.last, found.more) == (line_seq(1, 0), line_seq(1, len(LEVELS) - 1), False)


async def test_a_line_with_an_exception_or_of_stderr_is_an_error(world: World) -> None:
    lines = [{"stream": "stdout"}, {"stream": "stderr"}, {"level": "debug", "exception": "ValueError: no"}, {}]
    instance_id = await written(world, lines)
    for level in (LineLevel.WARNING, LineLevel.ERROR):
        found = await world.store.search_lines(instance_id, LineFilter(level=level))
        assert [line.message for line in found.lines] == ["1", "2"]


async def test_a_text_is_found_literally_in_the_message_or_the_exception_in_any_case(world: World) -> None:
    lines = [{"message": "100% done"}, {"message": "1000 done"}, {"exception": "KeyError: 'A_b'"}, {"message": "aXb"}]
    instance_id = await written(world, lines)
    for text, expected in (("0% D", ["100% done"]), ("a_b", ["2"]), ("DONE", ["100% done", "1000 done"]), ("zz", [])):
        found = await world.store.search_lines(instance_id, LineFilter(q=text))
        assert [line.message for line in found.lines] == expected
    both = await world.store.search_lines(instance_id, LineFilter(q="a_b", level=LineLevel.ERROR))
    assert [line.message for line in both.lines] == ["2"]


@pytest.mark.parametrize("looked_at", [20_000, 7, 1])
@pytest.mark.parametrize("way", ["forwards", "backwards"])
async def test_all_that_fits_is_found_however_little_a_request_looks_at(
    world: World, looked_at: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"level": "error" if number in (0, 3, 4, 5, 29, 39) else "info"} for number in range(40)]
    instance_id = await written(world, lines)
    monkeypatch.setattr(line_search, "LOOKED_AT", looked_at)
    for limit in (1, 2, 100):
        wanted, back = LineFilter(level=LineLevel.ERROR), way == "backwards"
        found, requests = await walked(world, instance_id, wanted, back=back, limit=limit)
        assert found == ["0", "3", "4", "5", "29", "39"]
        assert requests >= 40 // looked_at


async def test_the_last_error_before_a_place(world: World) -> None:
    lines = [{"level": "error" if number % 10 == 3 else "info"} for number in range(50)]
    instance_id = await written(world, lines)
    wanted = LineFilter(level=LineLevel.ERROR)
    last = await world.store.search_lines(instance_id, wanted, before=LARGEST_SEQ, limit=1)
    assert ([line.message for line in last.lines], last.first, last.more) == (["43"], line_seq(1, 43), True)
    one_before = await world.store.search_lines(instance_id, wanted, before=last.first, limit=1)
    assert [line.message for line in one_before.lines] == ["33"]
    between = {"after": line_seq(1, 3), "before": line_seq(1, 23)}
    assert [line.message for line in (await world.store.search_lines(instance_id, wanted, **between)).lines] == ["13"]


async def test_where_nothing_is_written_there_is_nothing_to_look_at(world: World) -> None:
    instance_id = await written(world, [{}])
    nothing = await world.store.search_lines(instance_id, LineFilter(q="x"), after=line_seq(1, 0))
    assert (nothing.lines, nothing.first, nothing.last, nothing.more) == ((), None, line_seq(1, 0), False)
