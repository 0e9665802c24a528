from __future__ import annotations

from pathlib import Path

import httpx

from examples.started import ended, instances, started
from postgres import free_port
from serving import Served
from sinks import smtp_sink


def test_who_signs_up_gets_one_mail_and_who_is_refused_gets_none(example: Path, postgresql_url: str) -> None:
    store = {"HOURHAND_STORE": postgresql_url}
    port, mail = free_port(), free_port()
    web = started(example, "-m", "uvicorn", "--port", str(port), "signup:web", until="Uvicorn running", **store)
    with (
        smtp_sink(mail) as sink,
        Served(example, "mails:app", SMTP=f"127.0.0.1:{mail}", **store) as served,
        web,
        served.client() as client,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as browser,
    ):
        answers = [browser.post("/people", json={"email": "ada@example.com"}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [201, 409, 409]
        assert ended(client, answers[0].json()["mail"])["status"] == "success"
        assert browser.post("/people", json={"email": "bob@example.com"}).status_code == 201
        sink.wait("Welcome!")
        assert [ended(client, one["id"])["status"] for one in instances(client, "send_welcome")] == ["success"] * 2
        assert sorted(to for one in sink.arrived for to in one["to"]) == ["ada@example.com", "bob@example.com"]


def test_without_a_mail_server_mails_are_files(example: Path, postgresql_url: str) -> None:
    store = {"HOURHAND_STORE": postgresql_url}
    with Served(example, "mails:app", **store) as served, served.client() as client:
        (task,) = client.get("/api/v1/tasks", params={"name": "send_welcome"}).json()["items"]
        answer = client.post(f"/api/v1/tasks/{task['id']}/run", json={"args": {"email": "eve@example.com"}})
        assert ended(client, answer.json()["id"])["result"]["value"] == "written to the outbox"
    (written,) = (example / "outbox").iterdir()
    assert "To: eve@example.com" in written.read_text()
