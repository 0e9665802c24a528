"""`hourhand instance list`: which instances there are, by what they are searched by."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.instance_showing import what
from hourhand.cli.many import data_source_id
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.words import Status, TaskType, TriggeredBy

COLUMNS = (
    Column("ID", right=True),
    Column("TASK"),
    Column("STATUS"),
    Column("SCHEDULED", 7),
    Column("TOOK", 5),
    Column("BY", 3),
    Column("EXECUTOR", 1),
    Column("WHAT", 8),
)
_FILTERS = {
    "group": "--group",
    "executor_id": "--executor",
    "q": "--search",
    "exclude": "--exclude",
    "owner": "--owner",
    "args": "--with-args",
    "error": "--error",
    "from": "--since",
    "to": "--before",
}


def list_instances(
    *,
    task: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of this task only.", show_default=False, autocompletion=completing.tasks),
    ] = None,
    status: Annotated[Status | None, typer.Option(help="In this state only.", show_default=False)] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of this group only.", show_default=False, autocompletion=completing.groups),
    ] = None,
    kind: Annotated[TaskType | None, typer.Option("--type", help="Of this type only.", show_default=False)] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Those that it runs or ran only.",
            show_default=False,
            autocompletion=completing.executors,
        ),
    ] = None,
    triggered_by: Annotated[
        TriggeredBy | None, typer.Option(help="Those made so only; the column BY.", show_default=False)
    ] = None,
    data_source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Those that work on it only.",
            show_default=False,
            autocompletion=completing.data_sources,
        ),
    ] = None,
    q: Annotated[
        str | None,
        typer.Option("--search", "--q", "-q", help="Of tasks with this in the name only.", show_default=False),
    ] = None,
    exclude: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Of tasks without this in the name only.", show_default=False)
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Of tasks of this owner only.", show_default=False)] = None,
    with_args: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Those with this in their arguments, as JSON, only.", show_default=False),
    ] = None,
    error: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Those with this in their error only.", show_default=False)
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Due or ended since this time, or since 30m, 2h, 7d ago.", show_default=False
        ),
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="The same, before this time.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List instances: the living first, then the ended, newest first."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of(_FILTERS):
        wanted = {
            "task_id": rest.task(task)["id"] if task else None,
            "status": status and status.value,
            "group": group,
            "type": kind and kind.value,
            "executor_id": executor,
            "triggered_by": triggered_by and triggered_by.value,
            "data_source_id": data_source_id(rest, data_source),
            "q": q,
            "exclude": exclude,
            "owner": owner,
            "args": with_args,
            "error": error,
            "from": None if since is None else moments.read_since(since, "--since"),
            "to": None if before is None else moments.read_since(before, "--before"),
        }
        found = rest.some("/instances", limit, **wanted)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        asked = any(value is not None for value in wanted.values())
        note("There are no such instances." if asked else "There are no instances yet.")
        return
    print_table(
        COLUMNS,
        [
            (
                str(one["id"]),
                one["task_name"],
                one["status"],
                moments.shown(one["scheduled_time"]),
                "" if one["duration_ms"] is None else moments.length(one["duration_ms"] / 1_000),
                one["triggered_by"],
                one["executor_id"] or "",
                what(one),
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the newest {limit}: there are more (--limit).")
