"""Bench: microseconds per next instant against cronsim and croniter, and the long run of the cron oracles.

python bench/cron.py              the table
python bench/cron.py --oracle N   N random expressions against cronsim and N against brute force
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from hourhand.model.errors import InvalidInput
from hourhand.rules.schedule import next_instant, parse

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from unit.rules.cron_oracle import (
    ZONES,
    BruteForce,
    cronsim_instants,
    cronsim_is_right,
    ours,
    ours_backwards,
    random_moment,
    random_quartz,
    random_vixie,
    seeded,
)

VIXIE = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "0 9-17 * * MON-FRI",
    "*/15 8-18 * * 1-5",
    "0 0 1 * *",
    "0 0 L * *",
    "0 12 13 * FRI",
    "15,45 */6 1-7 * *",
    "0 3 * * SUN",
    "0 0 1 1 *",
    "0 0 29 2 *",
    "5 4 * 6-8 2#1",
)
QUARTZ = (
    "*/10 * * * * ?",
    "0 0 2 ? * MON-FRI",
    "0 0/30 9-17 * * ?",
    "0 0 2 L * ?",
    "0 0 2 L-3 * ?",
    "0 15 10 15W * ?",
    "0 15 10 LW * ?",
    "0 15 10 ? * 6#3",
    "0 15 10 ? * 6L 2026-2040",
    "0 0 22-2 ? * FRI-MON",
)
BENCH_ZONES = ("UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York")
STEPS = 40
ROUNDS = 5


def microseconds(step: Callable[[], object]) -> float:
    """Return the mean time of one walk's steps."""
    began = time.perf_counter_ns()
    for _ in range(STEPS):
        step()
    return (time.perf_counter_ns() - began) / STEPS / 1000


def our_steps(text: str, zone: str, start: datetime) -> Callable[[], object]:
    """Walk from instant to instant, as the scheduler does."""
    schedule = parse(text, zone)
    moment = start

    def step() -> None:
        nonlocal moment
        moment = next_instant(schedule, moment) or start

    return step


def cronsim_steps(text: str, zone: str, start: datetime) -> Callable[[], object]:
    """Walk cronsim's own iterator."""
    # cronsim is faster when it is told UTC in its own way.
    return CronSim(text, start if zone == "UTC" else start.astimezone(ZoneInfo(zone))).__next__


def croniter_steps(text: str, zone: str, start: datetime) -> Callable[[], object]:
    """Walk croniter's own iterator."""
    steps = croniter(text, start.astimezone(ZoneInfo(zone)))
    return lambda: steps.get_next(datetime)


def medians(
    make: Callable[[str, str, datetime], Callable[[], object]], texts: tuple[str, ...], start: datetime
) -> dict[str, float]:
    """Return the median over expressions of each zone, and of all of them."""
    found: dict[str, float] = {}
    every: list[float] = []
    for zone in BENCH_ZONES:
        here = [min(microseconds(make(text, zone, start)) for _ in range(ROUNDS)) for text in texts]
        found[zone] = statistics.median(here)
        every += here
    return found | {"all": statistics.median(every), "slowest": max(every)}


def table() -> None:
    """Print the comparison."""
    start = datetime(2026, 3, 27, 12, 0, tzinfo=UTC)
    rows = {
        "hourhand, 5 fields": medians(our_steps, VIXIE, start),
        "hourhand, Quartz": medians(our_steps, QUARTZ, start),
        "cronsim, 5 fields": medians(cronsim_steps, VIXIE, start),
        "croniter, 5 fields": medians(croniter_steps, VIXIE, start),
    }
    mine = rows["hourhand, 5 fields"]["all"]
    columns = (*BENCH_ZONES, "all", "slowest")
    print("median over the expressions of the microseconds per next instant,")
    print(f"{len(VIXIE)} with 5 fields and {len(QUARTZ)} of Quartz, each the best of {ROUNDS} walks of {STEPS} steps")
    print(f"{'':20}" + "".join(f"{column:>18}" for column in columns) + f"{'x ours':>9}")
    for name, row in rows.items():
        print(f"{name:20}" + "".join(f"{row[column]:18.2f}" for column in columns) + f"{row['all'] / mine:9.1f}")


def possible(text: str) -> bool:
    """Tell whether a random expression has dates at all."""
    try:
        parse(text)
    except InvalidInput:
        return False
    return True


def agrees_with_cronsim(seed: int) -> bool | None:
    """Compare eight instants of a random 5-field expression; None if cronsim cannot judge it."""
    random = seeded(seed)
    zone, text = random.choice(ZONES), random_vixie(random)
    if not possible(text) or not cronsim_is_right(text, zone):
        return None
    moment = after = random_moment(random, zone)
    for expected in cronsim_instants(text, zone, after, 8):
        found = next_instant(parse(text, zone), moment)
        if found != expected:
            print(f"MISMATCH {text!r} in {zone} after {moment}: cronsim {expected}, ours {found}")
            return False
        moment = expected
    return True


def agrees_with_brute_force(seed: int) -> bool | None:
    """Compare 36 hours of a random expression of any form, forwards and backwards."""
    random = seeded(seed)
    zone, text = random.choice(ZONES), random.choice((random_vixie, random_quartz))(random)
    if not possible(text):
        return None
    start = random_moment(random, zone).replace(second=0, microsecond=0)
    end = start + timedelta(hours=36)
    expected = BruteForce(text, zone).instants(start, end)
    if expected == ours(text, zone, start, end) == ours_backwards(text, zone, start, end):
        return True
    print(f"MISMATCH {text!r} in {zone} from {start} to {end}")
    return False


def oracle(count: int, first_seed: int) -> int:
    """Check `count` expressions against each oracle; return the number of mismatches."""
    wrong = 0
    for name, agrees in (("cronsim", agrees_with_cronsim), ("brute force", agrees_with_brute_force)):
        checked = mismatches = 0
        seed = first_seed
        began = time.perf_counter()
        while checked < count:
            verdict = agrees(seed)
            seed += 1
            checked += verdict is not None
            mismatches += verdict is False
        seconds = time.perf_counter() - began
        print(f"{name}: {checked} expressions, {len(ZONES)} zones, {mismatches} mismatches, {seconds:.0f} s")
        wrong += mismatches
    return wrong


def main() -> int:
    """Run what the arguments ask for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--oracle", type=int, metavar="N", help="check N random expressions against each oracle")
    arguments.add_argument("--seed", type=int, default=0, help="the first seed of the oracle run")
    chosen = arguments.parse_args()
    if chosen.oracle:
        return 1 if oracle(chosen.oracle, chosen.seed) else 0
    table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
