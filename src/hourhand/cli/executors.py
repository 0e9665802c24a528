"""`hourhand executors`: who is alive, and what each can run."""

from __future__ import annotations

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table

COLUMNS = (
    Column("ID"),
    Column("GROUP", 8),
    Column("STATE", 8),
    Column("RUNNING", 7, right=True),
    Column("LAST HEARTBEAT", 6),
    Column("HOST", 3),
    Column("PROVIDES", 4),
    Column("LABELS", 2),
    Column("VERSION", 1),
)


def executors(*, as_json: AsJson = False) -> None:
    """List the executors that are registered, and how much each is running."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get("/executors")
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("No executor is alive: `hourhand serve` has one, `hourhand executor` is one.")
        return
    print_table(
        COLUMNS,
        [
            (
                one["id"],
                one["group"],
                _state(one),
                f"{one['running']}/{one['capacity']}",
                moments.ago(one["last_heartbeat"]),
                one["hostname"],
                ", ".join(one["provides"]),
                ", ".join(f"{name}={value}" for name, value in one["labels"].items()),
                one["version"],
            )
            for one in found["items"]
        ],
    )


def _state(executor: Json) -> str:
    """Whether it is heard of, by the server's clock; after the time of a lease what it runs is taken from it."""
    if executor["alive"]:
        return "alive"
    silent = moments.seconds_since(executor["last_heartbeat"])
    return "never heard of" if silent is None else f"silent for {round(silent)} s"
