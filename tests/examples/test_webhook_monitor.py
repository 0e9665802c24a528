from __future__ import annotations

from pathlib import Path

from api.cli import Terminal
from examples.started import ended, run, started, wait_for
from postgres import free_port
from serving import Served


def test_a_site_that_stays_down_is_told_of_and_so_is_its_return(example: Path) -> None:
    port = free_port()
    alerts = example / "alerts.txt"
    receiver = started(example, "receiver.py", "--port", str(port), until="Ctrl-C stops it")
    with receiver, Served(example) as served, served.client() as client:
        hourhand = Terminal(served)
        site = f"http://127.0.0.1:{port}"
        hourhand.done("task", "add", "shop", "--url", f"{site}/health", "--retries", "2", "--retry-delay", "0")
        hourhand.done("alert", "add", "shop-is-down", "-f", "alert.json", "--webhook", f"{site}/alerts")
        assert ended(client, run(client, "shop"))["status"] == "success"
        (example / "broken").touch()
        failed = ended(client, run(client, "shop"))
        assert (failed["status"], failed["retry_count"]) == ("failed", 2)
        assert "503" in failed["error_message"]
        wait_for(lambda: alerts.exists() and alerts.read_text(), what="the alert")
        (example / "broken").unlink()
        assert ended(client, run(client, "shop"))["status"] == "success"
        wait_for(lambda: "recovered: shop-is-down" in alerts.read_text(), what="the all-clear")
    first, *_, last = alerts.read_text().splitlines()
    assert first.startswith("firing: shop-is-down: task 'shop' failed")
    assert last.startswith("recovered: shop-is-down")
