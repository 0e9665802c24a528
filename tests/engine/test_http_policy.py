"""The connections of http tasks: to the address that was checked, with the name for everything above it."""

from __future__ import annotations

import asyncio
import logging
import ssl
import subprocess
from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest

from engine.http_serving import Server, answer, resolving, run
from hourhand.model.words import OutcomeKind
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        started.on("/", answer("200 OK", b"here"))
        yield started


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "[::]"])  # noqa: S104
async def test_loopback_is_refused_to_a_process_that_does_not_listen_there(server: Server, host: str) -> None:
    outcome, _ = await run({"url": server.url("/", host)}, loopback=False)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert outcome.error_message is not None
    assert outcome.error_message.startswith(f"GET {server.url('/', host)} is refused: ")
    assert outcome.error_message.endswith("is not a global address and not in HOURHAND_HTTP_ALLOW")
    assert not server.connections


async def test_an_allowed_network_can_be_reached(server: Server) -> None:
    settings = Settings(http_allow=(ip_network("127.0.0.1/32"),))
    outcome, _ = await run({"url": server.url("/")}, settings=settings, loopback=False)
    assert outcome.kind is OutcomeKind.SUCCESS


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "0177.1"])
async def test_other_forms_of_an_address_do_not_get_by(server: Server, host: str) -> None:
    for loopback in (True, False):
        outcome, _ = await run({"url": server.url("/", host)}, loopback=loopback)
        assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert not server.connections


async def test_a_mapped_loopback_address_is_loopback(server: Server) -> None:
    outcome, _ = await run({"url": server.url("/", "[::ffff:127.0.0.1]")})
    assert outcome.kind is OutcomeKind.SUCCESS
    assert server.asked[0].headers["host"] == f"[::ffff:127.0.0.1]:{server.port}"


async def test_a_name_is_resolved_once_and_keeps_its_place_in_the_host_header(server: Server) -> None:
    # Rebinding: the second question would be answered by an address that is not allowed, or not at all.
    resolve = resolving(rebinding_example=["127.0.0.1"])
    outcome, _ = await run({"url": server.url("/", "rebinding.example")}, resolve=resolve)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert server.asked[0].headers["host"] == f"rebinding.example:{server.port}"


async def test_a_name_is_checked_again_at_each_redirect(server: Server) -> None:
    server.on("/start", answer("302 Found", Location="/secret"))
    resolve = resolving(rebinding_example=["127.0.0.1", "10.0.0.1"])
    outcome, _ = await run({"url": server.url("/start", "rebinding.example")}, resolve=resolve)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert outcome.error_message is not None
    assert "rebinding.example is 10.0.0.1, which is not a global address" in outcome.error_message


async def test_of_several_addresses_the_next_allowed_one_is_tried(server: Server) -> None:
    # 10.0.0.1 must not be tried at all; nobody listens at 127.0.0.3.
    resolve = resolving(several_example="10.0.0.1,127.0.0.3,127.0.0.1")
    outcome, _ = await run({"url": server.url("/", "several.example")}, resolve=resolve)
    assert outcome.kind is OutcomeKind.SUCCESS


async def test_when_no_address_answers_the_last_reason_is_told(server: Server) -> None:
    resolve = resolving(dead_example="127.0.0.3,127.0.0.4")
    outcome, _ = await run({"url": server.url("/", "dead.example")}, resolve=resolve)
    assert outcome.retryable
    assert outcome.error_message == f"GET {server.url('/', 'dead.example')}: could not connect: Connection refused"


async def test_no_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Server() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        monkeypatch.delenv("no_proxy", raising=False)
        outcome, _ = await run({"url": server.url("/")})
        assert outcome.kind is OutcomeKind.SUCCESS
        assert not proxy.connections


async def test_nothing_secret_reaches_the_programs_own_log(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = server.url("/").replace("://", "://me:canary@")
    payload = {"url": f"{url}?token=canary", "headers": {"X-Token": "canary"}, "method": "POST", "body": "canary"}
    await run(payload, callback_url="https://hourhand.example/canary")
    assert server.asked[0].target == "/?token=canary"
    assert "canary" not in caplog.text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate for named.example, signed by itself."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-days", "2", "-subj", "/CN=named.example", "-addext", "subjectAltName=DNS:named.example",
            "-keyout", str(path), "-out", str(path.with_suffix(".crt")),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


@pytest.fixture
async def secured(certificate: Path) -> AsyncIterator[tuple[Server, list[str | None]]]:
    """Start a TLS server; the names it was asked for in the handshake are in the list."""
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    async with Server(tls=context) as started:
        started.on("/", answer("200 OK", b"sealed"))
        yield started, names


async def test_tls_speaks_to_the_name_though_the_address_was_chosen_before(
    secured: tuple[Server, list[str | None]], certificate: Path
) -> None:
    server, names = secured
    trusted = ssl.create_default_context(cafile=str(certificate))
    resolve = resolving(named_example="127.0.0.1")
    outcome, _ = await run({"url": server.url("/", "named.example")}, resolve=resolve, tls=trusted)
    assert outcome.kind is OutcomeKind.SUCCESS, outcome.error_message
    assert names == ["named.example"]
    assert server.asked[0].headers["host"] == f"named.example:{server.port}"


async def test_a_certificate_for_another_name_is_not_trusted(
    secured: tuple[Server, list[str | None]], certificate: Path
) -> None:
    server, _ = secured
    trusted = ssl.create_default_context(cafile=str(certificate))
    resolve = resolving(other_example="127.0.0.1")
    outcome, _ = await run({"url": server.url("/", "other.example")}, resolve=resolve, tls=trusted)
    assert outcome.retryable
    assert outcome.error_message is not None
    assert "could not connect: its certificate is not trusted: Hostname mismatch" in outcome.error_message
    assert not server.asked


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(secured: tuple[Server, list[str | None]]) -> None:
    server, _ = secured
    resolve = resolving(named_example="127.0.0.1")
    outcome, _ = await run({"url": server.url("/", "named.example")}, resolve=resolve)
    assert outcome.error_message is not None
    assert "could not connect: its certificate is not trusted: self-signed certificate" in outcome.error_message
    assert not server.asked


async def test_tls_to_a_server_without_it_fails_in_words() -> None:
    async def say_something_else(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer("400 Bad Request"))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(say_something_else, "127.0.0.1", 0) as plain:
        port = plain.sockets[0].getsockname()[1]
        outcome, _ = await run({"url": f"https://127.0.0.1:{port}/"})
    assert outcome.retryable
    assert outcome.error_message is not None
    assert "could not connect: " in outcome.error_message


async def test_from_tls_to_plain_http_credentials_stay_behind(
    secured: tuple[Server, list[str | None]], certificate: Path, server: Server
) -> None:
    sealed, _ = secured
    sealed.on("/start", answer("302 Found", Location=server.url("/", "named.example")))
    payload = {"url": sealed.url("/start", "named.example"), "headers": {"Authorization": "Bearer canary"}}
    trusted = ssl.create_default_context(cafile=str(certificate))
    outcome, _ = await run(payload, resolve=resolving(named_example="127.0.0.1"), tls=trusted)
    assert outcome.kind is OutcomeKind.SUCCESS, outcome.error_message
    assert "authorization" not in server.asked[0].headers
