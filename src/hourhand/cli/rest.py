"""The CLI's connection to a Hourhand: REST, with the address and token of the settings."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from hourhand.cli.json_options import Json
from hourhand.model.errors import HourhandError, NotFound
from hourhand.sdk.address import API, Address, address_of
from hourhand.sdk.answers import read, unreachable
from hourhand.settings import load_settings

TIMEOUT_SECONDS = 30.0
MOST_AT_ONCE = 200


class Rest:
    """Asks, and raises what is refused."""

    def __init__(self, address: Address, http: httpx.Client) -> None:
        self._address = address
        self._http = http

    def get(self, path: str, **params: object) -> Any:  # noqa: ANN401 - JSON
        """Read something; parameters that are None are left out."""
        return self._ask("GET", path, params={name: value for name, value in params.items() if value is not None})

    def post(self, path: str, **body: object) -> Any:  # noqa: ANN401 - JSON
        """Do something; keys that are None are left out."""
        return self._ask("POST", path, json={name: value for name, value in body.items() if value is not None})

    def patch(self, path: str, body: Json) -> Any:  # noqa: ANN401 - JSON
        """Change something."""
        return self._ask("PATCH", path, json=body)

    def delete(self, path: str, **params: object) -> None:
        """Remove something."""
        self._ask("DELETE", path, params=params)

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
        names = [task["name"] for task in self.some("/tasks", 5 * MOST_AT_ONCE)["items"]]
        if close := difflib.get_close_matches(name, names, n=1):
            raise HourhandError(f"there is no task {name!r}; did you mean {close[0]!r}?")
        raise NotFound("task", name)

    def _ask(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
        try:
            return read(self._http.request(method, path, **more))
        except httpx.TransportError as error:
            raise unreachable(self._address.url, error) from None


@contextmanager
def connected() -> Iterator[Rest]:
    """The server that HOURHAND_URL, `hourhand.toml` or the defaults name."""
    address = address_of(load_settings())
    with httpx.Client(
        base_url=f"{address.url}{API}",
        headers=address.headers,
        timeout=TIMEOUT_SECONDS,
        trust_env=not address.local,
    ) as http:
        yield Rest(address, http)
