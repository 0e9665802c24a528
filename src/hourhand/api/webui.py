"""The pages: the web UI as it was built, for every path that is not the API's.

Public, because what they hold is the same for everybody: what they show, they ask of the API, as whoever has signed in.
`assets/` has files whose names change with their content, so that browsers may keep them; whatever else is no file is
a page of the UI, which reads its own address. Where the UI was not built, `/` says so, and `/sign-in` still works.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from hourhand import webui
from hourhand.api import page
from hourhand.api.problems import Problem, shown_path

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from hourhand.settings import Settings

METHODS = ("GET", "HEAD")
ASSETS = "/assets/"
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'none'"
)
IMMUTABLE = "public, max-age=31536000, immutable"
# Not what the system's tables say: some of them call scripts something that browsers do not execute.
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
COUNTED_AS = SimpleNamespace(path="/{page}")
"""What stands for the route in the metrics."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the UI, as it is to be sent."""

    content: bytes
    media_type: str
    packed: bool
    varies: bool


class Pages:
    """The application that answers every path which is not the API's, and nothing else."""

    def __init__(self, settings: Settings, dist: Path = webui.DIST) -> None:
        self.settings = settings
        self.dist = dist.resolve()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["route"] = COUNTED_AS
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path = request.scope["path"]  # that of the URL would depend on what the header Host says
        if request.method not in METHODS:
            allowed = ", ".join(METHODS)
            detail = f"{shown_path(path)} does not answer {request.method}: use {allowed}"
            return Problem(405, detail, headers={"Allow": allowed})
        packed = accepts_gzip(request.headers)
        if path.startswith(ASSETS):
            file = await asyncio.to_thread(self._file, path, self.dist / "assets", packed=packed)
            return Problem(404, f"there is nothing at {shown_path(path)}") if file is None else _asset(file)
        file = await asyncio.to_thread(self._page, path, packed=packed)
        return self._instead(request) if file is None else _page(file, request.headers)

    def _page(self, path: str, *, packed: bool) -> File | None:
        """Return a file that is not below `assets/`, such as an icon, or else the page that makes sense of any path."""
        return self._file(path, self.dist, packed=packed) or self._file(f"/{webui.INDEX}", self.dist, packed=packed)

    def _file(self, path: str, within: Path, *, packed: bool) -> File | None:
        """Return the file that a path names; None where there is none, or where it lies elsewhere."""
        try:
            file = (self.dist / path.lstrip("/")).resolve()
            # The path is what somebody wrote: it may lead out by dots, and a link by where it points.
            if not file.is_relative_to(within) or file == self.dist / webui.NOTE:
                return None
            if file.suffix not in TYPES or not file.is_file():
                return None
            return self._read(file, packed=packed)
        except (OSError, ValueError):  # a name that is too long, or has a NUL in it, or the UI is being replaced
            return None

    def _read(self, file: Path, *, packed: bool) -> File:
        beside = file.with_name(f"{file.name}.gz")
        varies = beside.is_file()
        if packed and varies:
            with contextlib.suppress(FileNotFoundError):  # the UI is being replaced
                return File(beside.read_bytes(), TYPES[file.suffix], packed, varies)
        return File(file.read_bytes(), TYPES[file.suffix], packed=False, varies=varies)

    def _instead(self, request: Request) -> Response:
        """Answer without a UI."""
        match request.scope["path"]:
            case "/":
                reason = webui.why_not(self.dist)
                return page.welcome(self.settings, str(request.base_url).rstrip("/"), reason)
            case "/sign-in":
                return page.sign_in()
            case path:
                return Problem(404, f"there is nothing at {shown_path(path)}, and the web UI was not built: see /")


def accepts_gzip(headers: Headers) -> bool:
    """Tell whether gzip may be sent: it is named, or everything is, and not with the weight 0."""
    weights: dict[str, bool] = {}
    for each in ",".join(headers.getlist("accept-encoding")).split(","):
        name, *parameters = (part.strip().lower() for part in each.split(";"))
        weights[name] = not any(_is_nought(parameter) for parameter in parameters)
    return weights.get("gzip", weights.get("*", False))


def _is_nought(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    try:
        return name.strip() == "q" and float(value) == 0
    except ValueError:
        return False


def _headers(file: File, caching: str) -> dict[str, str]:
    headers = {"Content-Type": file.media_type, "Content-Security-Policy": POLICY, "Cache-Control": caching}
    if file.packed:
        headers["Content-Encoding"] = "gzip"
    if file.varies:
        headers["Vary"] = "Accept-Encoding"
    return headers


def _asset(file: File) -> Response:
    return Response(file.content, headers=_headers(file, IMMUTABLE))


def _page(file: File, asked: Headers) -> Response:
    tag = f'"{hashlib.sha256(file.content).hexdigest()[:32]}"'
    headers = _headers(file, "no-cache") | {"ETag": tag}
    known = {each.strip().removeprefix("W/") for each in ",".join(asked.getlist("if-none-match")).split(",")}
    if known & {tag, "*"}:
        del headers["Content-Type"]
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers)
