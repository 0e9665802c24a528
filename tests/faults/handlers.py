"""The app whose handlers are the work in fault runs: they mark their start, take their time, and mark their end."""

from __future__ import annotations

import asyncio

from faults.history import MarkKind
from faults.marks import mark
from hourhand import App, Context

app = App("faults")


@app.task
async def work(ctx: Context, seconds: float = 0.0, seconds_again: float | None = None) -> None:
    """Take `seconds` at the first attempt, and `seconds_again` at every later one."""
    mark(MarkKind.START, ctx.instance_id, ctx.fence)
    await asyncio.sleep(seconds if ctx.fence == 1 or seconds_again is None else seconds_again)
    mark(MarkKind.END, ctx.instance_id, ctx.fence)
