"""PostgreSQL databases used again by the next test: emptying one takes 10 ms, cloning one 500.

Each is emptied by a session of its own that stays: a new one reads the whole catalogue first, which takes longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from postgres import Cluster

EMPTYING = "emptying between tests"
_BIG = 64 * 1024 * 1024
_EMPTY = """
SET session_replication_role = replica;
DO $$
DECLARE
    name text;
    filled boolean;
BEGIN
    FOR name IN SELECT CAST(CAST(oid AS regclass) AS text) FROM pg_class
        WHERE relnamespace = CAST('public' AS regnamespace) AND relkind IN ('r', 'p') AND NOT relispartition
            AND relname <> 'alembic_version'
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s)', name) INTO filled;
        IF filled THEN
            EXECUTE format('DELETE FROM %s', name);
        END IF;
    END LOOP;
    FOR name IN SELECT relname FROM pg_class
        WHERE relkind = 'r' AND relname ~ '_[0-9]{8}$'
            AND right(relname, 8) < to_char(now() - interval '2 days', 'YYYYMMDD')
    LOOP
        EXECUTE format('DROP TABLE %I', name);
    END LOOP;
    PERFORM setval(CAST(seqrelid AS regclass), 1, false) FROM pg_sequence;
    INSERT INTO groups SELECT * FROM seed.groups;
    PERFORM setval(pg_get_serial_sequence('groups', 'id'), (SELECT max(id) FROM groups));
    INSERT INTO store_values SELECT * FROM seed.store_values;
END $$
"""
_SEED = """
CREATE SCHEMA seed;
CREATE TABLE seed.groups AS TABLE groups;
CREATE TABLE seed.store_values AS TABLE store_values
"""


class Recycled:
    """Fresh databases as far as a test can tell: empty but for what the migration put there, all counters at one."""

    def __init__(self, cluster: Cluster, template: str) -> None:
        self._cluster = cluster
        self._template = template
        self._free: list[str] = []
        self._sessions: dict[str, psycopg.Connection] = {}

    def take(self) -> str:
        """Return the URL of a database that nobody uses."""
        if self._free:
            return self._free.pop()
        url = self._cluster.create_database(template=self._template)
        self._cluster.sql(_SEED, database=_name(url))
        return url

    def give_back(self, url: str) -> None:
        """Empty it for the next test; one that has grown is dropped."""
        try:
            size = self._emptied(url)
        except psycopg.OperationalError:  # the test has cut all sessions
            size = self._emptied(url)
        if size > _BIG:
            self._sessions.pop(url).close()
            self._cluster.drop_database(url)
        else:
            self._free.append(url)

    def close(self) -> None:
        """End the sessions."""
        for session in self._sessions.values():
            session.close()

    def _emptied(self, url: str) -> int:
        session = self._sessions.get(url)
        if session is None or session.closed:
            session = self._sessions[url] = psycopg.connect(url, autocommit=True, application_name=EMPTYING)
        session.execute(_EMPTY)
        size = session.execute("SELECT pg_database_size(current_database())").fetchone()
        assert size is not None
        return int(size[0])


def _name(url: str) -> str:
    return url.rpartition("/")[2]
