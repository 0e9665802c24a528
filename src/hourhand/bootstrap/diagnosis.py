"""Bootstrap: what a process tells of itself, and what can be seen of a store without opening it."""

from __future__ import annotations

import asyncio
import os
import platform
import resource
import socket
from datetime import UTC, datetime

from hourhand import __version__
from hourhand.bootstrap.secret_key import key_state
from hourhand.contracts.store import Store
from hourhand.model.diagnosis import Diagnosis, KeyState, ProcessFacts
from hourhand.model.errors import StoreUnavailable
from hourhand.settings import Settings, is_loopback
from hourhand.store.looking import Looked, look, owner_of, quick_check

ANSWER_SECONDS = 8.0

__all__ = ["Looked", "diagnose", "look", "owner_of", "process_facts", "quick_check"]


async def diagnose(settings: Settings, store: Store) -> Diagnosis:
    """Everything that a running server knows; given up when the store takes long."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            database = await store.database_facts()
            examined = await store.examine()
            check = await store.key_check()
    except TimeoutError:
        raise StoreUnavailable(f"the store did not answer within {ANSWER_SECONDS:g} s: try again") from None
    return Diagnosis(process=process_facts(settings, *key_state(settings, check)), database=database, store=examined)


def process_facts(settings: Settings, key: KeyState, key_detail: str) -> ProcessFacts:
    """What this process tells of itself."""
    return ProcessFacts(
        version=__version__,
        hostname=socket.gethostname(),
        looked_at=datetime.now(UTC),
        python=platform.python_version(),
        root=os.geteuid() == 0,
        loopback=is_loopback(settings.host),
        proxies=bool(settings.trusted_proxies),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        lease_seconds=settings.lease_seconds,
        retention_days=settings.retention_days,
        key=key,
        key_detail=key_detail,
    )
