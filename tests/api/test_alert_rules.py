"""`/api/v1/alert-rules` and `/api/v1/alerts`: secrets go in and never come out."""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem, refused
from api.in_process import serving
from contracts.alerting import fail
from hourhand.settings import Settings
from postgres import free_port
from sinks import http_sink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from contracts.world import World
    from hourhand.store import Store

RULES = f"{API}/alert-rules"
CANARY = "canary7f3a"
WEBHOOK = {"webhook": f"https://eve:{CANARY}@example.com/alerts?k={CANARY}", "secret": CANARY}
TARGETS: list[Any] = [f"mailto://eve:{CANARY}@example.com", f"json://x:{CANARY}@example.com/{CANARY}", WEBHOOK]
RULE = {"name": "books", "condition": {"kind": "failed"}, "targets": TARGETS}


@pytest.fixture
def settings(store_url: str, tmp_path: Path) -> Settings:
    key = {} if store_url.startswith("sqlite") else {"secret_key": base64.b64encode(b"k" * 32).decode()}
    return Settings(store=store_url, data_dir=tmp_path / "data", **key)  # type: ignore[arg-type]


@pytest.fixture
async def alerting(store: Store, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a fresh store of each kind, with a key for its secrets."""
    async with serving(store, settings) as client:
        yield client


async def test_a_rule_is_made_read_changed_and_deleted(alerting: httpx.AsyncClient, world: World) -> None:
    await world.task("close")
    made = ok(await alerting.post(RULES, json=RULE | {"scope": {"task": "close"}}), 201)
    assert made["condition"] == {"kind": "failed"}
    assert made["scope"] == {"task": "close"}
    assert [one["kind"] for one in made["targets"]] == ["apprise", "apprise", "webhook"]
    assert made["targets"][2]["target"] == "https://example.com/alerts"
    where = f"{RULES}/{made['id']}"
    assert ok(await alerting.get(where)) == made
    assert ok(await alerting.get(RULES)) == {"items": [made], "next_cursor": None}
    edited = ok(await alerting.patch(where, json={"enabled": False, "repeat_seconds": 60}))
    assert edited == made | {"enabled": False, "repeat_seconds": 60, "updated_at": edited["updated_at"]}
    assert (await alerting.delete(where)).status_code == 204
    problem(await alerting.get(where), 404)
    problem(await alerting.patch(where, json={"enabled": True}), 404)
    problem(await alerting.post(f"{where}/test"), 404)


async def test_targets_are_kept_by_their_ids_and_replaced_otherwise(alerting: httpx.AsyncClient) -> None:
    made = ok(await alerting.post(RULES, json=RULE), 201)
    kept = made["targets"][1]
    where = f"{RULES}/{made['id']}"
    edited = ok(
        await alerting.patch(where, json={"targets": [{"webhook": "https://b.example.com"}, {"id": kept["id"]}]})
    )
    assert [one["target"] for one in edited["targets"]] == ["https://b.example.com", kept["target"]]
    assert edited["targets"][1] == kept
    gone = made["targets"][0]["id"]
    assert "no target of this id" in refused(await alerting.patch(where, json={"targets": [{"id": gone}]}))["targets.0"]
    assert "no id" in refused(await alerting.patch(where, json={"targets": [{"id": 5}]}))["targets.0"]
    twice = [{"id": kept["id"]}] * 2
    assert "named twice" in refused(await alerting.patch(where, json={"targets": twice}))["targets"]


async def test_a_rule_may_have_no_target_and_not_too_many(alerting: httpx.AsyncClient) -> None:
    made = ok(await alerting.post(RULES, json={"name": "silent", "condition": {"kind": "failed"}}), 201)
    assert made["targets"] == []
    assert "at most 20" in refused(await alerting.post(RULES, json=RULE | {"targets": [WEBHOOK] * 21}))["targets"]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("nonsense", "is no URL that Apprise knows"),
        ("syslog://", "speaks to the machine itself"),
        (f"https://example.com/{CANARY}", "is no URL that Apprise knows"),
        ({"webhook": f"ftp://{CANARY}"}, "its webhook is no address"),
        ({"web": CANARY}, "is no target: give an Apprise URL"),
        (7, "is no target"),
        (f"mailto://{CANARY * 500}@example.com", "is too long"),
    ],
    ids=lambda one: str(one)[:20],
)
async def test_a_wrong_target_is_refused_without_being_repeated(
    alerting: httpx.AsyncClient, target: Any, told: str
) -> None:
    answer = await alerting.post(RULES, json=RULE | {"targets": [WEBHOOK, target]})
    assert told in refused(answer)["targets.1"]
    assert CANARY not in answer.text


async def test_all_that_is_wrong_is_refused_by_field(alerting: httpx.AsyncClient) -> None:
    wrong = {"name": " ", "condition": {"kind": "late"}, "scope": "x", "quiet_hours": {"from": "9"}, "targets": []}
    told = refused(await alerting.post(RULES, json=wrong))
    assert {"name", "condition.seconds", "scope", "quiet_hours.from"} <= told.keys()
    assert refused(await alerting.post(RULES, json=RULE | {"colour": "red"}))
    assert "there is no task" in refused(await alerting.post(RULES, json=RULE | {"scope": {"task": "none"}}))["scope"]
    ok(await alerting.post(RULES, json=RULE), 201)
    problem(await alerting.post(RULES, json=RULE), 409)


async def test_the_same_request_makes_one_rule(alerting: httpx.AsyncClient) -> None:
    for _ in range(2):
        ok(await alerting.post(RULES, json=RULE, headers={"Idempotency-Key": "once"}), 201)
    assert len(ok(await alerting.get(RULES))["items"]) == 1


async def test_a_secret_is_nowhere_but_sealed(
    alerting: httpx.AsyncClient, world: World, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = await alerting.post(RULES, json=RULE)
    where = f"{RULES}/{ok(made, 201)['id']}"
    port = free_port()
    dead = {"webhook": f"http://eve:{CANARY}@127.0.0.1:{port}/?k={CANARY}", "secret": CANARY}
    answers = [
        made,
        await alerting.patch(where, json={"targets": [dead, f"json://eve:{CANARY}@127.0.0.1:{port}/{CANARY}"]}),
        await alerting.post(f"{where}/test"),
        await alerting.get(RULES),
        await alerting.get(f"{API}/alerts"),
        await alerting.delete(where),
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 200, 200, 200, 204]
    assert not [answer.text for answer in answers if CANARY in answer.text]
    assert CANARY not in caplog.text
    for table in ("audit_logs", "alert_rules", "alert_outbox", "store_values", "idempotency_keys"):
        assert CANARY not in str([dict(row) for row in await world.sql(f"SELECT * FROM {table}")])  # noqa: S608
    if settings.on_sqlite:
        file = settings.secret_key_path
        assert file.stat().st_mode & 0o777 == 0o600
        assert len(base64.b64decode(file.read_text())) == 32


async def test_a_test_is_sent_to_each_target_and_answered_for_each(alerting: httpx.AsyncClient) -> None:
    with http_sink() as sink:
        good = {"webhook": f"http://127.0.0.1:{sink.port}/alerts", "secret": "s"}
        bad = {"webhook": f"http://127.0.0.1:{free_port()}/"}
        made = ok(await alerting.post(RULES, json=RULE | {"targets": [good, bad]}), 201)
        first, second = ok(await alerting.post(f"{RULES}/{made['id']}/test"))["targets"]
    assert (first["ok"], first["error"]) == (True, None)
    assert (second["ok"], second["target"]) == (False, bad["webhook"])
    assert "Connection refused" in second["error"]
    (arrived,) = sink.arrived
    assert arrived["json"]["kind"] == "test"


async def test_alerts_tell_what_fires_and_what_was_told(alerting: httpx.AsyncClient, world: World) -> None:
    rule = ok(await alerting.post(RULES, json=RULE | {"targets": [WEBHOOK], "group_seconds": 0}), 201)
    await fail(world, await world.task("close"))
    await world.store.decide_alerts()
    (parcel,) = await world.store.take_notices(limit=5, seconds=60)
    await world.store.notice_failed(parcel.outbox_id, "connection refused")
    answer = ok(await alerting.get(f"{API}/alerts"))
    (firing,) = answer["firing"]
    assert (firing["rule_id"], firing["about"]["task"]) == (rule["id"], "close")
    (notice,) = answer["items"]
    assert (notice["sent_at"], notice["tries"], notice["last_error"]) == (None, 1, "connection refused")
    assert notice["target"] == "https://example.com/alerts"
    await fail(world, await world.task("other"))
    await world.store.decide_alerts()
    page = ok(await alerting.get(f"{API}/alerts?limit=1"))
    assert len(page["items"]) == 1
    rest = ok(await alerting.get(f"{API}/alerts?limit=1&cursor={page['next_cursor']}"))
    assert rest["items"][0]["id"] == notice["id"]


# The key


async def test_without_a_key_postgresql_takes_no_secret(postgresql_url: str, tmp_path: Path) -> None:
    from hourhand.store import open_store  # noqa: PLC0415 - as the fixtures do

    store = await open_store(postgresql_url)
    try:
        settings = Settings(store=postgresql_url, data_dir=tmp_path)
        async with serving(store, settings) as client:
            told = refused(await client.post(RULES, json=RULE))
            assert "HOURHAND_SECRET_KEY" in told
            assert "openssl rand -base64 32" in told["HOURHAND_SECRET_KEY"]
            ok(await client.post(RULES, json={"name": "a", "condition": {"kind": "failed"}}), 201)
            assert not settings.secret_key_path.exists()
    finally:
        await store.close()


async def test_another_key_is_refused_and_the_right_one_from_a_file_is_not(
    store: Store, alerting: httpx.AsyncClient, store_url: str, settings: Settings, tmp_path: Path
) -> None:
    with http_sink() as sink:
        target = {"webhook": f"http://127.0.0.1:{sink.port}/"}
        rule = ok(await alerting.post(RULES, json=RULE | {"targets": [target]}), 201)
        wrong = Settings(store=store_url, data_dir=tmp_path, secret_key=base64.b64encode(b"w" * 32).decode())  # type: ignore[arg-type]
        async with serving(store, wrong) as client:
            told = refused(await client.post(RULES, json=RULE | {"name": "b"}))
            assert "is not the key with which the secrets" in told["HOURHAND_SECRET_KEY"]
            (tested,) = ok(await client.post(f"{RULES}/{rule['id']}/test"))["targets"]
            assert "is not the key" in tested["error"]
        file = tmp_path / "key"
        secret = settings.secret_key
        file.write_text(settings.secret_key_path.read_text() if secret is None else secret.get_secret_value())
        file.chmod(0o600)
        async with serving(store, Settings(store=store_url, data_dir=tmp_path, secret_key_file=file)) as client:
            (tested,) = ok(await client.post(f"{RULES}/{rule['id']}/test"))["targets"]
            assert tested["ok"], tested
        file.chmod(0o604)
        async with serving(store, Settings(store=store_url, data_dir=tmp_path, secret_key_file=file)) as client:
            told = refused(await client.post(RULES, json=RULE | {"name": "b"}))
            assert "chmod 600" in told["HOURHAND_SECRET_KEY_FILE"]
