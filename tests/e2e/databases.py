"""Data sources made for a test through the API."""

from __future__ import annotations

from typing import Any

import httpx

from e2e.commands import API, until


def source(api: httpx.Client, name: str, url: str, **fields: Any) -> int:
    """Add a data source, and return its id."""
    answer = api.post(f"{API}/data-sources", json={"name": name, "url": url, **fields})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def operated(api: httpx.Client, kind: str, config: dict[str, Any]) -> dict[str, Any]:
    """Do an operation without looking, and return its instance once it has succeeded."""
    answer = api.post(f"{API}/operations/{kind}", json={"config": config})
    assert answer.status_code == 202, answer.text
    ended = until(api, answer.json()["id"], "success", "failed")
    assert ended["status"] == "success", ended["error_message"]
    return ended
