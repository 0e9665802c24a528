"""The REST surface over a real connection: health, the token, the error form, limits, the preview, the plain pages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from api.answers import problem
from api.answers import refused as fields
from api.in_process import TOKEN, serving
from hourhand import __version__
from hourhand.settings import Settings
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    import httpx

    from hourhand.store import Store
    from serving import Served

PREVIEW = "/api/v1/schedules/preview"
JSON = {"Content-Type": "application/json"}


def test_health_needs_no_token(visitor: httpx.Client) -> None:
    for path in ("/healthz", "/readyz"):
        assert visitor.get(path).json()["status"] == "ok"


def test_health_answers_a_question_without_a_body(visitor: httpx.Client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = visitor.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_version(client: httpx.Client) -> None:
    assert client.get("/api/v1/version").json() == {"version": __version__}


def test_every_answer_has_a_request_id(client: httpx.Client) -> None:
    assert re.fullmatch("[0-9a-f]{32}", client.get("/healthz").headers["x-request-id"])
    assert client.get("/nothing", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert client.get("/healthz", headers={"X-Request-Id": "a b\tc"}).headers["x-request-id"] != "a b\tc"


@pytest.mark.parametrize("path", ["/api/v1/version", PREVIEW, "/api/v1/none", "/api", "/docs/x", "/readyz/x"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_everything_else_is_denied_without_a_token(visitor: httpx.Client, method: str, path: str) -> None:
    refused = visitor.request(method, path)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_a_page_is_public_to_be_read_and_nothing_else(visitor: httpx.Client, method: str) -> None:
    assert visitor.get("/x").status_code == visitor.head("/x").status_code == 200
    problem(visitor.request(method, "/x"), 401)


@pytest.mark.parametrize(
    "value",
    [
        "Bearer wrong",
        "Bearer",
        "Basic YTpi",
        "hh_",
        "bearer\thh_x",
        b"Bearer \xff\xfe",
        "Bearer " + "x" * 5000,
    ],
)
def test_a_wrong_token_is_refused(visitor: httpx.Client, value: str | bytes) -> None:
    raw = value if isinstance(value, bytes) else value.encode()
    refused = visitor.get("/api/v1/version", headers={b"Authorization": raw})
    problem(refused, 401)
    assert refused.headers["www-authenticate"].startswith("Bearer")


def test_the_scheme_is_case_insensitive(visitor: httpx.Client, served: Served) -> None:
    answer = visitor.get("/api/v1/version", headers={"Authorization": f"bEaReR {served.token}"})
    assert answer.status_code == 200


def test_every_route_of_the_document_needs_the_token(client: httpx.Client, visitor: httpx.Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    for path, methods in document["paths"].items():
        for method in methods:
            # Below /callbacks the address is the token, and this is not the address of one.
            expected = 200 if path in ("/healthz", "/readyz") else 404 if "/callbacks/" in path else 401
            expected = 422 if (method, path) == ("post", "/api/v1/sessions") else expected  # nothing was given
            assert visitor.request(method, path).status_code == expected, (method, path)
    assert document["components"]["schemas"]["Problem"]


def test_unknown_paths_and_methods_are_problems(client: httpx.Client) -> None:
    assert "/api/v1/none" in problem(client.get("/api/v1/none"), 404)["detail"]
    refused = client.delete("/api/v1/version")
    assert "GET" in problem(refused, 405)["detail"]
    assert "GET" in refused.headers["allow"]


def test_preview(client: httpx.Client) -> None:
    body = {"schedule": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "count": 3, "after": "2026-03-27T12:00:00Z"}
    answer = client.post(PREVIEW, json=body).json()
    assert answer.keys() == {"instants", "description", "notes"}
    assert answer["instants"] == ["2026-03-30T07:00:00Z", "2026-03-31T07:00:00Z", "2026-04-01T07:00:00Z"]
    assert "09:00" in answer["description"]


def test_preview_defaults_to_ten_instants_in_utc_from_now(client: httpx.Client) -> None:
    answer = client.post(PREVIEW, json={"schedule": "*/5 * * * *"}).json()
    instants = [datetime.fromisoformat(each) for each in answer["instants"]]
    assert len(instants) == 10
    assert instants == sorted(set(instants))
    assert all(each.endswith("Z") for each in answer["instants"])


def test_preview_of_a_fixed_rate_starts_at_after(client: httpx.Client) -> None:
    body = {"schedule": "@every 30s", "count": 2, "after": "2026-01-01T00:00:00Z"}
    assert client.post(PREVIEW, json=body).json()["instants"] == ["2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"]


@pytest.mark.parametrize("schedule", ["@after 30s", "@upstream", "@manual"])
def test_preview_of_what_no_clock_decides_is_a_description(client: httpx.Client, schedule: str) -> None:
    answer = client.post(PREVIEW, json={"schedule": schedule}).json()
    assert answer["instants"] == []
    assert answer["description"]


def test_a_wrong_schedule_is_refused_with_the_value(client: httpx.Client) -> None:
    assert "61" in fields(client.post(PREVIEW, json={"schedule": "61 * * * *"}))["schedule"]


def test_a_wrong_zone_is_refused_with_the_value(client: httpx.Client) -> None:
    refused = client.post(PREVIEW, json={"schedule": "@daily", "timezone": "Mars/Olympus"})
    assert "Mars/Olympus" in fields(refused)["timezone"]


def test_unknown_keys_are_refused(client: httpx.Client) -> None:
    found = fields(client.post(PREVIEW, json={"schedule": "@daily", "tz": "UTC"}))
    assert "'UTC'" in found["tz"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "schedule"),
        ({"schedule": 5}, "schedule"),
        ({"schedule": None}, "schedule"),
        ({"schedule": "@daily", "count": 0}, "count"),
        ({"schedule": "@daily", "count": 101}, "count"),
        ({"schedule": "@daily", "count": 10**4000}, "count"),
        ({"schedule": "@daily", "count": "3"}, "count"),
        ({"schedule": "@daily", "count": 2.5}, "count"),
        ({"schedule": "@daily", "count": True}, "count"),
        ({"schedule": "@daily", "after": "yesterday"}, "after"),
        ({"schedule": "@daily", "after": "2026-01-01T00:00:00"}, "after"),
        ({"schedule": "@daily", "after": 5}, "after"),
        ([], "body"),
        ("text", "body"),
        (None, "body"),
    ],
)
def test_wrong_values_are_refused_by_field(client: httpx.Client, body: object, field: str) -> None:
    assert field in fields(client.post(PREVIEW, content=json.dumps(body), headers=JSON))


HOSTILE = {
    "empty": b"",
    "not JSON": b"{",
    "invalid UTF-8": b'{"schedule": "\xff"}',
    "UTF-16": '{"schedule": "@daily"}'.encode("utf-16"),
    "raw NUL": b'{"schedule": "@daily\x00"}',
    "escaped NUL": b'{"schedule": "@daily\\u0000"}',
    "NUL in a zone": b'{"schedule": "@daily", "timezone": "U\\u0000TC"}',
    "NUL in a key": b'{"sched\\u0000ule": "@daily"}',
    "half a surrogate pair": b'{"schedule": "\\ud800"}',
    "half a surrogate pair in a key": b'{"\\ud800": 1}',
    "zone that is a path": b'{"schedule": "@daily", "timezone": "../../etc/passwd"}',
    "zone that is a folder": b'{"schedule": "@daily", "timezone": "Europe"}',
    "zone that is empty": b'{"schedule": "@daily", "timezone": ""}',
    "nested arrays": b"[" * 100_000,
    "nested objects": b'{"a":' * 100_000,
    "nested and closed": b'{"schedule": ' + b"[" * 500 + b"]" * 500 + b"}",
    "brackets in a string": b'{"schedule": "' + b"[" * 1000 + b'"}',
    "quotes that never end": b'"\\' * 400_000,
    "huge integer": b'{"schedule": "@daily", "count": ' + b"9" * 100_000 + b"}",
    "huge float": b'{"schedule": "@daily", "count": 1e999}',
    "not a number": b'{"schedule": "@daily", "count": NaN}',
    "huge key": b'{"schedule": "@daily", "' + b"k" * 500_000 + b'": 1}',
    "huge schedule": b'{"schedule": "' + b"*" * 500_000 + b'"}',
    "many arrays": b'{"schedule": [' + b"[]," * 300_000 + b"[]]}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bodies_are_refused_and_answered_soon(client: httpx.Client, body: bytes) -> None:
    refused = client.post(PREVIEW, content=body, headers=JSON)
    assert refused.status_code in (400, 422)
    problem(refused, refused.status_code)
    assert refused.elapsed.total_seconds() < 2
    assert len(refused.content) < 1_000_000


@pytest.mark.parametrize("after", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York", "UTC"])
def test_the_ends_of_time_are_no_fault_of_ours(client: httpx.Client, after: str, zone: str) -> None:
    for schedule in ("@daily", "@every 1d", "0 0 29 2 *"):
        answer = client.post(PREVIEW, json={"schedule": schedule, "timezone": zone, "after": after})
        assert answer.status_code in (200, 422), (schedule, answer.text)


def test_a_body_of_a_mebibyte_is_read_and_a_larger_one_is_not(client: httpx.Client) -> None:
    mebibyte = b" " * (1024 * 1024 - 22) + b'{"schedule": "@daily"}'
    assert client.post(PREVIEW, content=mebibyte, headers=JSON).status_code == 200
    problem(client.post(PREVIEW, content=b" " + mebibyte, headers=JSON), 413)


def test_a_larger_body_sent_in_chunks_is_not_read_either(client: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    problem(client.post(PREVIEW, content=chunks(), headers=JSON), 413)


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "application/jsonp", "json"])
def test_a_body_of_another_type_is_refused(client: httpx.Client, kind: str) -> None:
    refused = client.post(PREVIEW, content=b'{"schedule": "@daily"}', headers={"Content-Type": kind})
    assert f"is said to be '{kind}'" in problem(refused, 415)["detail"]
    assert refused.headers["accept"] == "application/json"


def test_a_body_without_a_type_is_refused(client: httpx.Client) -> None:
    refused = client.post(PREVIEW, content=b'{"schedule": "@daily"}')
    assert "Content-Type: application/json" in problem(refused, 415)["detail"]


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/json ;x=y", "application/a.b+json"]
)
def test_json_may_be_called_by_all_its_names(client: httpx.Client, kind: str) -> None:
    assert client.post(PREVIEW, content=b'{"schedule": "@daily"}', headers={"Content-Type": kind}).status_code == 200


@pytest.fixture
async def plain(sqlite_url: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Ask a server whose web UI was not built."""
    store = await open_store(sqlite_url)
    try:
        async with serving(store, Settings(data_dir=tmp_path / "data"), ui=tmp_path / "dist") as client:
            yield client
    finally:
        await store.close()


async def test_the_page_is_self_contained_and_does_not_show_the_token(plain: httpx.AsyncClient, tmp_path: Path) -> None:
    page = await plain.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert "http" not in page.text.replace(str(plain.base_url).rstrip("/"), "")
    assert TOKEN not in page.text
    assert str(tmp_path / "data" / "admin-token") in page.text
    assert __version__ in page.text
    assert "prefers-color-scheme: dark" in page.text


async def test_the_page_tells_other_machines_nothing_of_this_ones_files(store: Store, tmp_path: Path) -> None:
    settings = Settings(host="0.0.0.0", allow_remote=True, data_dir=tmp_path)  # noqa: S104 - nothing listens there
    async with serving(store, settings, ui=tmp_path / "dist") as client:
        page = (await client.get("/")).text
    assert str(tmp_path) not in page
    assert "Bearer $TOKEN" in page


async def test_the_page_to_sign_in_is_self_contained_and_runs_its_own_script_only(plain: httpx.AsyncClient) -> None:
    page = await plain.get("/sign-in")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert (await plain.head("/sign-in")).headers["content-length"] == page.headers["content-length"]
    allowed = dict(each.split(" ", 1) for each in page.headers["content-security-policy"].split("; "))
    assert (allowed["default-src"], allowed["form-action"], allowed["connect-src"]) == ("'none'", "'none'", "'self'")
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page.text, re.DOTALL)
        assert allowed[source] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    assert not re.search(r"""\son\w+=|\sstyle=|https?:|javascript:""", page.text)


async def test_the_page_escapes_the_host_it_was_asked_for(plain: httpx.AsyncClient) -> None:
    page = await plain.get("/", headers={"Host": 'x"><script>alert(1)</script>'})
    assert "<script" not in page.text
