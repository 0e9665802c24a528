"""`hourhand instance`: what was asked for or fell due, how it goes and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.explain import explain
from hourhand.cli.flattening import flattened
from hourhand.cli.instance_listing import list_instances
from hourhand.cli.instance_showing import without_plans
from hourhand.cli.json_options import Json
from hourhand.cli.many import InstanceFilter
from hourhand.cli.printing import AsJson, Column, note, plural, print_facts, print_json, print_table, text_of
from hourhand.cli.refusals import nothing_to
from hourhand.model.errors import Gone, InvalidInput, NotFound

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

app = typer.Typer(name="instance", help="Look after instances: the occurrences of tasks.", no_args_is_help=True)
Id = Annotated[
    int,
    typer.Argument(
        metavar="ID", min=1, help="The instance's id.", show_default=False, autocompletion=completing.instances
    ),
]
IdOrMany = Annotated[
    int | None,
    typer.Argument(
        metavar="ID",
        min=1,
        help="The instance's id; without one, a filter.",
        show_default=False,
        autocompletion=completing.instances,
    ),
]
_TIMES = (
    "scheduled_time",
    "created_at",
    "available_at",
    "queued_at",
    "start_time",
    "end_time",
    "last_heartbeat",
    "lease_until",
    "superseded_at",
)
_INNER = ("lane_id", "group_id", "log_id", "in_ledger", "shard_index", "shard_total", "output_summary")
_PLAIN = {"cancel_requested": False, "loss_count": 0, "manual_retries": 0}
"""What is not worth a line while it is so."""

ATTEMPTS = (
    Column("ATTEMPT", right=True),
    Column("OUTCOME"),
    Column("STARTED", 6),
    Column("TOOK", 5),
    Column("EXECUTOR", 2),
    Column("FENCE", 1, right=True),
    Column("WHY", 8),
)
app.command("list")(list_instances)
app.command()(explain)


@app.command()
def show(instance_id: Id, *, as_json: AsJson = False) -> None:
    """Show all that is known of an instance."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(f"/instances/{instance_id}")
    if as_json:
        print_json(found)
        return
    times = {name: moments.shown(found[name]) for name in _TIMES}
    result = found["result"] if isinstance(found["result"], dict) else {"result": found["result"]}
    took = None if found["duration_ms"] is None else moments.length(found["duration_ms"] / 1_000)
    part = f"{found['shard_index'] + 1} of {found['shard_total']}" if found["shard_total"] > 1 else None
    told = {
        name: value
        for name, value in (found | times | {"duration_ms": None} | without_plans(found)).items()
        if name not in (*_INNER, "result") and not (name in _PLAIN and value == _PLAIN[name])
    }
    print_facts(told | {"part": part, "took": took} | {f"  {name}": value for name, value in result.items()})


@app.command()
def attempts(instance_id: Id, *, as_json: AsJson = False) -> None:
    """List the attempts at an instance, oldest first."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(f"/instances/{instance_id}/attempts")
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note(f"It has not been attempted yet: `hourhand instance explain {instance_id}` says why.")
        return
    print_table(
        ATTEMPTS,
        [
            (
                str(number),
                one["outcome"] or "running",
                moments.shown(one["start_time"]),
                moments.between(one["start_time"], one["end_time"]),
                one["executor_id"] or "",
                str(one["fence"]),
                text_of(one["error_message"]),
            )
            for number, one in enumerate(found["items"], 1)
        ],
    )


@app.command()
def logs(
    instance_id: Id,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it has ended.")] = False,
    times: Annotated[bool, typer.Option("--times", "-t", help="Say when each line was written.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print what an instance wrote."""
    from hourhand.cli import following
    from hourhand.cli.rest import connected

    if follow and as_json:
        raise InvalidInput.one("--json", as_json, "is given together with --follow: JSON has to have an end")
    with connected() as rest:
        if as_json:
            print_json({"items": list(following.all_lines(rest, instance_id))})
            return
        printer = following.Printer(times=times)
        if follow:
            ended = following.wait(rest, rest.get(f"/instances/{instance_id}"), printer)
            note(following.how_it_ended(rest, ended))
            return
        following.print_lines(rest, instance_id, printer)
        printer.end()


@app.command()
def follow(instance_id: Id, *, as_json: AsJson = False) -> None:
    """Print what an instance writes until it has ended, from the beginning; exit 1 unless it succeeds."""
    from hourhand.cli import following
    from hourhand.cli.rest import connected

    with connected() as rest:
        following.to_the_end(rest, rest.get(f"/instances/{instance_id}"), follow=True, as_json=as_json)


@app.command()
@flattened(InstanceFilter)
def cancel(
    instance_id: IdOrMany = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept.", show_default=False)] = None,
    as_json: AsJson = False,
    options: InstanceFilter,
) -> None:
    """End what has not started, ask what runs to stop: one instance, or all that a filter fits."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        many = options.many(rest, "cancel", reason=reason)
        if instance_id is None:
            many.change(rest, as_json=as_json)
            return
        many.refuse_with(instance_id, "ID")
        with nothing_to("cancel", rest, instance_id):
            found = rest.post(f"/instances/{instance_id}/cancel", reason=reason)
    if as_json:
        print_json(found)
    elif found["status"] == "cancelled":
        typer.echo(f"Instance {instance_id} is cancelled.")
    else:
        typer.echo(f"Instance {instance_id} is {found['status']} and has been asked to stop.")


@app.command()
@flattened(InstanceFilter)
def retry(
    instance_id: IdOrMany = None,
    *,
    args: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="New arguments of the one, as a JSON object. [dim]those it had[/dim]",
            show_default=False,
        ),
    ] = None,
    current_version: Annotated[
        bool, typer.Option("--current-version", help="Take the task as it is now, not as it was when this was made.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end; exit 1 unless it succeeds.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="The same, and print what it writes.")] = False,
    as_json: AsJson = False,
    options: InstanceFilter,
) -> None:
    """Revive what failed or was cancelled, with its id and checkpoint: one, or all failed ones that a filter fits."""
    from hourhand.cli import following
    from hourhand.cli.json_options import object_option
    from hourhand.cli.rest import connected

    given = object_option(args, "--args")
    of_one = {"--args": args, "--current-version": current_version, "--wait": wait, "--follow": follow}
    with connected() as rest:
        many = options.many(rest, "retry")
        if instance_id is None:
            for option, value in of_one.items():
                if value:
                    raise InvalidInput.one(option, value, "is for one instance: name it by its ID")
            many.change(rest, as_json=as_json)
            return
        many.refuse_with(instance_id, "ID")
        with nothing_to("retry", rest, instance_id):
            found = rest.post(f"/instances/{instance_id}/retry", args=given, current_version=current_version)
        if wait or follow:
            following.to_the_end(rest, found, follow=follow, as_json=as_json)
            return
        newest = None if as_json else _newest_version(rest, found["task_id"])
    if as_json:
        print_json(found)
        return
    version, task = found["task_version"], found["task_name"]
    typer.echo(f"Instance {instance_id} is {found['status']} again, with version {version} of task {task!r}.")
    if newest is not None and newest != version:
        typer.echo(
            f"The task is at version {newest} now, but an instance keeps the version that it was made with, "
            "unless it is retried with --current-version."
        )


@app.command()
def plan(
    task: Annotated[
        str,
        typer.Argument(metavar="TASK", help="The task's name.", show_default=False, autocompletion=completing.tasks),
    ],
    *,
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help="Arguments, as a JSON object.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make an instance that stays planned until it is dispatched."""
    from hourhand.cli.json_options import object_option
    from hourhand.cli.rest import connected

    given = object_option(args, "--args")
    with connected() as rest:
        found = rest.post("/instances", task_id=rest.task(task)["id"], args=given, dispatch=False)
    if as_json:
        print_json(found)
    else:
        typer.echo(f"Instance {found['id']} is planned. `hourhand instance dispatch {found['id']}` lets it go on.")


@app.command()
def dispatch(
    ids: Annotated[
        list[int],
        typer.Argument(
            metavar="ID...", min=1, help="Their ids.", show_default=False, autocompletion=completing.planned
        ),
    ],
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until all of them have ended; exit 1 unless all succeed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let planned instances go on, all or none."""
    from hourhand.cli.rest import connected
    from hourhand.cli.waiting import wait_for

    with connected() as rest:
        answer = rest.post("/instances/dispatch", ids=ids)
        if not as_json:
            typer.echo(f"{plural(answer['dispatched'], 'instance')} dispatched.")
        if wait:
            wait_for(rest, ids, answer, as_json=as_json)
        elif as_json:
            print_json(answer)


def _newest_version(rest: Rest, task_id: int) -> int | None:
    """That of the task; None of one that is deleted."""
    try:
        task: Json = rest.get(f"/tasks/{task_id}")
    except (NotFound, Gone):
        return None
    return int(task["version"])
