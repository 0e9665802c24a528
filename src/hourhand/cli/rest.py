"""The CLI's connection to a Hourhand: REST, with the address and token of the settings."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from hourhand.cli.json_options import Json
from hourhand.model.errors import HourhandError, NotFound, StoreUnavailable
from hourhand.sdk.address import API, EVERYWHERE, Address, address_of
from hourhand.sdk.answers import plain_of, read, refusal, unreachable
from hourhand.settings import Settings, is_loopback, load_settings, source_of

TIMEOUT_SECONDS = 30.0
PATIENT_SECONDS = 3_600.0
"""For what reads everything there is."""
SILENCE_SECONDS = 45.0
"""A stream shows a sign of life every 15."""
MOST_AT_ONCE = 200
ROOT = 0
_OWNER = re.compile(
    r"http://(?P<host>\[[0-9a-f:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5}) \(pid (?P<pid>[1-9][0-9]{0,9})\)"
)


class Rest:
    """Asks, and raises what is refused."""

    def __init__(self, address: Address, http: httpx.Client, token_from: str = "") -> None:
        self._address = address
        self._http = http
        self._token_from = token_from

    @property
    def url(self) -> str:
        """Whom it asks."""
        return self._address.url

    def get(self, path: str, **params: object) -> Any:  # noqa: ANN401 - JSON
        """Read something; parameters that are None are left out."""
        return self._ask("GET", path, params={name: value for name, value in params.items() if value is not None})

    def post(self, path: str, **body: object) -> Any:  # noqa: ANN401 - JSON
        """Do something; keys that are None are left out."""
        return self._ask("POST", path, json={name: value for name, value in body.items() if value is not None})

    def patch(self, path: str, body: Json) -> Any:  # noqa: ANN401 - JSON
        """Change something."""
        return self._ask("PATCH", path, json=body)

    def delete(self, path: str, **params: object) -> Any:  # noqa: ANN401 - JSON
        """Remove something; most answer nothing."""
        return self._ask("DELETE", path, params=params)

    @contextmanager
    def stream(self, path: str, **params: str) -> Iterator[Iterator[bytes]]:
        """Read an answer that goes on, piece by piece; one that is cut short or silent is raised as unreachable."""
        quiet = httpx.Timeout(TIMEOUT_SECONDS, read=SILENCE_SECONDS)
        with self._reachable(), self._http.stream("GET", path, params=params, timeout=quiet) as answer:
            if answer.status_code != httpx.codes.OK:
                answer.read()
                raise refusal(answer, self._token_from)
            yield answer.iter_bytes()

    def some(self, path: str, limit: int, **params: object) -> Json:
        """Up to `limit` items, however many pages that takes, in the shape of one page."""
        items: list[Json] = []
        cursor: str | None = None
        while len(items) < limit:
            page = self.get(path, limit=min(MOST_AT_ONCE, limit - len(items)), cursor=cursor, **params)
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return {"items": items, "next_cursor": cursor}

    def task(self, name: str) -> Json:
        """The task of that name, or a refusal that names the nearest."""
        found = self.get("/tasks", name=name)["items"]
        if found:
            return dict(found[0])
        raise _unknown("task", name, self.some("/tasks", 5 * MOST_AT_ONCE)["items"])

    def group(self, name: str) -> Json:
        """The group of that name, or a refusal that names the nearest."""
        return _named("group", name, self.get("/groups")["items"])

    def user(self, name: str) -> Json:
        """The user of that name, or a refusal that names the nearest."""
        return self.named("user", "/users", name)

    def alert_rule(self, name: str) -> Json:
        """The alert rule of that name, or a refusal that names the nearest."""
        return self.named("alert rule", "/alert-rules", name)

    def named(self, kind: str, path: str, name: str, *, paged: bool = True) -> Json:
        """The one of that name in a list, or a refusal that names the nearest."""
        page = self.some(path, 50 * MOST_AT_ONCE) if paged else self.get(path)
        return _named(kind, name, page["items"])

    def _ask(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
        with self._reachable():
            return read(self._http.request(method, path, **more), self._token_from)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if plain_of(self._address.url, error):
                raise unreachable(self._address.url, error) from None
            raise StoreUnavailable(
                f"no Hourhand answers at {self._address.url} ({str(error) or type(error).__name__}): start one with "
                "`hourhand serve`; or, if one runs elsewhere, set HOURHAND_URL (on this machine HOURHAND_PORT is "
                "enough), or url or port in ./hourhand.toml"
            ) from None
        except httpx.TransportError as error:
            raise unreachable(self._address.url, error) from None


def _named(kind: str, name: str, items: Iterable[Json]) -> Json:
    for one in items:
        if one["name"] == name:
            return one
    raise _unknown(kind, name, items)


def _unknown(kind: str, name: str, items: Iterable[Json]) -> HourhandError:
    if close := difflib.get_close_matches(name, [one["name"] for one in items], n=1):
        return HourhandError(f"there is no {kind} {name!r}; did you mean {close[0]!r}?")
    return NotFound(kind, name)


@contextmanager
def connected(*, patient: bool = False) -> Iterator[Rest]:
    """The server that HOURHAND_URL or `hourhand.toml` names, or else the one that serves the store of this folder."""
    settings = load_settings()
    address = address_of(found_here(settings))
    token_from = str(settings.admin_token_file) if settings.token is None else source_of("token")
    with httpx.Client(
        base_url=f"{address.url}{API}",
        headers=address.headers,
        timeout=httpx.Timeout(TIMEOUT_SECONDS, read=PATIENT_SECONDS if patient else TIMEOUT_SECONDS),
        trust_env=not address.local,
        verify=address.verify,
    ) as http:
        yield Rest(address, http, token_from)


def found_here(settings: Settings) -> Settings:
    """With the port of the process that owns this folder's SQLite file, if nothing else says where to ask.

    It wrote its address beside the file, for whoever wants to own the file as well. A folder may come from anywhere,
    and a token is sent there: so that is believed only of a living process of this user, on this machine.
    """
    named = settings.model_fields_set & {"url", "host", "port"}
    if not settings.on_sqlite or (named and not (named == {"port"} and settings.port == 0)):
        return settings
    owner = _OWNER.match(_written(Path(f"{settings.store.removeprefix('sqlite:///')}.lock")))
    if owner is None or not _lives(int(owner["pid"])):
        return settings
    host = owner["host"].strip("[]")
    host = EVERYWHERE.get(host, host)
    return settings.model_copy(update={"host": host, "port": int(owner["port"])}) if is_loopback(host) else settings


def _written(path: Path) -> str:
    """What a file of this user says; nothing if it is somebody else's, or no file."""
    try:
        # Without waiting: a pipe of that name may have nobody at its other end.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
            seen = os.fstat(opened.fileno())
            if not stat.S_ISREG(seen.st_mode) or seen.st_uid not in (os.geteuid(), ROOT):
                return ""
            return opened.read(1_000).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _lives(pid: int) -> bool:
    """Whether there is such a process, of this user."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True
