from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

from examples.started import ended, logs, run, wait_for
from serving import Served

SOON = {"HOURHAND_HEARTBEAT_SECONDS": "1", "HOURHAND_LEASE_SECONDS": "3"}


def test_it_goes_on_at_the_page_at_which_it_was_killed(example: Path) -> None:
    with Served(example, "imports:app", **SOON) as served, served.client() as client:
        instance = run(client, "import_customers")
        path = f"/api/v1/instances/{instance}"
        reached = wait_for(lambda: (client.get(path).json()["checkpoint"] or {}).get("next", 0) >= 3, what="page 3")
        assert reached
        served.stop(signal.SIGKILL)
    with Served(example, "imports:app", **SOON) as served, served.client() as client:
        found = ended(client, instance)
        said = logs(client, instance)
    assert (found["status"], found["retry_count"], found["loss_count"]) == ("success", 0, 1)
    value = found["result"]["value"]
    assert value["customers"] == 400
    assert value["pages_of_this_attempt"] <= 37
    assert f"begins at page {40 - value['pages_of_this_attempt']} of 40" in said
    database = sqlite3.connect(example / "customers.db")
    assert database.execute("SELECT count(*), max(id) FROM customers").fetchone() == (400, 399)
    database.close()
