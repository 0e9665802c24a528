from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from api.cli import Terminal
from examples.started import ended, instances, logs, wait_for
from serving import Served


def test_the_report_is_made_once_both_summaries_are_there(example: Path) -> None:
    with Served(example) as served, served.client() as client:
        hourhand = Terminal(served)
        assert "4 created" in hourhand.done("apply", "-f", "tasks.yaml").out
        assert "4 unchanged" in hourhand.done("apply", "-f", "tasks.yaml").out
        the_day_before = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
        hourhand.done("task", "backfill", "extract", "--from", the_day_before, "--to", f"{the_day_before}T12:00")
        (report,) = wait_for(lambda: instances(client, "report"), what="the report's instance")
        found = ended(client, report["id"])
        assert (found["status"], found["triggered_by"]) == ("success", "dependency")
        assert "total: 55\nbest customer: ann (48)" in logs(client, report["id"])
        needed = [instances(client, name)[0] for name in ("total", "best-customer")]
        assert all(one["end_time"] <= found["start_time"] for one in needed)
