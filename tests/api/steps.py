"""An app whose tasks go step by step, as far as a file allows: `api.steps:app`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hourhand import App, Context

app = App(name="steps", group="default")


async def _allowed(gate: str) -> None:
    while not await asyncio.to_thread(Path(gate).exists):
        await asyncio.sleep(0.02)


@app.task
async def phases(ctx: Context, gate: str) -> dict[str, int]:
    """Read, post, and wait in the middle of it until the gate is there."""
    await ctx.progress(0.25, phase="reading")
    ctx.info("first line")
    await _allowed(f"{gate}-1")
    await ctx.progress(0.5, phase="posting")
    ctx.info("second line")
    await _allowed(f"{gate}-2")
    return {"posted": 40}


@app.task(max_retries=3, retry_delay_seconds=2)
def stumbles(ctx: Context) -> None:
    """Fail the first time."""
    if ctx.retry_count == 0:
        raise RuntimeError("the ledger is closed")


@app.task
async def talks(ctx: Context, lines: int, gate: str) -> None:
    """Write lines, some of which hold what looks like the end of a line, the last ones after the gate is there."""
    for number in range(lines // 2):
        ctx.info(f"line {number}\u2028still {number}")
        await asyncio.sleep(0.001)
    await _allowed(gate)
    for number in range(lines // 2, lines):
        ctx.info(f"line {number}\u2028still {number}")
