"""`hourhand stats`: figures over what ended, what waits and what runs."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, plural, print_json, print_table, share
from hourhand.cli.refusals import in_words_of
from hourhand.model.words import TaskType

app = typer.Typer(name="stats", invoke_without_command=True)
OfGroup = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="NAME", help="Of this group only.", show_default=False, autocompletion=completing.groups
    ),
]
OfType = Annotated[TaskType | None, typer.Option("--type", help="Of tasks of this type only.", show_default=False)]
Begin = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Since this time, or 2h, 7d ago. [dim]1d[/dim]", show_default=False),
]
End = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Before this time. [dim]now[/dim]", show_default=False)
]
_FIGURES = (
    Column("SUCCESS", 8, right=True),
    Column("FAILED", 8, right=True),
    Column("CANCELLED", 3, right=True),
    Column("SKIPPED", 2, right=True),
    Column("FAILURE RATE", right=True),
    Column("AVERAGE", 7, right=True),
    Column("P50", 4, right=True),
    Column("P95", 5, right=True),
    Column("P99", 4, right=True),
)


@app.callback()
def overview(
    context: typer.Context,
    *,
    hours: Annotated[int, typer.Option(min=1, help="How far back endings are counted.")] = 24,
    group: OfGroup = None,
    as_json: AsJson = False,
) -> None:
    """Show the key figures by group: the queue, what runs, failure rate, durations, zombies."""
    if context.invoked_subcommand is not None:
        return
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of({"group": "--group", "hours": "--hours"}):
        found = rest.get("/stats/overview", hours=hours, group=group)
    if as_json:
        print_json(found)
        return
    standings = [("all", found), *[(one["group"], one) for one in found["groups"]]]
    print_table(
        (
            Column("GROUP"),
            Column("QUEUE", right=True),
            Column("LATER", 4, right=True),
            Column("PLANNED", 2, right=True),
            Column("RUNNING", right=True),
            Column("ZOMBIES", 8, right=True),
            Column("EXECUTORS", 3, right=True),
            *_FIGURES,
        ),
        [
            (
                name,
                str(one["pending_due"]),
                str(one["pending_later"]),
                str(one["planned"]),
                str(one["running"]),
                str(one["zombies"]),
                str(one["executors"]),
                *_figures(one),
            )
            for name, one in (standings if len(standings) > 2 else standings[:1])  # noqa: PLR2004 - all, and the only one
        ],
    )


@app.command()
def failures(
    *,
    days: Annotated[int, typer.Option(min=1, max=366, help="How far back failures are counted.")] = 7,
    group: OfGroup = None,
    kind: OfType = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many reasons at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show why instances failed, the most frequent reason first."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of({"group": "--group"}):
        found = rest.get("/stats/failures", days=days, group=group, type=kind and kind.value, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("Nothing has failed.")
        return
    print_table(
        (
            Column("COUNT", right=True),
            Column("REASON"),
            Column("TYPE", 4),
            Column("TASKS", 6),
            Column("LAST", 5),
            Column("INSTANCE", 7, right=True),
        ),
        [
            (
                str(one["count"]),
                one["reason"],
                one["operation_kind"] or one["type"],
                ", ".join(task["name"] for task in one["tasks"]),
                moments.shown(one["last_seen"]),
                "" if one["instance_id"] is None else str(one["instance_id"]),
            )
            for one in found["items"]
        ],
    )


@app.command("long-running")
def long_running(
    *,
    minutes: Annotated[int, typer.Option(min=0, help="Longer than this.")] = 30,
    group: OfGroup = None,
    kind: OfType = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show what has been running for long, the longest first, beside what its task usually takes."""
    from hourhand.cli.rest import connected

    wanted = {"minutes": minutes, "group": group, "type": kind and kind.value}
    with connected() as rest, in_words_of({"group": "--group", "minutes": "--minutes"}):
        found = rest.some("/stats/long-running", limit, **wanted)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note(f"Nothing has been running for more than {plural(minutes, 'minute')}.")
        return
    print_table(
        (
            Column("INSTANCE", right=True),
            Column("TASK"),
            Column("RUNS FOR", right=True),
            Column("USUALLY", 7, right=True),
            Column("PROGRESS", 6, right=True),
            Column("PHASE", 4),
            Column("EXECUTOR", 1),
            Column("REMARK", 5),
        ),
        [
            (
                str(one["instance_id"]),
                one["task_name"],
                moments.length(one["running_seconds"]),
                moments.took(one["median_ms"]),
                share(one["progress"]),
                one["phase"] or "",
                one["executor_id"] or "",
                _remark(one),
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the first {limit}: there are more (--limit).")


@app.command()
def series(
    *,
    begin: Begin = None,
    end: End = None,
    step: Annotated[
        str | None, typer.Option(metavar="STEP", help="Such as 1m, 5m, 1h, 1d. [dim]as fits[/dim]", show_default=False)
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="By whose clock hours and days begin, such as Asia/Kolkata.",
            show_default=False,
            autocompletion=completing.timezones,
        ),
    ] = None,
    group: OfGroup = None,
    kind: OfType = None,
    as_json: AsJson = False,
) -> None:
    """Show what ended, step by step."""
    from hourhand.cli.rest import connected

    asked = {"step": step, "timezone": timezone, "group": group, "type": kind and kind.value}
    words = {"from": "--from", "to": "--to", "step": "--step", "timezone": "--timezone", "group": "--group"}
    with connected() as rest, in_words_of(words):
        found = rest.get("/stats/series", **_period(begin, end), **asked)
    if as_json:
        print_json(found)
        return
    print_table(
        (Column("FROM"), *_FIGURES), [(moments.shown(point["at"]), *_figures(point)) for point in found["items"]]
    )


@app.command()
def distribution(*, begin: Begin = None, end: End = None, group: OfGroup = None, as_json: AsJson = False) -> None:
    """Show what became of each type of task, and of each kind of operation."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of({"from": "--from", "to": "--to", "group": "--group"}):
        found = rest.get("/stats/distribution", **_period(begin, end), group=group)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("Nothing lives, and nothing has ended in this time.")
        return
    living = ("planned", "pending", "running")
    print_table(
        (
            Column("TYPE"),
            Column("KIND", 8),
            *(Column(name.upper(), 6, right=True) for name in living),
            *_FIGURES,
        ),
        [
            (one["type"], one["operation_kind"] or "", *(str(one[name]) for name in living), *_figures(one))
            for one in found["items"]
        ],
    )


def _period(begin: str | None, end: str | None) -> Json:
    return {
        "from": None if begin is None else moments.read_since(begin, "--from"),
        "to": None if end is None else moments.read_since(end, "--to"),
    }


def _figures(found: Json) -> tuple[str, ...]:
    return (
        *(str(found[name]) for name in ("success", "failed", "cancelled", "skipped")),
        share(found["failure_rate"]),
        *(moments.took(found[name]) for name in ("average_ms", "p50_ms", "p95_ms", "p99_ms")),
    )


def _remark(running: Json) -> str:
    if running["zombie"]:
        return "its executor is not heard of"
    return "asked to stop" if running["cancel_requested"] else ""
