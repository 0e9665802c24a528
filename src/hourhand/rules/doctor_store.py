"""Rules: what is wrong with the store: its file, its schema, its database."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hourhand.model.checkup import DiskSeen, PathSeen, Seen, StoreSeen
from hourhand.model.diagnosis import DatabaseFacts, Finding
from hourhand.rules.doctor_words import MEGABYTE, fine, length, named, plural, problem, size, warning

OLDEST_POSTGRESQL = 14
OLDEST_SQLITE = (3, 35)
CONNECTIONS_EACH = 13
"""What one process may use: ten, two for heartbeats, one for hints."""
FREE_WRONG, FREE_NOTED = 200 * MEGABYTE, 1024 * MEGABYTE
NEARLY_ALL = 0.8
DEAD_ROWS, DEAD_SHARE = 100_000, 5
NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "beegfs"}
    | {"fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "virtiofs", "fuse.grpcfuse"}
)


def reach(seen: Seen) -> Iterator[Finding]:
    """Whether the store can be read at all."""
    store = seen.store
    if store is None or store.left_out:
        return
    if store.error is not None:
        yield problem(
            "store.reachable",
            f"the store {store.shown} cannot be used: {store.error}",
            "No process can start on it, and those that run can do nothing.",
            _reached(store),
        )
    elif store.owner is not None:
        yield fine("store.reachable", f"the store {store.shown} is owned by {store.owner}, which was asked")
    elif store.file is not None or not store.sqlite:
        yield fine("store.reachable", f"the store {store.shown} can be read")


def _reached(store: StoreSeen) -> str:
    if store.sqlite:
        return f"ls -l {shlex.quote(store.shown.removeprefix('sqlite:///'))}"
    return f"psql {shlex.quote(store.shown)} -c 'SELECT 1'   (is it running, are host, port, user and database right?)"


def schema(seen: Seen) -> Iterator[Finding]:
    """Whether the schema is the one that this program knows."""
    store = seen.store
    if store is None or store.database is None:
        return
    flag = f" --store {shlex.quote(store.shown)}"
    if store.revision is None:
        yield warning(
            "store.schema",
            "the store is empty: it has no schema yet",
            "The first process that opens it makes one.",
            "hourhand serve" if store.sqlite else f"hourhand db upgrade{flag}",
        )
    elif not store.known:
        yield problem(
            "store.schema",
            f"the store's schema is at {store.revision}, and this program knows none newer than {store.newest}",
            "A newer release has upgraded it; this one refuses to open it.",
            "pip install --upgrade hourhand",
        )
    elif store.revision != store.newest:
        yield problem(
            "store.schema",
            f"the store's schema is at {store.revision}, and this program needs {store.newest}",
            "`hourhand serve` on SQLite upgrades it by itself, after copying the file; on PostgreSQL every process "
            "refuses to start until it is upgraded.",
            f"hourhand db upgrade{flag}",
        )
    else:
        yield fine("store.schema", f"the store's schema is at {store.revision}, the newest")


def file(seen: Seen) -> Iterator[Finding]:
    """Who may read and write a SQLite file."""
    store = seen.store
    if store is None or store.file is None:
        return
    found = store.file
    where = shlex.quote(found.path)
    if found.others:
        yield warning(
            "store.file",
            f"{found.path} has mode {found.mode:04o}: others on this machine can read or write it",
            "It holds every task, with the secrets in their payloads, and what they wrote.",
            f"chmod 600 {where} {where}-*",
        )
    if not found.mine and not seen.machine.root:
        yield problem(
            "store.file",
            f"{found.path} belongs to {found.owner}, and not to you",
            "A process that you start cannot open it.",
            f"run as {found.owner}, or: sudo chown $USER {where}",
        )
    if not store.folder_writable:
        yield problem(
            "store.file",
            f"the folder of {found.path} cannot be written",
            "SQLite keeps its log beside the file, and cannot even be read for long without.",
            f"ls -ld {shlex.quote(found.path.rpartition('/')[0] or '/')}",
        )
    if not found.others and store.folder_writable and (found.mine or seen.machine.root):
        yield fine("store.file", f"{found.path} is its owner's alone ({size(found.size)})")


def damage(seen: Seen) -> Iterator[Finding]:
    """Whether SQLite finds its file whole."""
    store = seen.store
    if store is None or store.file is None or store.error is not None:
        return
    if store.damage is None:
        yield fine("store.integrity", "the file is too large, or too busy, to be looked through in a few seconds")
    elif store.damage:
        yield problem(
            "store.integrity",
            f"the file is damaged: {store.damage[0]}",
            "; ".join(store.damage[1:]) or "What is stored in the damaged pages cannot be read.",
            f"stop the server, keep a copy, then: sqlite3 {shlex.quote(store.file.path)} '.recover' | "
            f"sqlite3 {shlex.quote(store.file.path)}.recovered",
        )
    else:
        yield fine("store.integrity", "SQLite finds the file whole")


def disk(seen: Seen) -> Iterator[Finding]:
    """Whether there is room, and of which kind."""
    found = seen.machine.disk
    if found is None:
        return
    on_sqlite = seen.store is not None and seen.store.sqlite and not seen.store.left_out
    yield _room(found)
    if found.kind in NETWORK and on_sqlite:
        yield problem(
            "store.filesystem",
            f"{found.folder} is on {found.kind}, a network filesystem",
            "SQLite's log does not work across machines, and locks on such filesystems may not hold: the store can be "
            "damaged.",
            "keep the data folder on a local disk (--data-dir), or use PostgreSQL (--store postgresql://…)",
        )


def _room(found: DiskSeen) -> Finding:
    left = f"{size(found.free_bytes)} of {size(found.total_bytes)} are free where {found.folder} is"
    if found.free_bytes < FREE_WRONG:
        what = "When the disk is full nothing can be stored, and everything stops."
        return problem("store.disk", f"the disk is nearly full: {left}", what, f"df -h {shlex.quote(found.folder)}")
    if found.free_bytes < FREE_NOTED:
        return warning("store.disk", f"there is little room: {left}", "", f"df -h {shlex.quote(found.folder)}")
    return fine("store.disk", left)


def database_version(seen: Seen) -> Iterator[Finding]:
    """Whether the database is new enough."""
    database = seen.database
    if database is None:
        return
    if database.dialect == "sqlite":
        parts = tuple(int(one) for one in database.version.split(".")[:2])
        if parts < OLDEST_SQLITE:
            wanted = ".".join(map(str, OLDEST_SQLITE))
            what = "Python brings it along; statements that this program uses are not known to it."
            yield problem("store.version", f"SQLite is {database.version}, and {wanted} is the oldest that works", what)
        else:
            yield fine("store.version", f"SQLite {database.version}")
    elif database.major < OLDEST_POSTGRESQL:
        yield problem(
            "store.version",
            f"PostgreSQL is {database.version}, and {OLDEST_POSTGRESQL} is the oldest that works",
            "Days of execution logs are removed by a statement that older ones do not know.",
            "upgrade the server: https://www.postgresql.org/docs/current/upgrading.html",
        )
    else:
        zone = database.settings.get("TimeZone", "UTC")
        yield fine("store.version", f"PostgreSQL {database.version}; its time zone ({zone}) plays no part")


def durability(seen: Seen) -> Iterator[Finding]:
    """Whether what is acknowledged is on disk."""
    database = seen.database
    if database is None:
        return
    if database.dialect == "sqlite":
        yield from _journal(database)
        return
    if database.settings.get("fsync") == "off":
        yield problem(
            "store.durability",
            "fsync is off in PostgreSQL",
            "A crash of its machine may damage the whole database, and lose what was acknowledged.",
            "psql -c 'ALTER SYSTEM SET fsync = on' -c 'SELECT pg_reload_conf()'",
        )
    if database.settings.get("full_page_writes") == "off":
        yield problem(
            "store.durability",
            "full_page_writes is off in PostgreSQL",
            "A crash of its machine may leave half-written pages, which nothing can repair.",
            "psql -c 'ALTER SYSTEM SET full_page_writes = on' -c 'SELECT pg_reload_conf()'",
        )
    if database.settings.get("synchronous_commit") == "off":
        yield warning(
            "store.durability",
            "synchronous_commit is off for this database or user",
            "Hourhand's own sessions switch it on, so that what they acknowledge is on disk. What your programs submit "
            "within their own transactions (`Client.submit(…, conn=…)`) can be lost in a crash of the server.",
            "psql -c 'ALTER DATABASE … SET synchronous_commit = on'",
        )
    if all(database.settings.get(name) != "off" for name in ("fsync", "full_page_writes", "synchronous_commit")):
        yield fine("store.durability", "what is acknowledged is on disk (fsync, synchronous_commit)")


def _journal(database: DatabaseFacts) -> Iterator[Finding]:
    mode = database.settings.get("journal_mode", "")
    if mode == "wal":
        yield fine("store.durability", "SQLite keeps a write-ahead log")
    else:
        yield warning(
            "store.durability",
            f"SQLite's journal mode is {mode}, and not wal",
            "The next `hourhand serve` switches it on. If it stays so, the filesystem does not allow it.",
            "hourhand serve",
        )


def privileges(seen: Seen) -> Iterator[Finding]:
    """What the store's user may do."""
    database = seen.database
    if database is None or database.dialect == "sqlite":
        return
    if database.read_only:
        yield problem(
            "store.privileges",
            "the database takes no changes: it is a standby, or set to read only",
            "Nothing can be stored.",
            "point --store at the primary; or: psql -c 'ALTER DATABASE … RESET default_transaction_read_only'",
        )
    if database.tables_lacking:
        yield problem(
            "store.privileges",
            f"the user may not read and write: {named(database.tables_lacking)}",
            "Whatever needs these tables fails.",
            "psql -c 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO …'",
        )
    if not database.may_create:
        yield problem(
            "store.privileges",
            "the user may not make partitions: it does not own the tables, or may not create any in the schema",
            "Execution logs are kept by days, made two weeks ahead. When they run out, nothing that ends can be kept.",
            "let the processes connect as the user that ran `hourhand db upgrade`",
        )
    if not database.read_only and not database.tables_lacking and database.may_create:
        yield fine("store.privileges", "the store's user may do all that is needed")


def sessions(seen: Seen) -> Iterator[Finding]:
    """Whether there are connections left, and who holds transactions open."""
    database = seen.database
    if database is None or "max_connections" not in database.settings:
        return
    most = int(database.settings["max_connections"]) - int(database.settings.get("superuser_reserved_connections", 0))
    used = f"{database.connections} of {most} connections are in use, {database.connections_of_ours} by Hourhand"
    each = f"Each process may use {CONNECTIONS_EACH}"
    if database.connections > NEARLY_ALL * most:
        yield warning(
            "store.connections",
            used,
            f"{each}. When there are none left, processes wait and heartbeats are late.",
            "psql -c 'ALTER SYSTEM SET max_connections = 300', and restart PostgreSQL; or put PgBouncer before it "
            "in session mode",
        )
    else:
        yield fine(
            "store.connections",
            f"{used}; there is room for {(most - database.connections) // CONNECTIONS_EACH} more processes",
        )
    for one in database.idle:
        yield warning(
            "store.idle",
            f"session {one.pid} ({one.application or 'nameless'}) holds a transaction open for {length(one.seconds)} "
            "and does nothing",
            "Meanwhile no dead row can be removed, and claiming gets slower and slower.",
            f"psql -c 'SELECT pg_terminate_backend({one.pid})'",
        )


def vacuum(seen: Seen) -> Iterator[Finding]:
    """Whether dead rows are removed from the table that is written most."""
    database = seen.database
    if database is None or database.dialect == "sqlite":
        return
    if database.settings.get("autovacuum") == "off":
        yield problem(
            "store.vacuum",
            "autovacuum is off in PostgreSQL",
            "Dead rows are never removed: claiming gets slower and slower, and after a while the server stops.",
            "psql -c 'ALTER SYSTEM SET autovacuum = on' -c 'SELECT pg_reload_conf()'",
        )
    elif database.dead_rows > DEAD_ROWS and database.dead_rows > DEAD_SHARE * max(database.live_rows, 1):
        yield warning(
            "store.vacuum",
            f"task_instances has {database.dead_rows:,} dead rows beside {database.live_rows:,} living ones",
            "Autovacuum does not keep up, or an open transaction keeps it from its work.",
            "psql -c 'VACUUM (VERBOSE) task_instances'",
        )
    else:
        yield fine("store.vacuum", f"dead rows are being removed ({plural(database.dead_rows, 'dead row')} now)")


def folder(seen: Seen) -> Iterator[Finding]:
    """Who may look into the data folder, and at what is secret in it."""
    machine = seen.machine
    if machine.data_dir is not None and machine.data_dir.others:
        found = machine.data_dir
        say = problem if found.mode & 0o022 else warning
        may = "write into" if found.mode & 0o022 else "look into"
        yield say(
            "files.folder",
            f"{found.path} has mode {found.mode:04o}: others on this machine can {may} it",
            "It holds the store, the admin token and the key of secrets.",
            f"chmod 700 {shlex.quote(found.path)}",
        )
    elif machine.data_dir is not None:
        yield fine("files.folder", f"{machine.data_dir.path} is its owner's alone")
    if machine.admin_token is not None:
        yield _secret("files.token", machine.admin_token, "the admin token, with which everything can be done")
    if machine.secret_key is not None:
        yield _secret("files.key", machine.secret_key, "the key of all stored secrets")


def _secret(check: str, found: PathSeen, what: str) -> Finding:
    if not found.others:
        return fine(check, f"{found.path} is its owner's alone")
    return problem(
        check,
        f"{found.path} has mode {found.mode:04o}: others on this machine can read {what}",
        "`hourhand serve` refuses to start with it.",
        f"chmod 600 {shlex.quote(found.path)}",
    )
