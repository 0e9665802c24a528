from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from examples.started import ended, instances, run, started, wait_for
from serving import Served


def test_every_executor_does_its_share_and_the_crm_is_called_by_two_at_a_time(
    example: Path, postgresql_url: str
) -> None:
    store = {"HOURHAND_STORE": postgresql_url}
    another = started(example, "-m", "hourhand", "executor", "fan_out:app", until="Ctrl-C stops it", **store)
    with Served(example, "fan_out:app", **store) as served, another, served.client() as client:
        wait_for(lambda: len(client.get("/api/v1/executors").json()["items"]) == 2, what="two executors")
        run(client, "reindex")
        shards = [ended(client, one["id"]) for one in instances(client, "reindex")]
        assert [one["shard_total"] for one in shards] == [2, 2]
        assert len({one["executor_id"] for one in shards}) == 2
        done = [document for one in shards for document in one["result"]["value"]]
        assert sorted(done) == sorted(f"document {number}" for number in range(20))
        printed = subprocess.run(
            [sys.executable, "fan_out.py"],
            cwd=example,
            env=os.environ | store,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (printed.returncode, printed.stdout) == (0, "12 calls, at most 2 at once\n"), printed.stderr
