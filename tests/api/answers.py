"""What the tests of the API have to say about its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

API = "/api/v1"


def ok(response: httpx.Response, status: int = 200) -> Any:
    """The body of an answer that must have this status."""
    assert response.status_code == status, response.text
    return response.json() if response.content else None


def problem(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem that an answer must be."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert {"type", "title", "status", "detail"} <= body.keys()
    assert body["status"] == status
    assert "Traceback" not in response.text
    return body


def refused(response: httpx.Response) -> dict[str, str]:
    """The messages of refused values, by field."""
    return {each["field"]: each["message"] for each in problem(response, 422)["errors"]}
