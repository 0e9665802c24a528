"""The pages where the web UI was not built: `/` says so, and what to try, and `/sign-in`; both are self-contained."""

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
from hourhand.settings import is_loopback

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
FORM_STYLE = """
label { display: block; margin: .75rem 0 .25rem; color: var(--dim); }
input { display: block; box-sizing: border-box; width: 100%; max-width: 22rem; padding: .5rem .7rem;
  border: 1px solid var(--dim); border-radius: .4rem; background: var(--box); color: var(--ink); font: inherit; }
button { margin: 1.25rem 0 0; padding: .5rem 1.1rem; border: 0; border-radius: .4rem; background: var(--hand);
  color: var(--paper); font: inherit; font-weight: 600; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
input:focus-visible, button:focus-visible { outline: 2px solid var(--hand); outline-offset: 2px; }
#told { min-height: 1.6em; margin-top: 1rem; }
"""
# Whatever comes from outside is put into the page as text, never as markup.
SCRIPT = """
"use strict";
const SESSIONS = "/api/v1/sessions";
const part = (id) => document.getElementById(id);
let csrf = "";

function show(told, { form = false, out = false } = {}) {
  part("told").textContent = told;
  part("form").hidden = !form;
  part("out").hidden = !out;
  document.querySelectorAll("button").forEach((button) => { button.disabled = false; });
  if (form) part(part("name").value ? "password" : "name").focus();
}

async function ask(method, path, body) {
  document.querySelectorAll("button").forEach((button) => { button.disabled = true; });
  const headers = { "X-CSRF-Token": csrf };
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), credentials: "same-origin" });
  return { status: answer.status, said: answer.status === 204 ? {} : await answer.json() };
}

function welcome(who) {
  csrf = who.csrf_token || "";
  const groups = who.groups ? `, limited to ${who.groups.join(", ")}` : "";
  show(`You are signed in as ${who.name} (${who.role}${groups}).`, { out: true });
}

async function signIn(given) {
  try {
    const { status, said } = await ask("POST", SESSIONS, given);
    if (status === 201) welcome(said);
    else show(`That did not work: ${said.detail}.`, { form: true });
  } catch { show("The server cannot be reached right now: try again.", { form: true }); }
}

async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname); // it must not stay in the address or the history
    await signIn({ token });
    return;
  }
  try {
    const { status, said } = await ask("GET", `${SESSIONS}/current`);
    if (status === 200) welcome(said);
    else show("", { form: true });
  } catch { show("The server cannot be reached right now: try again.", { form: true }); }
}

part("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = { name: part("name").value.trim(), password: part("password").value };
  part("password").value = "";
  signIn(given);
});
part("out").addEventListener("click", async () => {
  try {
    const { status, said } = await ask("DELETE", `${SESSIONS}/current`);
    if (status === 204 || status === 401) show("You are signed out.", { form: true });
    else show(`That did not work: ${said.detail}.`, { out: true });
  } catch { show("The server cannot be reached right now: try again.", { out: true }); }
});
window.addEventListener("hashchange", begin);
begin();
"""


def _hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _headers(style: str, *more: str) -> dict[str, str]:
    """Forbid everything but what the page is made of."""
    allowed = [
        "default-src 'none'",
        f"style-src {_hash_of(style)}",
        "img-src data:",
        *more,
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return {"Content-Security-Policy": "; ".join(allowed), "Cache-Control": "no-cache"}


HEADERS = _headers(STYLE)
SIGN_IN_HEADERS = _headers(STYLE + FORM_STYLE, f"script-src {_hash_of(SCRIPT)}", "connect-src 'self'")
TRY_PREVIEW = ' schedule preview "0 9 * * MON-FRI" --timezone Europe/Berlin'


def program() -> str:
    """What to type for this program: its bare name if the shell would find it, else where it is."""
    beside = Path(sys.executable).with_name("hourhand")
    return "hourhand" if shutil.which("hourhand") or not beside.exists() else shlex.quote(str(beside))


def sign_in() -> HTMLResponse:
    """Draw the page that trades the token of its address, or a name and a password, for a session."""
    return HTMLResponse(
        f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hourhand: sign in</title>
<link rel="icon" href="data:,">
<style>{STYLE + FORM_STYLE}</style>
</head>
<body>
<main>
<h1>Hourhand <small>{escape(__version__)}</small></h1>
<noscript>
<p>Signing in needs JavaScript. The API needs none: send <code>Authorization: Bearer TOKEN</code>.</p>
</noscript>
<p id="told" role="status" aria-live="polite"></p>
<form id="form" hidden>
<label for="name">Name</label>
<input id="name" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="200" required>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="current-password" maxlength="1000" required>
<button>Sign in</button>
<p>No user yet? Open the link that the server printed at its first start, or make one:
<code>hourhand user add NAME</code></p>
</form>
<button id="out" type="button" hidden>Sign out</button>
<p><a href="/docs">REST, to read and try out</a></p>
</main>
<script>{SCRIPT}</script>
</body>
</html>
""",
        headers=SIGN_IN_HEADERS,
    )


def welcome(settings: Settings, address: str, reason: str | None = None) -> HTMLResponse:
    """Draw the page; it names the token's file, to whoever is on this machine, and never the token.

    `reason` is why the web UI was not built. It may name files and hosts too, so that it is for this machine as well.
    """
    here = is_loopback(settings.host)
    because = f"\n<pre><code>{escape(reason)}</code></pre>" if reason and here else ""
    token = f"$(cat {shlex.quote(str(settings.admin_token_file))})" if here else "$TOKEN"
    where = (
        f"""It is in this file, which only its owner can read:</p>
<pre><code>{escape(str(settings.admin_token_file))}</code></pre>"""
        if here
        else "Whoever runs this server can make you one, or a user to <a href='/sign-in'>sign in</a> with.</p>"
    )
    over_rest = (
        f"curl {address}/api/v1/schedules/preview \\\n"
        f'  -H "Authorization: Bearer {token}" \\\n'
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
<h2>The web UI was not built</h2>
<p>So this page is all there is of it; the command line and REST are complete. In a checkout, <code>make ui</code>
builds it. Elsewhere, install Hourhand again with <code>HOURHAND_UI=always</code>: then it is built, or pip says why it
cannot be.</p>{because}
<h2>Is it up?</h2>
<pre><code>curl {escape(address)}/healthz</code></pre>
<h2>What does a schedule mean?</h2>
<pre><code>{escape(program() + TRY_PREVIEW)}</code></pre>
<h2>The same over REST</h2>
<pre><code>{escape(over_rest)}</code></pre>
<h2>The token</h2>
<p>Everything under <code>/api/v1</code> needs one. {where}
<p><a href="/sign-in">Sign in</a> · <a href="/docs">REST, to read and try out</a></p>
</main>
</body>
</html>
""",
        headers=HEADERS,
    )
