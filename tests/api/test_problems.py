"""Every kind of refusal has its HTTP form, and a fault of ours says nothing but its request id."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest

from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.errors import (
    DuplicateName,
    Gone,
    HasDependents,
    HourhandError,
    IllegalEdge,
    InvalidInput,
    NotFound,
    StaleFence,
    StaleVersion,
    StoreUnavailable,
)
from hourhand.model.words import Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from hourhand.store import Store


class Everybody:
    """Lets every token in: what is tested here lies behind the gate."""

    async def holder(self, token: str) -> Principal | None:
        return Principal(id="token:1", name=token, role=Role.ADMIN)


class NoStore:
    """A store that cannot be reached, and says more than an answer may."""

    async def signs(self) -> None:
        raise StoreUnavailable("canary-host refused the connection")


async def answer(error: Exception | None, path: str = "/api/v1/fails", **headers: str) -> httpx.Response:
    app = create_app(cast("Store", NoStore()), Settings(), Everybody())

    @app.get("/api/v1/fails")
    async def fails() -> None:
        if error:
            raise error

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get(path, headers={"Authorization": "Bearer any"} | headers)


@pytest.mark.parametrize(
    ("error", "status", "members"),
    [
        (InvalidInput.one("name", "", "'' is empty"), 422, {"errors": [{"field": "name", "message": "'' is empty"}]}),
        (NotFound("task", 7), 404, {"detail": "there is no task 7"}),
        (Gone("instance 7 ended long ago"), 410, {"detail": "instance 7 ended long ago"}),
        (DuplicateName("task", "a"), 409, {}),
        (StaleVersion("task", 1, 2, 3), 409, {}),
        (StaleFence(1, 2), 409, {}),
        (IllegalEdge("instance 1", "success", "cancelled", ["pending"]), 409, {"legal": ["pending"]}),
        (HasDependents("a", ["b", "c"]), 409, {"dependents": ["b", "c"]}),
        (StoreUnavailable("canary-host is down"), 503, {"title": "Service Unavailable"}),
        (HourhandError("canary"), 500, {"title": "Internal Server Error"}),
    ],
)
async def test_every_refusal_has_its_form(error: Exception, status: int, members: dict[str, Any]) -> None:
    response = await answer(error)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["type"].startswith("urn:hourhand:problem:")
    assert members.items() <= body.items()
    assert "canary" not in response.text
    assert ("retry-after" in response.headers) == (status == 503)


async def test_a_fault_of_ours_is_in_the_log_and_not_in_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = await answer(ZeroDivisionError("canary"), **{"X-Request-Id": "mine-2"})
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-request-id"] == "mine-2"
    assert "canary" not in response.text
    assert "mine-2" in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_the_address_of_a_callback_is_not_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(cast("Store", NoStore()), Settings(), Everybody())  # this store has no key: a fault of ours
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        response = await client.post("/api/v1/callbacks/1/1/canary", json={"status": "success"})
    assert response.status_code == 500
    assert "/api/v1/callbacks/… failed" in caplog.text
    assert "canary" not in caplog.text + response.text


async def test_a_store_out_of_reach_makes_it_unready_without_naming_it(caplog: pytest.LogCaptureFixture) -> None:
    response = await answer(None, "/readyz")
    assert response.status_code == 503
    assert "canary-host" not in response.text
    assert "canary-host" in caplog.text
