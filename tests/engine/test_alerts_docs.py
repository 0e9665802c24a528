"""What the page on alerts says is so: its programs run, its conditions and targets are taken."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hourhand.notifiers.apprise import AppriseNotifier
from hourhand.notifiers.webhook import WebhookNotifier
from hourhand.rules.alert_definition import CONDITIONS, alert_from
from hourhand.service.addresses import AddressPolicy, Resolver
from hourhand.settings import Settings
from sinks import http_sink

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/alerts.md").read_text("utf-8")
WRITTEN = [json.loads(one) for one in re.findall(r"\| `(\{\"kind\".*?\})` \|", PAGE)]
TARGETS = re.findall(r"`((?:mailto|slack|dingtalk|feishu|wecombot)://[^`]+)`", PAGE)


async def test_the_program_that_verifies_a_signature_does() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - it is our own page
    notifier = WebhookNotifier(AddressPolicy.of(Settings(), Resolver(), loopback=True))
    with http_sink() as sink:
        await notifier.send({"webhook": f"http://127.0.0.1:{sink.port}/", "secret": "s"}, {"notice": "1", "text": ""})
    (got,) = sink.arrived
    headers = {name: got["headers"][name.lower()] for name in ("X-Hourhand-Timestamp", "X-Hourhand-Signature")}
    assert names["is_ours"]("s", headers, got["body"])
    assert not names["is_ours"]("t", headers, got["body"])
    assert not names["is_ours"]("s", headers, got["body"] + b" ")
    assert not names["is_ours"]("s", headers | {"X-Hourhand-Timestamp": "1"}, got["body"])


def test_every_condition_is_described_and_every_description_is_taken() -> None:
    assert {one["kind"] for one in WRITTEN} == CONDITIONS.keys()
    for condition in WRITTEN:
        alert_from({"name": "a", "condition": condition})


def test_the_example_is_taken() -> None:
    example = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    example.pop("targets")
    alert_from(example)


@pytest.mark.parametrize("target", TARGETS)
async def test_every_target_of_the_page_is_taken(target: str) -> None:
    notifier = AppriseNotifier(AddressPolicy.of(Settings(), Resolver()))
    given = re.sub(
        "Token[ABC]",
        lambda one: {"A": "T1JJ3T3L2", "B": "A1BRTD4JD", "C": "TIiajkdnlazkcOXrIdevi7FQ"}[one[0][-1]],
        target,
    )
    given = given.replace("AccessToken", "abcdefgh0123456789").replace("Secret", "SEC0123456789")
    given = given.replace("BotKey", "a1b2c3d4-e5f6")
    assert notifier.check(given)
    await notifier.close()


def test_there_are_targets() -> None:
    assert len(TARGETS) >= 7
