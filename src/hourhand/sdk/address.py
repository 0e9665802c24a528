"""SDK: where a Hourhand is that answers over REST, and the token it is shown."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from hourhand.model.errors import InvalidInput
from hourhand.settings import Settings, is_loopback

API = "/api/v1"
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what a server listens on, and where that is reached
LONGEST_TOKEN = 1_000


@dataclass(frozen=True, slots=True)
class Address:
    """A server, as a client speaks to it."""

    url: str
    token: str | None = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(httpx.URL(self.url).host)

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """Whom to believe; reading whom the system believes takes longer than most requests, so not without need."""
        plain = self.local and httpx.URL(self.url).scheme == "http"
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True


def address_of(settings: Settings) -> Address:
    """The server that the settings name: by `url`, or else by the host and port that `hourhand serve` would use."""
    url = settings.url.rstrip("/") if "url" in settings.model_fields_set else _served(settings)
    try:
        host = httpx.URL(url).host
    except httpx.InvalidURL as error:
        right = "use one such as http://127.0.0.1:8420"
        raise InvalidInput.one("url", url, f"{url!r} is no address ({error}): {right}") from None
    if settings.token is not None:
        return Address(url, _sendable(settings.token.get_secret_value().strip(), "HOURHAND_TOKEN"))
    # A token found lying around must not be shown to whoever answers at some other machine's address.
    return Address(url, _found(settings.admin_token_file) if is_loopback(host) else None)


def _served(settings: Settings) -> str:
    host = EVERYWHERE.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _found(file: Path) -> str | None:
    """The token of the data folder; without one the server says that it needs one, if there is a server."""
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            return _sendable(opened.read(LONGEST_TOKEN).strip(), str(file))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput.one("HOURHAND_TOKEN", None, f"is not set, and {file} cannot be read: {error}") from None


def _sendable(token: str, source: str) -> str:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput.one(source, "***", "holds no token: a token is one word of letters, digits and signs")
    return token
