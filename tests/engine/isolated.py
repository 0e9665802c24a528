"""An app whose handlers run in processes of their own and misbehave there; `engine.isolated:app`."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from hourhand import App, Context
from hourhand.model.errors import HourhandError, InvalidInput

app = App("isolated")
process = app.task(isolation="process")


@process
def add(a: int, b: int = 1) -> int:
    return a + b


@process
async def add_later(ctx: Context, a: int, b: int = 1) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"sum": a + b, "instance": ctx.instance_id, "pid": os.getpid()}


@process
def look(ctx: Context) -> list[Any]:
    facts = (ctx.instance_id, ctx.fence, ctx.task, ctx.retry_count, ctx.idempotency_key, ctx.shard_index)
    return [*facts, ctx.shard_total, ctx.checkpoint, ctx.scheduled_time.isoformat(), ctx.args, ctx.cancelled]


@process
def environment() -> dict[str, str]:
    return dict(os.environ)


@process
def report(ctx: Context) -> None:
    ctx.phase("counting")
    ctx.progress(0.25, checkpoint={"page": 1})
    ctx.progress(0.5)
    ctx.log("counted")
    logging.getLogger("billing").warning("a %s", "record")
    print("printed")  # noqa: T201
    sys.stderr.write("complained\n")


@process
async def report_later(ctx: Context) -> None:
    await ctx.phase("counting")
    await ctx.progress(0.25, checkpoint={"page": 1})
    await asyncio.to_thread(ctx.progress, 0.5)
    ctx.log("counted")
    logging.getLogger("billing").warning("a %s", "record")
    print("printed")  # noqa: T201
    sys.stderr.write("complained\n")


@process
def checkpoint(ctx: Context, *, good: bool = True) -> str:
    try:
        ctx.progress(checkpoint={"page": 1} if good else {"page": object()})
    except InvalidInput as refused:
        return f"InvalidInput {refused}"
    except HourhandError as refused:
        return f"{type(refused).__name__} {refused}"
    return "stored"


@process
def fail(text: str = "no books") -> None:
    raise ValueError(text)


@process
def returns(kind: str) -> Any:
    values: dict[str, Any] = {"object": {"at": [object()]}, "large": "x" * 2_000_000, "binary": "\x00\ud800"}
    return values[kind]


@process
def talk(ctx: Context, characters: int) -> str:
    ctx.log("\x01" * characters)
    return "said"


@process
def die(how: str) -> None:
    match how:
        case "exit":
            os._exit(7)
        case "quiet":
            os._exit(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "fault":
            ctypes.string_at(0)
        case "asked":
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(600)
        case "SystemExit":
            sys.exit("on purpose")
        case "deaf":
            os.closerange(3, 256)
            time.sleep(600)


@process
def fork(pids: str, *, leave: bool = False) -> str:
    """Come back twice, or leave the copy behind."""
    if os.fork() == 0:
        Path(pids).write_text(str(os.getpid()))
        if not leave:
            return "the copy"
        os.setsid()
        time.sleep(600)
    until = time.monotonic() + 30
    while not Path(pids).exists() and time.monotonic() < until:
        time.sleep(0.01)
    return "the original"


def say(ctx: Context) -> None:
    ctx.log("from the copy")
    try:
        ctx.progress(0.5)
    except HourhandError as error:
        ctx.log(str(error))


@process
def multiply(ctx: Context) -> str:
    copy = multiprocessing.get_context("fork").Process(target=say, args=(ctx,))
    copy.start()
    copy.join()
    return f"exit code {copy.exitcode}"


@process
def wait(ctx: Context, pids: str, *, stubborn: bool = False) -> str:
    """Start a child of its own, which makes a session of its own, and wait until stopped."""
    child = subprocess.Popen(["setsid", "sleep", "600"])
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(pids).write_text(f"{os.getpid()} {child.pid}")
    try:
        time.sleep(600)
    finally:
        ctx.log(f"cleaning up, cancelled: {ctx.cancelled}")
    return "never"


@process
async def wait_later(ctx: Context, pids: str, *, stubborn: bool = False) -> str:
    child = await asyncio.create_subprocess_exec("setsid", "sleep", "600")
    await asyncio.to_thread(Path(pids).write_text, f"{os.getpid()} {child.pid}")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        ctx.log(f"cleaning up, cancelled: {ctx.cancelled}")
        if stubborn:
            return "done after all"
        raise
    return "never"


@process
def lingers() -> str:
    threading.Thread(target=time.sleep, args=(600,)).start()
    return "returned"
