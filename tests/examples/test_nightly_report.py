from __future__ import annotations

from pathlib import Path

from api.cli import Terminal
from examples.started import ended, instances, logs, run, wait_for
from serving import Served


def test_the_report_is_made_once_both_summaries_are_there(example: Path) -> None:
    with Served(example) as served, served.client() as client:
        hourhand = Terminal(served)
        assert "4 created" in hourhand.done("apply", "-f", "tasks.yaml").out
        assert "4 unchanged" in hourhand.done("apply", "-f", "tasks.yaml").out
        assert ended(client, run(client, "extract"))["status"] == "success"
        (report,) = wait_for(lambda: instances(client, "report"), what="the report's instance")
        found = ended(client, report["id"])
        assert (found["status"], found["triggered_by"]) == ("success", "dependency")
        assert logs(client, report["id"]).splitlines()[-2:] == ["total: 55", "best customer: ann (48)"]
        needed = [instances(client, name)[0] for name in ("total", "best-customer")]
        assert all(one["end_time"] <= found["start_time"] for one in needed)
