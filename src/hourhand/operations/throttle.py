"""Operations: when to wait between chunks: the database is busy, its replicas lag, the window is shut."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.config import Config
from hourhand.operations.failures import StatementFailed

LOOK_SECONDS = 1.0
"""How often the database is asked, however small the chunks."""
_PG_ACTIVE = (
    "SELECT count(*) AS n FROM pg_stat_activity "
    "WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)
_PG_LAG = "SELECT coalesce(max(extract(epoch FROM replay_lag)), 0)::float AS n FROM pg_stat_replication"
_MARIA_ACTIVE = (
    "SELECT count(*) AS n FROM information_schema.PROCESSLIST "
    "WHERE COMMAND NOT IN ('Sleep', 'Daemon', 'Binlog Dump') AND ID <> CONNECTION_ID()"
)


def shut(config: Config, now: datetime) -> str | None:
    """Why not to work at this time of day; a window may reach into the next day."""
    start, end = config.window_start, config.window_end
    if start is None and end is None:
        return None
    start, end, at = start or "00:00", end or "24:00", f"{now:%H:%M}"
    inside = start <= at < end if start < end else at >= start or at < end
    return None if inside else f"the window opens at {start} UTC, and it is {at}"


class Throttle:
    """Says why to wait now, or that there is no reason to."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._looked = 0.0
        self._reason: str | None = None

    async def reason(self, session: Session) -> str | None:
        """Why the next chunk should wait; asked of the database at most once a second."""
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._reason = (
                shut(self._config, datetime.now(UTC)) or await self._busy(session) or await self._behind(session)
            )
        return self._reason

    async def _busy(self, session: Session) -> str | None:
        most = self._config.max_active_sessions
        if most is None or session.dialect is Dialect.SQLITE:
            return None
        rows = await session.fetch(_PG_ACTIVE if session.dialect is Dialect.POSTGRESQL else _MARIA_ACTIVE)
        found = int(rows[0]["n"])
        return f"{found} sessions are active, and at most {most} should be" if found > most else None

    async def _behind(self, session: Session) -> str | None:
        most = self._config.max_replica_lag_seconds
        if most is None or session.dialect is not Dialect.POSTGRESQL:
            return None
        try:
            lag = float((await session.fetch(_PG_LAG))[0]["n"])
        except StatementFailed:
            return None
        return f"a replica is {lag:.1f} s behind, and at most {most:g} s are wanted" if lag > most else None
