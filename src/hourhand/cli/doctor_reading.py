"""`hourhand doctor`: reads the settings, asks the server, and looks at the store; each with a deadline."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import httpx
from pydantic import SecretStr, TypeAdapter, ValidationError

from hourhand import __version__
from hourhand.bootstrap.diagnosis import look, owner_of, quick_check
from hourhand.bootstrap.secret_key import key_state
from hourhand.cli.doctor_machine import machine, programs, seen_path
from hourhand.cli.rest import found_here
from hourhand.model.checkup import Given, ReadyCheck, Seen, ServerSeen, SettingsSeen, StoreSeen
from hourhand.model.diagnosis import Diagnosis
from hourhand.model.errors import HourhandError, InvalidInput
from hourhand.sdk.address import API, Address, address_of
from hourhand.sdk.answers import read
from hourhand.settings import CONFIG_FILE, ENV_PREFIX, Settings, is_loopback, load_settings, misspelt_variables

T = TypeVar("T")
CONNECT_SECONDS, ANSWER_SECONDS = 3.0, 10.0
SERVER_SECONDS, STORE_SECONDS, MACHINE_SECONDS = 20.0, 20.0, 10.0
CHECKED_BYTES, CHECK_SECONDS = 2 * 1024**3, 3.0
_SECRET = ("token", "secret_key")
_NO_SETTINGS = frozenset(
    {"INSTANCE_ID", "FENCE", "ATTEMPT", "IDEMPOTENCY_KEY", "TASK", "SCHEDULED_TIME", "RETRY_COUNT", "ARGS"}
    | {"SHARD_INDEX", "SHARD_TOTAL", "PROGRESS", "CHECKPOINT", "SUPERVISED", "DEBUG", "UI"}
)
"""What a command task finds in its environment (doctor may be one), and what is for faults of our own or the build."""

_OF_KUBERNETES = ("SERVICE_", "PORT_")
"""What it sets for a service of this name."""


class Late(Exception):
    """It took too long."""


class _Reading(threading.Thread, Generic[T]):
    """A reading that is not waited for any longer does not keep the process from ending."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._result: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it."""
        try:
            self._result.append(self._work())
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._error = error

    def within(self, seconds: float) -> T:
        """Wait for it; raises Late."""
        self.start()
        self.join(seconds)
        if self._error is not None:
            raise self._error
        if not self._result:
            raise Late(f"it took longer than {seconds:g} s")
        return self._result[0]


def seen(flags: Mapping[str, object]) -> Seen:
    """Everything that can be seen from here; what takes too long is left out and said."""
    unread: list[tuple[str, str]] = []

    def within(area: str, seconds: float, work: Callable[[], T], otherwise: T) -> T:
        try:
            return _Reading(work).within(seconds)
        except (Late, OSError, HourhandError) as error:
            unread.append((area, str(error)))
            return otherwise

    try:
        settings = load_settings(**flags)
    except InvalidInput as refused:
        wrong = SettingsSeen(
            refused=tuple(f"{one.field}: {one.message}" for one in refused.errors), unknown=tuple(_unknown())
        )
        return Seen(version=__version__, settings=wrong, machine=machine(None))
    server = within("server", SERVER_SECONDS, lambda: _server(settings), None)
    told = None if server is None else server.diagnosis
    store = within("store", STORE_SECONDS, lambda: _store(settings, told), None)
    here = within("machine", MACHINE_SECONDS, lambda: machine(settings), None) or machine(None)
    found = Seen(
        version=__version__,
        settings=_settings(settings, flags),
        machine=here,
        server=server,
        store=store,
        lease_seconds=settings.lease_seconds,
        retention_days=settings.retention_days,
    )
    named: dict[str, bool] = within("machine", MACHINE_SECONDS, lambda: programs(found.examined), {})
    return replace(found, machine=replace(here, programs=named), unread=tuple(unread))


def _settings(settings: Settings, flags: Mapping[str, object]) -> SettingsSeen:
    written = _written()
    given = []
    for name, field in Settings.model_fields.items():
        sources = list(_sources(name, flags, written))
        value = getattr(settings, name)
        if sources and value != field.get_default(call_default_factory=True):
            over = ", ".join(sources[1:])
            given.append(Given(name=name, source=sources[0], shown=_shown(name, value, settings), over=over))
    return SettingsSeen(
        given=tuple(given),
        unknown=tuple(_unknown()),
        ignored=tuple(_ignored(settings)),
        open_file=_open_file(written),
        plain_token=settings.token is not None and _is_plain(settings),
    )


def _written() -> dict[str, Any]:
    try:
        return tomllib.loads(Path(CONFIG_FILE).read_text("utf-8"))
    except OSError:
        return {}


def _sources(name: str, flags: Mapping[str, object], written: Mapping[str, Any]) -> Iterator[str]:
    """Where it is given, the one that counts first."""
    if flags.get(name) is not None:
        yield f"--{name.replace('_', '-')}"
    if os.environ.get(f"{ENV_PREFIX}{name.upper()}"):
        yield f"{ENV_PREFIX}{name.upper()}"
    if name in written:
        yield CONFIG_FILE


def _shown(name: str, value: object, settings: Settings) -> str:
    if name in _SECRET or isinstance(value, SecretStr):
        return "***"
    if name == "store":
        return settings.shown_store
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{key}={one}" for key, one in value.items())
    return str(value)


def _unknown() -> Iterator[tuple[str, str | None]]:
    meant = misspelt_variables(os.environ)
    for variable in sorted(os.environ):
        name = variable.upper().removeprefix(ENV_PREFIX)
        if not variable.upper().startswith(ENV_PREFIX) or name.lower() in Settings.model_fields:
            continue
        if name not in _NO_SETTINGS and not name.startswith(_OF_KUBERNETES):
            yield variable, meant.get(variable)


def _ignored(settings: Settings) -> Iterator[str]:
    if not {"url", "port"} <= settings.model_fields_set:
        return
    url = httpx.URL(settings.url)
    port = url.port or {"https": 443}.get(url.scheme, 80)
    if is_loopback(url.host) and settings.port not in (0, port):
        yield (
            f"url says {settings.url}, and port says {settings.port}: commands ask the one, and `hourhand serve` here "
            "would listen on the other"
        )


def _open_file(written: Mapping[str, Any]) -> str | None:
    secret = any(name in written for name in _SECRET) or "@" in str(written.get("store", ""))
    path = Path(CONFIG_FILE)
    return str(path) if secret and stat.S_IMODE(path.stat().st_mode) & 0o077 else None


def _is_plain(settings: Settings) -> bool:
    url = httpx.URL(address_of(found_here(settings)).url)
    return url.scheme == "http" and not is_loopback(url.host)


def _server(settings: Settings) -> ServerSeen:
    address = address_of(found_here(settings))
    found = ServerSeen(url=address.url, named="url" in settings.model_fields_set)
    with httpx.Client(
        base_url=address.url,
        headers=address.headers,
        timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        trust_env=not address.local,
        verify=address.verify,
    ) as http:
        try:
            return _asked(http, replace(found, ready=_ready(http)), address)
        except httpx.TransportError as error:
            return replace(found, error=str(error) or type(error).__name__)
        except HourhandError as error:
            return replace(found, error=str(error))


def _ready(http: httpx.Client) -> tuple[ReadyCheck, ...]:
    """What `/readyz` says, whether it is ready or not; whoever says something else is no Hourhand."""
    answer = http.get("/readyz")
    try:
        checks = answer.json()["checks"]
        return tuple(ReadyCheck(name=one["name"], ok=one["ok"], detail=one["detail"]) for one in checks)
    except (ValueError, LookupError, TypeError):
        kind = answer.headers.get("content-type", "nothing that has a type")
        raise HourhandError(
            f"what answers there is no Hourhand: it says {answer.status_code} and {kind} to /readyz"
        ) from None


def _asked(http: httpx.Client, found: ServerSeen, address: Address) -> ServerSeen:
    try:
        who = read(http.get(f"{API}/sessions/current"))
        version = read(http.get(f"{API}/version"))["version"]
    except HourhandError as error:
        said = str(error) if address.token is not None else "there is no token to show to the server"
        return replace(found, token_error=said)
    found = replace(found, version=version, name=who["name"], role=who["role"], limited=who["groups"] is not None)
    try:
        told = TypeAdapter(Diagnosis).validate_python(read(http.get(f"{API}/diagnosis")))
    except HourhandError as error:
        return replace(found, diagnosis_error=str(error))
    except ValidationError:
        return replace(found, diagnosis_error="it answers in the words of another release")
    # Its own clock is the last thing it looks at.
    skew = (told.process.looked_at - datetime.now(UTC)).total_seconds()
    return replace(found, diagnosis=told, skew_seconds=skew)


def _store(settings: Settings, told: Diagnosis | None) -> StoreSeen:
    chosen = settings.model_fields_set & {"store", "data_dir"}
    if settings.on_sqlite and "url" in settings.model_fields_set and not chosen:
        return StoreSeen(shown=settings.shown_store, sqlite=True, left_out=True)
    found = StoreSeen(shown=settings.shown_store, sqlite=settings.on_sqlite)
    if settings.on_sqlite:
        found = _file(Path(settings.store.removeprefix("sqlite:///")), found)
        if found.file is None or found.error is not None or (found.owner is not None and told is not None):
            return found
    try:
        looked = asyncio.run(look(settings.store, lease_seconds=settings.lease_seconds))
    except HourhandError as error:
        return replace(found, error=str(error))
    key, detail = key_state(settings, looked.key_check) if looked.store is not None else (None, "")
    return replace(
        found,
        revision=looked.revision,
        newest=looked.newest,
        known=looked.known,
        database=looked.database,
        examined=looked.store,
        key=key,
        key_detail=detail,
        skew_seconds=looked.skew_seconds,
    )


def _file(path: Path, found: StoreSeen) -> StoreSeen:
    seen_file = seen_path(path)
    if seen_file is None:
        return found
    found = replace(
        found,
        file=seen_file,
        folder=seen_path(path.parent),
        folder_writable=os.access(path.parent, os.W_OK | os.X_OK),
        owner=owner_of(path),
    )
    if seen_file.size > CHECKED_BYTES:
        return found
    try:
        damage = quick_check(path, seconds=CHECK_SECONDS)
    except HourhandError as error:
        return replace(found, error=str(error))
    return replace(found, damage=None if damage is None else tuple(damage))
