"""The page at `/`: says what this is and what to try; self-contained, without scripts."""

from __future__ import annotations

import base64
import hashlib
import shlex
import shutil
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from hourhand import __version__

if TYPE_CHECKING:
    from hourhand.settings import Settings

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5a6675; --paper: #fbfaf7; --box: #f0eee8; --hand: #b4481e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e6e1; --dim: #a3abb6; --paper: #14181e; --box: #1f252d; --hand: #f0936a; }
}
body { margin: 0 auto; max-width: 44rem; padding: 2rem 1.25rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, sans-serif; }
h1 { margin: 0; font-size: 2rem; letter-spacing: -.02em; }
h1 small { font-size: .9rem; font-weight: 400; color: var(--dim); letter-spacing: 0; }
h2 { font-size: 1rem; margin: 2rem 0 .25rem; color: var(--hand); }
p { margin: .5rem 0; }
pre { margin: .5rem 0; padding: .75rem 1rem; background: var(--box); border-radius: .4rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: .875rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-cache",
}
TRY_PREVIEW = ' schedule preview "0 9 * * MON-FRI" --timezone Europe/Berlin'


def program() -> str:
    """What to type for this program: its bare name if the shell would find it, else where it is."""
    beside = Path(sys.executable).with_name("hourhand")
    return "hourhand" if shutil.which("hourhand") or not beside.exists() else shlex.quote(str(beside))


SIGN_IN = """<h2>Signing in</h2>
<p>There is no web interface to sign in to yet. The token of this link is for the API: see below.</p>
"""


def welcome(settings: Settings, address: str, *, signing_in: bool = False) -> HTMLResponse:
    """Draw the page; it names the token's file, never the token."""
    file = shlex.quote(str(settings.admin_token_file))
    over_rest = (
        f"curl {address}/api/v1/schedules/preview \\\n"
        f'  -H "Authorization: Bearer $(cat {file})" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        """  -d '{"schedule": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"}'"""
    )
    return HTMLResponse(
        f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hourhand</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>Hourhand <small>{escape(__version__)}</small></h1>
<p>Decides when work is due, and gets it done on the right machine.</p>
{SIGN_IN if signing_in else ""}<h2>Is it up?</h2>
<pre><code>curl {escape(address)}/healthz</code></pre>
<h2>What does a schedule mean?</h2>
<pre><code>{escape(program() + TRY_PREVIEW)}</code></pre>
<h2>The same over REST</h2>
<pre><code>{escape(over_rest)}</code></pre>
<h2>The token</h2>
<p>Everything under <code>/api/v1</code> needs it. It is in this file, which only its owner can read:</p>
<pre><code>{escape(str(settings.admin_token_file))}</code></pre>
</main>
</body>
</html>
""",
        headers=HEADERS,
    )
