"""An app whose handlers do everything that users' code does, good and bad; `engine.handlers:app`."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from hourhand import App, Context, Fail, Retry

app = App(name="engine", group="default")


def note(ctx: Context, word: str, file: str | None) -> None:
    """One line per event in a file: what really happened, whatever the store says."""
    if file:
        with Path(file).open("a") as opened:
            opened.write(f"{word} {ctx.instance_id} {ctx.fence} {time.time():.6f}\n")


@app.task
async def answer(ctx: Context, value: Any = None, file: str | None = None) -> Any:
    """Return what it was given."""
    note(ctx, "start", file)
    return value


@app.task
async def slow(ctx: Context, seconds: float = 60.0, file: str | None = None) -> str:
    """Take its time, and notice when it is stopped."""
    note(ctx, "start", file)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note(ctx, "stopped", file)
        raise
    note(ctx, "end", file)
    return "slept"


@app.task
async def stubborn(ctx: Context, file: str | None = None) -> str:
    """Refuse to be stopped for a while."""
    note(ctx, "start", file)
    until = time.monotonic() + 4
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            note(ctx, "ignored", file)
    note(ctx, "end", file)
    return "stubborn"


@app.task
async def broken(ctx: Context, times: int = 1_000) -> str:
    """Fail so many times, then succeed."""
    if ctx.retry_count < times:
        raise ValueError(f"broken at attempt {ctx.retry_count}")
    return "mended"


@app.task
async def exits() -> None:
    """Try to end the process."""
    raise SystemExit(3)


@app.task
async def not_json() -> Any:
    """Return what cannot be stored."""
    return object()


@app.task
async def blocks(seconds: float = 3.0) -> str:
    """Block the loop it runs on."""
    time.sleep(seconds)  # noqa: ASYNC251 - the very thing not to do
    return "blocked"


@app.task
def threaded(ctx: Context, seconds: float = 60.0) -> str:
    """Run in a thread, and look whether it should stop."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not ctx.cancelled:
        time.sleep(0.02)
    return "cancelled" if ctx.cancelled else "done"


@app.task
async def steps(ctx: Context, total: int = 5, die_at: int = -1, file: str | None = None) -> dict[str, int]:
    """Store a checkpoint at each step; in the first attempt fail at one of them."""
    first = ctx.checkpoint.get("step", 0)
    note(ctx, f"from-{first}", file)
    for step in range(first, total):
        if step == die_at and ctx.retry_count == 0:
            raise RuntimeError("died in the middle")
        await ctx.progress((step + 1) / total, phase=f"step {step}", checkpoint={"step": step + 1})
        ctx.info(f"did step {step}")
    return {"first": first}


@app.task
async def chatty(ctx: Context, lines: int = 100, size: int = 10) -> str:
    """Write a lot."""
    for number in range(lines):
        ctx.log(f"{number}:" + "x" * size)
    return "said"


@app.task(isolation="process")
def dies() -> None:
    """Kill its own process."""
    os.kill(os.getpid(), 9)


@app.task(isolation="process")
def forks() -> str:
    """Leave a child behind."""
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    return "forked"


@app.task
async def leaves_a_task_that_exits() -> str:
    """Leave a task behind that tries to end the process."""

    async def exits_later() -> None:
        raise SystemExit(1)

    task = asyncio.create_task(exits_later())
    task.add_done_callback(lambda ended: ended.exception())
    await asyncio.sleep(0.05)
    return "left"


@app.task
async def careless(ctx: Context) -> str:
    """Say things in ways that nobody checks."""
    ctx.log("by number", 20)  # type: ignore[arg-type]
    ctx.log({"not": "a text"})  # type: ignore[arg-type]
    ctx.log("nul \x00 and half a pair \ud800")
    try:
        await ctx.progress(0.5, phase=7)  # type: ignore[arg-type]
    except ValueError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - the test looks at it
        return type(error).__name__
    return "taken"


@app.task
def steer(ctx: Context, after: float = 0.0, times: int = 1, *, fail: bool = False) -> int:
    """Say what is to follow: tried again after a while, or never."""
    if fail:
        raise Fail("no use")
    if ctx.retry_count < times:
        raise Retry(after=after)
    return ctx.retry_count


app.task(name="steer_apart", isolation="process")(steer)
