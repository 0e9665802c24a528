"""`/docs`: the OpenAPI document to read and try out, with nothing from any other host.

Swagger UI comes in the package `fastapi-offline`, of which only the files are used: its application would be another
one than ours.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

DOCUMENT = "/api/v1/openapi.json"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hourhand REST</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
# A browser that has signed in sends its cookie along; what changes something needs the session's token against
# forgery too, which is asked for once.
_START = f"""
let csrf;
fetch("/api/v1/sessions/current", {{credentials: "same-origin"}})
  .then((answer) => answer.ok ? answer.json() : {{}}).then((who) => {{ csrf = who.csrf_token; }}).catch(() => {{}});
SwaggerUIBundle({{
  url: "{DOCUMENT}", dom_id: "#docs", deepLinking: true, persistAuthorization: false, validatorUrl: null,
  requestInterceptor: (request) => {{ if (csrf) {{ request.headers["X-CSRF-Token"] = csrf; }} return request; }},
}});
"""
_FILES = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}


@router.api_route("/docs", methods=["GET", "HEAD"])
async def docs() -> HTMLResponse:
    """Show the page."""
    return HTMLResponse(_PAGE, headers={"Content-Security-Policy": _POLICY})


@router.api_route("/docs/{name}", methods=["GET", "HEAD"])
async def part(name: str) -> Response:
    """Send what the page is made of."""
    if name == "start.js":
        return Response(_START, media_type="text/javascript")
    if name not in _FILES:
        raise HTTPException(404)
    return Response(_read(name), media_type=_FILES[name], headers={"Cache-Control": "public, max-age=86400"})


@cache
def _read(name: str) -> bytes:
    return (files("fastapi_offline") / "static" / name).read_bytes()
