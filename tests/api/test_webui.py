"""The pages: the built web UI over real connections, what stands in for it, and that neither opens the API."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from starlette.datastructures import Headers

from api.answers import API, problem
from api.in_process import TOKEN, serving
from hourhand.api.gate import PUBLIC
from hourhand.api.webui import POLICY, accepts_gzip
from hourhand.settings import Settings
from hourhand.store import open_store
from hourhand.webui import is_built, why_not

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from hourhand.store import Store
    from serving import Served

SCRIPT = "console.log('hands');\n" * 100
INDEX = '<!doctype html><div id="root"></div><script type="module" src="/assets/index-Ab3_x-9z.js"></script>'
OURS = {"Authorization": f"Bearer {TOKEN}"}
SECRET = "what lies beside the pages"  # noqa: S105 - nobody's


@dataclass
class Site:
    """A server of some pages; `visitor` shows no token."""

    dist: Path
    visitor: httpx.AsyncClient

    async def raw(self, path: str, method: str = "GET") -> bytes:
        """Send a path as it is: clients would tidy it up first."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.visitor.base_url.port)
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        try:
            return await reader.read()
        finally:
            writer.close()


@pytest.fixture
async def files(sqlite_url: str) -> AsyncIterator[Store]:
    store = await open_store(sqlite_url)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def site(files: Store, tmp_path: Path) -> AsyncIterator[Site]:
    dist = tmp_path / "around" / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text(INDEX)
    (dist / "favicon.svg").write_text("<svg/>")
    (dist / "build.json").write_text('{"inputs": "canary-1"}')
    (dist / "assets" / "index-Ab3_x-9z.js").write_text(SCRIPT)
    (dist / "assets" / "index-Ab3_x-9z.js.gz").write_bytes(gzip.compress(SCRIPT.encode(), mtime=0))
    (dist / "assets" / "style-12345678.css").write_text("body {}")
    (dist / "assets" / "odd.bin").write_bytes(b"\0")
    (tmp_path / "around" / "secret.txt").write_text(SECRET)
    (tmp_path / "around" / "dist-too").mkdir()
    (tmp_path / "around" / "dist-too" / "secret.js").write_text(SECRET)
    (dist / "assets" / "way-out.txt").symlink_to(tmp_path / "around" / "secret.txt")
    (dist / "assets" / "folder.js").mkdir()
    async with serving(files, ui=dist) as client:
        del client.headers["Authorization"]
        yield Site(dist, client)


@pytest.fixture
async def unbuilt(files: Store, tmp_path: Path) -> AsyncIterator[Site]:
    async with serving(files, ui=tmp_path / "dist") as client:
        del client.headers["Authorization"]
        yield Site(tmp_path / "dist", client)


async def test_every_path_of_the_ui_is_its_page(site: Site) -> None:
    for path in ("/", "/sign-in", "/tasks/7?status=failed", "/x/y.z", "/index.html", "/apis", "/API/v1", "/api.html"):
        page = await site.visitor.get(path)
        assert (page.status_code, page.text) == (200, INDEX), path
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["cache-control"] == "no-cache"
        assert page.headers["content-security-policy"] == POLICY
        assert page.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in page.headers


async def test_a_page_that_the_browser_has_is_not_sent_again(site: Site) -> None:
    tag = (await site.visitor.get("/")).headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = await site.visitor.get("/tasks", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["cache-control"] == "no-cache"
    assert (await site.visitor.get("/", headers={"If-None-Match": '"other"'})).status_code == 200
    (site.dist / "index.html").write_text(f"{INDEX}\n")
    assert (await site.visitor.get("/", headers={"If-None-Match": tag})).status_code == 200


async def test_a_file_beside_the_page_is_sent_as_it_is_but_not_the_note_of_the_build(site: Site) -> None:
    icon = await site.visitor.get("/favicon.svg")
    assert (icon.text, icon.headers["content-type"]) == ("<svg/>", "image/svg+xml")
    assert icon.headers["cache-control"] == "no-cache"
    assert "canary-1" not in (await site.visitor.get("/build.json")).text
    for path in ("//build.json", "/x/../build.json", "/assets/../build.json"):
        assert b"canary-1" not in await site.raw(path)


async def test_an_asset_may_be_kept_for_a_year(site: Site) -> None:
    style = await site.visitor.get("/assets/style-12345678.css")
    assert (style.text, style.headers["content-type"]) == ("body {}", "text/css; charset=utf-8")
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "vary" not in style.headers


async def test_a_packed_asset_is_sent_to_whoever_can_unpack_it(site: Site) -> None:
    path = "/assets/index-Ab3_x-9z.js"
    packed = await site.visitor.get(path, headers={"Accept-Encoding": "gzip, br"})
    plain = await site.visitor.get(path, headers={"Accept-Encoding": "identity"})
    assert packed.text == plain.text == SCRIPT
    assert (packed.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) == len(SCRIPT)
    for answer in (packed, plain):
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    ("said", "accepted"),
    [
        ("gzip", True),
        ("br;q=1.0, GZIP;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("identity", False),
        ("gzip;q=x", True),
        ("", False),
        (None, False),
    ],
)
def test_what_may_be_sent_packed(said: str | None, accepted: bool) -> None:  # noqa: FBT001 - a parameter
    assert accepts_gzip(Headers({} if said is None else {"Accept-Encoding": said})) is accepted


@pytest.mark.parametrize("path", ["/", "/assets/index-Ab3_x-9z.js"])
async def test_head_is_answered_as_get_without_the_body(site: Site, path: str) -> None:
    got, head = await site.visitor.get(path), await site.visitor.head(path)
    assert head.content == b""
    for name in ("content-length", "content-type", "cache-control", "content-security-policy"):
        assert head.headers[name] == got.headers[name]


async def test_an_asset_that_is_missing_is_never_a_page(site: Site) -> None:
    for name in ("index-00000000.js", "", "folder.js", "odd.bin", "index-Ab3_x-9z.js.gz", "x" * 5000):
        missing = await site.visitor.get(f"/assets/{name}")
        assert "there is nothing at /assets/" in problem(missing, 404)["detail"]
        assert missing.headers["cache-control"] == "no-store"  # the next build may have it


OUTWARD = (
    "/assets/../../secret.txt",
    "/assets/%2e%2e/%2e%2e/secret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/assets/..%5c..%5csecret.txt",
    "/assets/../index.html",
    "/assets/../../dist-too/secret.js",
    "/assets/way-out.txt",
    "/assets/%00.js",
    "/assets//etc/passwd",
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "//../secret.txt",
    "/..%2fsecret.txt",
    "/../dist-too/secret.js",
    "/x/../../secret.txt",
    "/%00",
    "//etc/passwd",
    "/etc/passwd",
)


async def test_no_path_leads_out(site: Site) -> None:
    for path in OUTWARD:
        answer = await site.raw(path)
        assert SECRET.encode() not in answer, path
        assert b"root:" not in answer, path
        missing = path.startswith("/assets/") or "%2f" in path
        assert (answer.split(maxsplit=2)[1] == b"404") is missing, path
        assert (INDEX.encode() in answer) is not missing, path


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_pages_are_only_read(site: Site, method: str) -> None:
    for path in ("/", "/sign-in", "/tasks", "/assets/style-12345678.css"):
        refused = await site.visitor.request(method, path, headers=OURS)
        assert f"{path} does not answer {method}" in problem(refused, 405)["detail"]
        assert refused.headers["allow"] == "GET, HEAD"
        problem(await site.visitor.request(method, path), 405 if path in PUBLIC else 401)


async def test_what_is_no_route_of_the_api_is_a_problem_and_never_a_page(site: Site) -> None:
    for path in ("/api", "/api/", "/api/v1", "/api/v1/none", "/api/v2/tasks", "/docs/none", "/metrics/x"):
        problem(await site.visitor.get(path), 401)
        problem(await site.visitor.get(path, headers=OURS), 404)


SPELT = (
    "{}",
    "/{}",
    "/.{}",
    "/x/..{}",
    "{}/",
    "{}?/",
    "{}%20",
    "{};x=/sign-in",
    "/sign-in/..{}",
    "/assets/..{}",
    "http://127.0.0.1{}",
    "/%61pi/v1/tokens",
    "/api%2fv1%2ftokens",
    "/Api/v1/tokens",
    "/api//v1/tokens",
    "/api/v1/../v1/tokens",
)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_however_it_is_spelt_no_route_answers_a_visitor(site: Site, method: str) -> None:
    for path in SPELT:
        answer = await site.raw(path.format(f"{API}/tokens"), method)
        status = int(answer.split(maxsplit=2)[1])
        assert status in (200, 400, 401, 404), path
        assert b'"items"' not in answer, path
        if status == 200:  # whoever asks may have the page: it is the same for all
            assert b"text/html" in answer, path


async def test_the_pages_of_a_visitor_are_counted_under_one_name(site: Site) -> None:
    for number in range(3):
        await site.visitor.get(f"/tasks/{number}")
    scraped = (await site.visitor.get("/metrics")).text
    assert re.search(r'hourhand_api_requests_total\{[^}]*route="/\{page\}"', scraped)
    assert "/tasks/1" not in scraped


async def test_a_new_build_is_served_without_a_restart(unbuilt: Site) -> None:
    assert "The web UI was not built" in (await unbuilt.visitor.get("/")).text
    unbuilt.dist.mkdir()
    (unbuilt.dist / "index.html").write_text(INDEX)
    assert (await unbuilt.visitor.get("/")).text == INDEX


async def test_without_a_build_the_page_says_so_and_why(unbuilt: Site) -> None:
    assert "make ui" in (await unbuilt.visitor.get("/")).text
    unbuilt.dist.mkdir()
    (unbuilt.dist / "build.json").write_text(json.dumps({"reason": "`npm ci` ended with 1: <b>no network</b>"}))
    page = (await unbuilt.visitor.get("/")).text
    assert "`npm ci` ended with 1: &lt;b&gt;no network&lt;/b&gt;" in page
    assert (await unbuilt.visitor.get("/sign-in")).status_code == 200
    assert "was not built" in problem(await unbuilt.visitor.get("/tasks"), 404)["detail"]
    problem(await unbuilt.visitor.get("/assets/index-Ab3_x-9z.js"), 404)


async def test_why_there_is_no_build_is_not_for_other_machines(files: Store, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "build.json").write_text('{"reason": "canary-2"}')
    settings = Settings(host="0.0.0.0", allow_remote=True, data_dir=tmp_path)  # noqa: S104 - nothing listens there
    async with serving(files, settings, ui=tmp_path / "dist") as client:
        page = (await client.get("/")).text
    assert "The web UI was not built" in page
    assert "canary-2" not in page


@pytest.mark.parametrize("note", [None, "", "[]", "{}", '{"reason": 5}'])
def test_a_build_that_left_no_word_is_only_missing(tmp_path: Path, note: str | None) -> None:
    if note is not None:
        (tmp_path / "build.json").write_text(note)
    assert not is_built(tmp_path)
    assert why_not(tmp_path) is None


def test_the_ui_as_it_was_built_is_served_whole(served: Served, visitor: httpx.Client) -> None:
    assert is_built(), "the web UI is not built: run `make ui`"
    assert "was not built" not in served.output
    page = visitor.get("/sign-in")
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert any(part.startswith("/assets/") for part in parts)
    for part in parts:
        assert part.startswith("/")
        answer = visitor.get(part)
        assert answer.status_code == 200
        assert "text/html" not in answer.headers["content-type"]
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|https?:|javascript:", page.text)
