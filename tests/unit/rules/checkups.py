"""What `hourhand doctor` may see, in one line each."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hourhand.model.checkup import MachineSeen, PathSeen, Seen, ServerSeen, SettingsSeen, StoreSeen
from hourhand.model.diagnosis import DatabaseFacts, Diagnosis, Examined, KeyState, ProcessFacts, SeenExecutor

if TYPE_CHECKING:
    from hourhand.model.diagnosis import Finding
    from hourhand.rules.doctor import Check

AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
MACHINE = MachineSeen(
    looked_at=AT,
    hostname="here",
    python="3.12.1",
    root=False,
    open_files=65_536,
    temporary="/tmp",  # noqa: S108 - nothing is written there
    temporary_writable=True,
    memory_available=2**33,
    synchronised=True,
    zones="2026a",
    tools={"sh": True},
)
PROCESS = ProcessFacts(
    version="1.0",
    hostname="there",
    looked_at=AT,
    python="3.12.1",
    root=False,
    loopback=True,
    proxies=False,
    open_files=65_536,
    lease_seconds=15,
    retention_days=30,
    key=KeyState.UNUSED,
)
SQLITE = DatabaseFacts(dialect="sqlite", version="3.46.1", major=3, settings={"journal_mode": "wal"})
POSTGRESQL = DatabaseFacts(
    dialect="postgresql",
    version="16.4",
    major=16,
    settings={
        "autovacuum": "on",
        "fsync": "on",
        "full_page_writes": "on",
        "max_connections": "100",
        "superuser_reserved_connections": "3",
        "synchronous_commit": "on",
        "TimeZone": "UTC",
    },
)
FILE = PathSeen(path="/data/hourhand.db", mode=0o600, owner="ada", mine=True, size=4096)
SERVER = ServerSeen(url="http://127.0.0.1:8420", version="1.0", name="admin", role="admin")
ON_SQLITE = StoreSeen(shown="sqlite:////data/hourhand.db", sqlite=True)
ON_POSTGRESQL = StoreSeen(shown="postgresql://host/db", sqlite=False)


def executor(name: str = "e1", **changes: Any) -> SeenExecutor:
    values: dict[str, Any] = {
        "id": name,
        "group": "default",
        "hostname": "here",
        "version": "1.0",
        "silent_seconds": 2.0,
        "capacity": 32,
        "running": 0,
        "labels": {},
        "provides": ("builtin",),
    }
    return SeenExecutor(**values | changes)


def sight(**changes: Any) -> Seen:
    return replace(Seen(version="1.0", settings=SettingsSeen(), machine=MACHINE), **changes)


def examined(**changes: Any) -> Seen:
    """A PostgreSQL store with such tables, looked at directly."""
    return sight(store=replace(ON_POSTGRESQL, database=POSTGRESQL, examined=Examined(looked_at=AT, **changes)))


def database(facts: DatabaseFacts, **changes: Any) -> Seen:
    return sight(store=replace(ON_POSTGRESQL, database=replace(facts, **changes)))


def told(process: ProcessFacts = PROCESS, store: Examined | None = None, **changes: Any) -> Seen:
    """What a running server tells."""
    diagnosis = Diagnosis(process=process, database=SQLITE, store=store or Examined(looked_at=AT))
    return sight(server=replace(SERVER, diagnosis=diagnosis, **changes))


def found(check: Check, seen: Seen) -> list[Finding]:
    return list(check(seen))


def one(check: Check, seen: Seen) -> Finding:
    (finding,) = check(seen)
    return finding
