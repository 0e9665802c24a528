"""The python runner: what handlers say through Python's logging."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from engine.python_runs import attempt, both, is_, run, runner_of
from hourhand import Context
from hourhand.runners.python_records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator


@both
async def test_what_a_handler_logs_goes_to_its_instance_log(*, sync: bool) -> None:
    logger = logging.getLogger("billing.posting")

    def talk(ctx: Context) -> None:
        logger.warning("page %d of instance %d", 3, ctx.instance_id)
        try:
            int("bad page")
        except ValueError:
            logger.exception("skipped")
        logging.getLogger("hourhand.store").error("about ourselves")

    attempted = attempt()
    await run(is_(sync, talk), attempted)
    first, second = attempted.lines
    assert (first.level, first.message) == ("warning", "page 3 of instance 7")
    assert (second.level, second.message) == ("error", "skipped")
    assert "ValueError: invalid literal for int" in (second.exception or "")
    logger.warning("after the handler")
    assert len(attempted.lines) == 2


async def test_records_of_handlers_side_by_side_are_not_mixed_up() -> None:
    logger = logging.getLogger("billing")

    async def talk(ctx: Context) -> None:
        async def inner() -> None:
            logger.warning("inner %d", ctx.instance_id)

        for _ in range(5):
            await asyncio.sleep(0)
            logger.warning("outer %d", ctx.instance_id)
        await asyncio.gather(inner(), asyncio.to_thread(logger.warning, "thread %d", ctx.instance_id))

    runner = runner_of(talk)
    attempts = [attempt(instance_id=number) for number in range(5)]
    await asyncio.gather(*[runner.run(one) for one in attempts])
    for one in attempts:
        assert len(one.lines) == 7
        assert {line.message.split()[-1] for line in one.lines} == {str(one.assignment.instance_id)}


@contextmanager
def listening_alone(*handlers: logging.Handler) -> Iterator[None]:
    """Let nobody else listen to the root logger, as in a program that configures no logging."""
    root = logging.getLogger()
    before, root.handlers[:] = root.handlers[:], handlers
    try:
        yield
    finally:
        root.handlers[:] = before


async def test_a_record_that_cannot_be_written_does_no_harm(capsys: pytest.CaptureFixture[str]) -> None:
    def talk() -> str:
        logging.getLogger("billing").warning("%d pages", "three")
        return "done"

    with listening_alone():
        assert (await run(talk)).result == {"value": "done"}
    assert "Logging error" in capsys.readouterr().err


def test_warnings_of_a_program_without_logging_are_still_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with listening_alone(Records()):
        logging.getLogger("billing").info("nobody asked")
        logging.getLogger("billing").warning("the disk is full")
    assert capsys.readouterr().err == "the disk is full\n"


def test_warnings_that_somebody_prints_are_not_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("billing.own")
    handler = logging.StreamHandler(sys.stderr)
    logger.addHandler(handler)
    with listening_alone(Records()):
        logger.warning("once")
    logger.removeHandler(handler)
    assert capsys.readouterr().err == "once\n"
