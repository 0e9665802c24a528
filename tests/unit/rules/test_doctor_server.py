"""What doctor makes of a server that answers or does not, of tokens, and of clocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hourhand.model.checkup import ReadyCheck
from hourhand.model.diagnosis import Examined, Level
from hourhand.rules import doctor_server
from unit.rules.checkups import (
    AT,
    FILE,
    ON_POSTGRESQL,
    ON_SQLITE,
    PROCESS,
    SERVER,
    executor,
    found,
    one,
    sight,
    told,
)

AWAY = replace(SERVER, error="connection refused", version=None)


def test_a_newcomer_is_told_how_to_begin() -> None:
    said = one(doctor_server.reachable, sight(server=AWAY, store=ON_SQLITE))
    assert said.level is Level.WARNING
    assert said.summary == "nothing here yet: `hourhand serve` starts one"
    assert said.remedy == "hourhand serve"


def test_a_server_that_does_not_run_beside_its_store_is_a_problem() -> None:
    said = one(doctor_server.reachable, sight(server=AWAY, store=replace(ON_SQLITE, file=FILE)))
    assert (said.level, said.remedy) == (Level.PROBLEM, "hourhand serve")


def test_an_owner_that_does_not_answer_is_a_problem() -> None:
    store = replace(ON_SQLITE, file=FILE, owner="http://127.0.0.1:1 (pid 7)")
    said = one(doctor_server.reachable, sight(server=AWAY, store=store))
    assert said.level is Level.PROBLEM
    assert "pid 7" in said.summary


def test_a_cluster_may_be_looked_at_without_a_server() -> None:
    said = one(doctor_server.reachable, sight(server=AWAY, store=ON_POSTGRESQL))
    assert said.level is Level.WARNING
    named = one(doctor_server.reachable, sight(server=replace(AWAY, named=True), store=ON_POSTGRESQL))
    assert named.level is Level.PROBLEM
    assert "HOURHAND_URL" in named.remedy


def test_a_server_that_answers() -> None:
    assert one(doctor_server.reachable, sight(server=SERVER)).level is Level.OK
    assert found(doctor_server.reachable, sight()) == []


def test_releases() -> None:
    assert one(doctor_server.versions, sight(server=SERVER)).level is Level.OK
    older = one(doctor_server.versions, sight(server=replace(SERVER, version="0.9")))
    assert (older.level, older.remedy) == (Level.WARNING, "pip install hourhand==0.9")
    mixed = told(store=Examined(looked_at=AT, executors=(executor(), executor("e2", version="0.8"))))
    assert [one.check for one in found(doctor_server.versions, mixed)] == ["server.version", "executors.version"]
    assert found(doctor_server.versions, sight()) == []


def test_tokens() -> None:
    assert found(doctor_server.token, sight()) == []
    assert found(doctor_server.token, sight(server=AWAY)) == []
    refused = one(doctor_server.token, sight(server=replace(SERVER, token_error="it refuses the token")))  # noqa: S106
    assert (refused.level, refused.summary) == (Level.PROBLEM, "it refuses the token")
    limited = replace(SERVER, role="viewer", limited=True, diagnosis_error="this needs the role operator")
    known, untold = found(doctor_server.token, sight(server=limited))
    assert known.summary == "the token is 'admin', with the role viewer, limited to groups"
    assert untold.level is Level.WARNING
    assert one(doctor_server.token, sight(server=SERVER)).level is Level.OK


def test_what_readyz_says_is_put_into_words() -> None:
    checks = (
        ReadyCheck(name="store", ok=True, detail="the store answers"),
        ReadyCheck(name="scheduler", ok=False, detail="no scheduler has ever been seen"),
        ReadyCheck(name="of tomorrow", ok=False, detail="who knows"),
    )
    fine, wrong, strange = found(doctor_server.ready, sight(server=replace(SERVER, ready=checks)))
    assert fine.level is Level.OK
    assert (wrong.level, wrong.remedy) == (Level.PROBLEM, "hourhand scheduler")
    assert "No task fires" in wrong.detail
    assert (strange.level, strange.detail) == (Level.PROBLEM, "")
    assert found(doctor_server.ready, sight()) == []


@pytest.mark.parametrize(
    ("changes", "levels"),
    [
        ({}, ["ok"]),
        ({"loopback": False, "proxies": True}, ["ok"]),
        ({"loopback": False}, ["warning"]),
        ({"root": True}, ["ok", "warning"]),
    ],
)
def test_exposure(changes: dict[str, bool], levels: list[str]) -> None:
    process = replace(PROCESS, **changes)  # type: ignore[arg-type]
    assert [one.level for one in found(doctor_server.exposure, told(process))] == levels
    assert found(doctor_server.exposure, sight()) == []


@pytest.mark.parametrize(
    ("seconds", "level", "words"),
    [
        (0.2, "ok", "agree"),
        (-0.9, "ok", "agree"),
        (2.0, "warning", "2.0 s ahead of"),
        (-4.0, "warning", "4.0 s behind"),
        (30, "problem", "30 s ahead"),
    ],
)
def test_clocks(seconds: float, level: str, words: str) -> None:
    server = one(doctor_server.clocks, sight(server=replace(SERVER, skew_seconds=seconds)))
    store = one(doctor_server.clocks, sight(store=replace(ON_POSTGRESQL, skew_seconds=seconds)))
    for said in (server, store):
        assert said.level == level
        assert words in said.summary
    if level != "ok":
        assert "decided by the store's clock" in server.detail
        assert "fire early or late" in store.detail


def test_a_sqlite_store_has_the_clock_of_its_machine() -> None:
    assert found(doctor_server.clocks, sight(server=SERVER, store=replace(ON_SQLITE, skew_seconds=9.0))) == []
