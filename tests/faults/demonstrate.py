"""The demonstration: kill processes of a real cluster for a minute and count; then time how soon the dead are replaced.

PYTHONPATH=tests python -m faults.demonstrate [--tasks 200] [--seconds 60] [--schedulers 3] [--executors 5]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from faults.checker import check
from faults.cluster import LEASE_SECONDS, Processes
from faults.figures import Recovery, count, recoveries
from faults.scenario import Scenario, busy, definition
from hourhand.store import open_store, upgrade
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULTS = {"HOURHAND_HEARTBEAT_SECONDS": "5", "HOURHAND_LEASE_SECONDS": "15"}


def say(line: str = "") -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def table(title: str, rows: Sequence[tuple[str, object]]) -> None:
    say(f"\n{title}")
    for name, value in rows:
        shown = f"{value:.2f}" if isinstance(value, float) else value
        say(f"  {name:<52}{shown!s:>10}")


def killed(processes: Processes) -> dict[int, datetime]:
    """When each of the killed was killed."""
    return {
        process.pid: datetime.fromtimestamp(process.killed_at, UTC)
        for process in processes.started
        if process.killed_at is not None
    }


def spread(found: Sequence[Recovery]) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [("attempts cut short and started again", len(found))]
    for name, seconds in (
        ("until it could be claimed again", [one.claimable for one in found]),
        ("until another had it", [one.started for one in found]),
    ):
        if seconds:
            rows.append((f"  seconds {name}: median", statistics.median(seconds)))
            rows.append((f"  seconds {name}: longest", max(seconds)))
    return rows


async def kills(scenario: Scenario, given: argparse.Namespace) -> int:
    """Kill at random for as long as asked; how many promises were broken."""
    await scenario.prepare(*busy(given.tasks))
    for _ in range(given.schedulers):
        scenario.processes.scheduler()
    for _ in range(given.executors):
        scenario.processes.executor()
    await scenario.under_way()
    dice = random.Random(given.seed)  # noqa: S311 - to be repeated, not to be secret
    count_killed, _ = await asyncio.gather(
        scenario.kill_at_random(dice, given.seconds, (given.every, given.every)),
        scenario.keep_submitting("submitted", given.seconds),
    )
    stopped = datetime.now(UTC)
    quiet = await scenario.quiet(stopped)
    history = await scenario.history()
    violations = check(history)
    title = (
        f"{given.schedulers} schedulers, {given.executors} executors, {given.tasks} tasks each second, "
        f"one of them killed every {given.every:g} s for {given.seconds:g} s"
    )
    names = {
        "due": "instants due",
        "materialised": "materialised",
        "skipped": "skipped, and recorded as such",
        "dependents": "instants of dependents, made by their upstreams",
        "ended": "ended",
        "duplicated": "duplicated",
        "lost": "lost",
        "submitted": "submissions acknowledged meanwhile",
        "started_again": "attempts beyond the first",
    }
    rows: list[tuple[str, object]] = [("processes killed", count_killed)]
    rows += [(names[name], value) for name, value in asdict(count(history)).items()]
    rows += spread(recoveries(history, killed(scenario.processes)))
    rows.append(("seconds until quiet after the last kill", "never" if quiet is None else quiet))
    rows.append(("broken promises", len(violations)))
    table(title, rows)
    for violation in violations[:20]:
        say(f"  {violation}")
    return len(violations)


async def recovery(scenario: Scenario, times: int, title: str) -> None:
    """Kill an executor in the middle of an instance, several times; how long until another had it."""
    await scenario.prepare([definition("long", args={"seconds": 3600.0, "seconds_again": 0.1})])
    scenario.processes.scheduler()
    executors = [scenario.processes.executor(), scenario.processes.executor()]
    store = await open_store(scenario.url)
    try:
        for _ in range(times):
            instance_id = await scenario.submit(store, "long")
            first = await scenario.started(instance_id)
            victim = next(process for process in executors if process.pid == first.pid)
            executors = [one for one in executors if one is not victim] + [scenario.processes.replace(victim)]
            await scenario.started(instance_id, above=first.fence)
    finally:
        await store.close()
    history = await scenario.history()
    rows = spread(recoveries(history, killed(scenario.processes)))
    table(title, [*rows, ("broken promises", len(check(history)))])


async def demonstrate(given: argparse.Namespace, server: Cluster, folder: Path) -> int:
    async def on(name: str, **environment: str) -> Scenario:
        url = server.create_database(name=name)
        await upgrade(url)
        return Scenario(Processes(url, folder / name, environment))

    scenario = await on("kills")
    with scenario.processes:
        broken = await kills(scenario, given)
    for name, environment in (("short", {}), ("defaults", DEFAULTS)):
        scenario = await on(name, **environment)
        lease = environment.get("HOURHAND_LEASE_SECONDS", f"{LEASE_SECONDS:g}")
        with scenario.processes:
            await recovery(scenario, given.times, f"executor killed -9 in the middle of an instance, lease {lease} s")
    say(f"\nthe processes' logs are in {folder}")
    return broken


def main() -> int:
    """Demonstrate what was asked for; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description="Kill processes of a real cluster, and count what came of it.")
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=2)
    parser.add_argument("--schedulers", type=int, default=3)
    parser.add_argument("--executors", type=int, default=5)
    parser.add_argument("--times", type=int, default=3, help="how often an executor is killed for the recovery time")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    server = Cluster()
    try:
        server.start()
        return int(asyncio.run(demonstrate(given, server, Path(tempfile.mkdtemp(prefix="hourhand-faults-")))) > 0)
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
