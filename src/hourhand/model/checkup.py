"""Model: what `hourhand doctor` sees from where it is run: the settings, the machine, a server, and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hourhand.model.diagnosis import DatabaseFacts, Diagnosis, Examined, KeyState


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A setting that is not left at its default."""

    name: str
    source: str
    """The flag, the variable or the file that it comes from."""
    shown: str
    """Its value, fit to be shown."""
    over: str = ""
    """Where else it is given, without effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSeen:
    """What somebody chose."""

    given: tuple[Given, ...] = ()
    refused: tuple[str, ...] = ()
    """What is wrong with them; then nothing else can be looked at but the machine."""
    unknown: tuple[tuple[str, str | None], ...] = ()
    """Variables that look like settings and are none, each with the one that may be meant."""
    ignored: tuple[str, ...] = ()
    """Settings that have no effect beside others, in words."""
    open_file: str | None = None
    """A settings file that holds secrets, and that others can read."""
    plain_token: bool = False
    """Whether the token would go to another machine over a connection that is not encrypted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSeen:
    """A file or a folder."""

    path: str
    mode: int
    owner: str
    mine: bool
    """Whether it belongs to the user that looks."""
    size: int = 0

    @property
    def others(self) -> bool:
        """Whether anybody but its owner may read or write it."""
        return bool(self.mode & 0o077)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSeen:
    """The filesystem that a folder is on, or will be."""

    folder: str
    kind: str
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSeen:
    """Where doctor is run."""

    looked_at: datetime
    hostname: str
    python: str
    root: bool
    open_files: int
    temporary: str
    temporary_writable: bool
    temporary_disk: DiskSeen | None = None
    memory_available: int | None = None
    """In bytes; None where the machine does not tell."""
    synchronised: bool | None = None
    """Whether something sets its clock by others'; None where nobody says."""
    zones: str | None = None
    """The version of its time zone data; None where there is none."""
    programs: Mapping[str, bool] = field(default_factory=dict)
    """Programs that tasks name, and whether executors here would find them."""
    tools: Mapping[str, bool] = field(default_factory=dict)
    backup_tools: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """For each database that it can back up, the programs for that with their versions; None: it is not here."""
    data_dir: PathSeen | None = None
    disk: DiskSeen | None = None
    admin_token: PathSeen | None = None
    secret_key: PathSeen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCheck:
    """A line of `/readyz`."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSeen:
    """What answered at the address that commands use."""

    url: str
    named: bool = False
    """Whether somebody chose the address."""
    error: str | None = None
    """Why nobody answered."""
    version: str | None = None
    token_error: str | None = None
    name: str = ""
    role: str = ""
    limited: bool = False
    """Whether the token is limited to groups."""
    ready: tuple[ReadyCheck, ...] = ()
    diagnosis: Diagnosis | None = None
    diagnosis_error: str | None = None
    skew_seconds: float | None = None
    """By how much its clock is ahead of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSeen:
    """What was seen of the store itself."""

    shown: str
    sqlite: bool
    left_out: bool = False
    """Whether it was left alone, since a server elsewhere is asked."""
    file: PathSeen | None = None
    folder: PathSeen | None = None
    folder_writable: bool = True
    owner: str | None = None
    """The process that owns the file just now."""
    damage: tuple[str, ...] | None = None
    """What SQLite finds wrong with the file; None: it was not looked through."""
    error: str | None = None
    revision: str | None = None
    newest: str = ""
    known: bool = True
    database: DatabaseFacts | None = None
    examined: Examined | None = None
    key: KeyState | None = None
    key_detail: str = ""
    skew_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All of it."""

    version: str
    settings: SettingsSeen
    machine: MachineSeen
    server: ServerSeen | None = None
    store: StoreSeen | None = None
    lease_seconds: float = 15.0
    retention_days: int = 30
    unread: tuple[tuple[str, str], ...] = ()
    """What could not be looked at in time, and why."""

    @property
    def told(self) -> Diagnosis | None:
        """What the server told."""
        return None if self.server is None else self.server.diagnosis

    @property
    def examined(self) -> Examined | None:
        """What the store's tables tell: to us, or else to the server."""
        if self.store is not None and self.store.examined is not None:
            return self.store.examined
        return None if self.told is None else self.told.store

    @property
    def database(self) -> DatabaseFacts | None:
        """The same of the database."""
        if self.store is not None and self.store.database is not None:
            return self.store.database
        return None if self.told is None else self.told.database
