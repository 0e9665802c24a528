"""Notifiers bring a notice to real servers, say why they could not, and never say a secret."""

from __future__ import annotations

import base64
import logging
import socket
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.contracts.notifier import Notifier, NotSent
from hourhand.notifiers.apprise import AppriseNotifier
from hourhand.notifiers.webhook import WebhookNotifier
from hourhand.rules.signature import webhook_signature
from hourhand.service.addresses import AddressPolicy, Resolver
from hourhand.settings import Settings
from postgres import free_port
from sinks import http_sink, smtp_sink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CANARY = "canary7f3a"
EVENT: dict[str, Any] = {
    "notice": "3-17",
    "kind": "firing",
    "rule": {"id": 3, "name": "books"},
    "title": "books: task 'close' failed ✗",
    "text": "task 'close' failed: 完",
    "items": [],
    "more": 0,
}


@pytest.fixture
async def notifiers() -> AsyncIterator[dict[str, Any]]:
    """Return those of a process that may reach loopback, and of one that may not, which have a short patience."""
    resolver = Resolver()
    open_policy = AddressPolicy.of(Settings(), resolver, loopback=True)
    strict = AddressPolicy.of(Settings(), resolver)
    made: dict[str, Any] = {
        "webhook": WebhookNotifier(open_policy, seconds=5),
        "apprise": AppriseNotifier(open_policy, seconds=20),
        "strict webhook": WebhookNotifier(strict, seconds=5),
        "strict apprise": AppriseNotifier(strict, seconds=5),
        "hasty webhook": WebhookNotifier(open_policy, seconds=0.3),
        "hasty apprise": AppriseNotifier(open_policy, seconds=0.3),
    }
    yield made
    for one in made.values():
        await one.close()
    resolver.close()


def test_each_keeps_the_contract() -> None:
    for kind in (AppriseNotifier, WebhookNotifier):
        kept: type[Notifier] = kind
        assert kept.kind


async def refused(notifier: Notifier, target: Any) -> str:
    with pytest.raises(NotSent) as caught:
        await notifier.send(target, EVENT)
    return str(caught.value)


# The webhook


async def test_a_webhook_gets_the_notice_signed(notifiers: dict[str, Any]) -> None:
    with http_sink() as sink:
        url = f"http://eve:p%40ss@127.0.0.1:{sink.port}/alerts?team=7"
        await notifiers["webhook"].send({"webhook": url, "secret": CANARY}, EVENT)
    (got,) = sink.arrived
    assert got["json"] == EVENT
    assert got["path"] == "/alerts?team=7"
    headers = got["headers"]
    assert headers["x-hourhand-notice"] == "3-17"
    assert headers["host"] == f"127.0.0.1:{sink.port}"
    expected = webhook_signature(CANARY, headers["x-hourhand-timestamp"], got["body"])
    assert headers["x-hourhand-signature"] == expected
    assert base64.b64decode(headers["authorization"].removeprefix("Basic ")) == b"eve:p@ss"


async def test_a_webhook_without_a_secret_is_not_signed(notifiers: dict[str, Any]) -> None:
    with http_sink() as sink:
        await notifiers["webhook"].send({"webhook": f"http://127.0.0.1:{sink.port}"}, EVENT)
    (got,) = sink.arrived
    assert got["path"] == "/"
    assert "x-hourhand-signature" not in got["headers"]


async def test_only_2xx_is_success(notifiers: dict[str, Any]) -> None:
    for status in (302, 404, 500):
        with http_sink(status=status) as sink:
            told = await refused(notifiers["webhook"], {"webhook": f"http://127.0.0.1:{sink.port}/x?k={CANARY}"})
        assert f"answered {status}, expected" in told
        assert CANARY not in told
        assert len(sink.arrived) == 1


async def test_a_webhook_that_is_not_there_or_says_nothing_is_told(notifiers: dict[str, Any]) -> None:
    url = f"http://127.0.0.1:{free_port()}/"
    assert await refused(notifiers["webhook"], {"webhook": url}) == f"{url} could not be reached: Connection refused"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert await refused(notifiers["hasty webhook"], {"webhook": url}) == f"{url} did not answer within 0.3 s"


async def test_a_webhook_obeys_the_policy_of_addresses(notifiers: dict[str, Any]) -> None:
    with http_sink() as sink:
        for host in ("127.0.0.1", "localhost"):
            told = await refused(notifiers["strict webhook"], {"webhook": f"http://{host}:{sink.port}/"})
            assert "is refused" in told
            assert "HOURHAND_HTTP_ALLOW" in told
    assert sink.arrived == []


@pytest.mark.parametrize(
    "target",
    [
        {"webhook": "ftp://example.com"},
        {"webhook": "https://"},
        {"webhook": "https://exa mple.com"},
        {"webhook": "https://example.com:0/"},
        {"webhook": "https://example.com:x/"},
        {"webhook": "https://例.com/"},
        {"webhook": 7},
        {"webhook": "https://example.com", "secret": ""},
        {"webhook": "https://example.com", "secret": 7},
        {"webhook": "https://example.com", "sekret": "x"},
    ],
    ids=str,
)
def test_a_wrong_webhook_is_refused(target: Any) -> None:
    notifier = WebhookNotifier(AddressPolicy((), resolve=Resolver()))
    with pytest.raises(ValueError, match=r"give one such as|its secret is|is not a key"):
        notifier.check(target)


def test_a_webhook_is_shown_without_its_secrets() -> None:
    notifier = WebhookNotifier(AddressPolicy((), resolve=Resolver()))
    target = {"webhook": f"https://eve:{CANARY}@example.com:8443/a?k={CANARY}#{CANARY}", "secret": CANARY}
    assert notifier.check(target) == "https://example.com:8443/a"


# Apprise


async def test_mail_arrives(notifiers: dict[str, Any]) -> None:
    with smtp_sink(free_port()) as sink:
        url = f"mailto://127.0.0.1:{sink.port}?from=hourhand@example.com&to=ops@example.com&mode=insecure"
        await notifiers["apprise"].send(url, EVENT)
    (got,) = sink.arrived
    assert got["to"] == ["ops@example.com"]
    assert "task 'close' failed ✗" in got["text"]
    assert "完" in got["text"]
    assert "[3-17]" in got["text"]


async def test_apprise_json_arrives_and_a_failure_says_why_without_secrets(
    notifiers: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "apprise")
    with http_sink() as sink:
        await notifiers["apprise"].send(f"json://eve:{CANARY}@127.0.0.1:{sink.port}/{CANARY}?+X-K={CANARY}", EVENT)
    assert sink.arrived[0]["headers"]["x-k"] == CANARY
    with http_sink(status=500) as sink:
        told = await refused(notifiers["apprise"], f"json://eve:{CANARY}@127.0.0.1:{sink.port}/{CANARY}")
    assert "error=500" in told
    gone = await refused(notifiers["apprise"], f"json://eve:{CANARY}@127.0.0.1:{free_port()}/{CANARY}")
    assert "did not take it" in gone
    assert CANARY not in told + gone + caplog.text


async def test_apprise_follows_no_redirect_and_obeys_the_policy_where_it_calls_any_address(
    notifiers: dict[str, Any],
) -> None:
    with http_sink() as sink:
        told = await refused(notifiers["strict apprise"], f"json://127.0.0.1:{sink.port}/")
        assert "HOURHAND_HTTP_ALLOW" in told
        assert "could not be found" in await refused(notifiers["strict apprise"], "json://nowhere.invalid/")
    assert sink.arrived == []


async def test_apprise_that_hangs_is_left(notifiers: dict[str, Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"json://127.0.0.1:{silent.getsockname()[1]}/?rto=2&cto=2"
        assert "did not take it within 0.3 s" in await refused(notifiers["hasty apprise"], url)


@pytest.mark.parametrize("target", ["", "nonsense", "https://example.com", "syslog://", "slack://", "gnome://"])
async def test_a_url_that_apprise_does_not_know_or_that_reaches_nobody_is_refused(
    notifiers: dict[str, Any], target: str
) -> None:
    with pytest.raises(ValueError, match=r"is no URL that Apprise knows|speaks to the machine itself"):
        notifiers["apprise"].check(target)
    assert await refused(notifiers["apprise"], target)


TOKEN = "A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"  # noqa: S105 - Apprise's own example
SHOWN = [
    (f"json://eve:{CANARY}@example.com/{CANARY}?+X-K={CANARY}", "json://example.com"),
    (f"mailto://eve:{CANARY}@example.com", "mailto://eve:****@example.com"),
    (f"slack://T1JJ3T3L2/{TOKEN}/#alerts", "slack://"),
    (f"dingtalk://{CANARY}{CANARY}@{'a' * 30}/", "dingtalk://"),
    (f"feishu://{CANARY}1234567890", "feishu://"),
    (f"wecombot://{CANARY}-1234", "wecombot://"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "begins"), SHOWN, ids=[begins for _, begins in SHOWN])
async def test_a_target_is_shown_without_its_secrets(notifiers: dict[str, Any], target: str, begins: str) -> None:
    shown = notifiers["apprise"].check(target)
    assert shown.startswith(begins)
    assert CANARY not in shown
    assert "TIiajkdnlazkcOXrIdevi7FQ" not in shown
