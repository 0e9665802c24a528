"""An app that talks: `api.chatter:app`."""

from __future__ import annotations

import asyncio
import threading
import time

from hourhand import App, Context

app = App(name="chatter", group="default")


@app.task
async def talk(ctx: Context, lines: int, seconds: float) -> int:
    """Write so many lines in so many seconds, and say how far it has come."""
    begin = time.monotonic()
    for number in range(lines):
        ctx.info(f"line {number}")
        if number % 10 == 9:
            await ctx.progress((number + 1) / lines)
            await asyncio.sleep(max(0.0, begin + seconds * (number + 1) / lines - time.monotonic()))
    return lines


@app.task
def talk_at_once(ctx: Context, lines: int, threads: int) -> int:
    """Write from several threads at once."""

    def write(who: int) -> None:
        for number in range(lines):
            ctx.info(f"thread {who} line {number}")

    writers = [threading.Thread(target=write, args=(who,)) for who in range(threads)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    return lines
