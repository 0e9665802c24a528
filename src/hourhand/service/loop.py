"""Service: a step, repeated until told to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hourhand.model.errors import StoreUnavailable
from hourhand.service.outage import Outage, backoff

logger = logging.getLogger("hourhand")
Step = Callable[[], Awaitable[float]]
"""Does one thing and answers how many seconds to rest before the next."""


async def repeat(name: str, step: Step, outage: Outage, *, wake: asyncio.Event | None = None) -> None:
    """Run a step for ever, resting between as it says; `wake` ends a rest early.

    Nothing ends it but cancellation: the store's absence is waited out, and a fault of our own is logged with its
    traceback and tried again, since a role that silently lacks one of its loops is worse than one that complains.
    """
    failures = 0
    while True:
        try:
            rest = await step()
        except StoreUnavailable as error:
            outage.failed(error)
            rest = backoff(failures)
            failures += 1
        except Exception:
            logger.exception("%s failed and is tried again", name)
            rest = backoff(failures)
            failures += 1
        else:
            failures = 0
        if failures or wake is None:
            await asyncio.sleep(rest)
        else:
            await rest_until(wake, rest)


async def rest_until(wake: asyncio.Event, seconds: float) -> bool:
    """Rest for so long, or until woken; True if woken."""
    try:
        async with asyncio.timeout(seconds):
            await wake.wait()
    except TimeoutError:
        return False
    wake.clear()
    return True
