"""`hourhand task`: what to run and when."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Annotated

import typer

from hourhand.cli import completing, moments, resting
from hourhand.cli.clearing import Clear, cleared
from hourhand.cli.flattening import flattened
from hourhand.cli.managed import say_what_follows
from hourhand.cli.many import TaskFilter
from hourhand.cli.printing import AsJson, Column, note, plural, print_facts, print_json, print_table, say
from hourhand.cli.refusals import in_words_of
from hourhand.cli.schedule import print_instants
from hourhand.cli.task_graph import graph
from hourhand.cli.task_impact import impact
from hourhand.cli.task_listing import list_tasks
from hourhand.cli.task_options import WORDS, TaskOptions, changes, definition
from hourhand.model.errors import HasDependents, HourhandError, InvalidInput

app = typer.Typer(name="task", help="Look after tasks: what to run and when.", no_args_is_help=True)
Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The task's name.", show_default=False, autocompletion=completing.tasks),
]
NameOrMany = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The task's name; without one, a filter.",
        show_default=False,
        autocompletion=completing.tasks,
    ),
]
_SHOWN_APART = ("id", "name", "type", "enabled", "group_id", "version", "payload", "dependency_ids", "deleted_at")

app.command("list")(list_tasks)
app.command()(graph)
app.command()(impact)


@app.command()
@flattened(TaskOptions)
def add(
    name: Name,
    *,
    disabled: Annotated[bool, typer.Option("--disabled", help="Do not let it fire yet.")] = False,
    as_json: AsJson = False,
    options: TaskOptions,
) -> None:
    """Add a task, such as: hourhand task add hello --schedule '*/5 * * * *' --command 'echo hi'."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of(WORDS | {"name": "NAME"}):
        task = rest.post("/tasks", name=name, enabled=not disabled, **definition(rest, options))
    if as_json:
        print_json(task)
        return
    typer.echo(f"Task {name!r} is added{_due(task)}.")
    if task["schedule"] == "@manual":
        typer.echo(f"It fires only by hand: `hourhand task run {shlex.quote(name)}`")


@app.command()
@flattened(TaskOptions)
def edit(
    name: Name,
    *,
    rename: Annotated[str | None, typer.Option(metavar="NAME", help="Another name.", show_default=False)] = None,
    clear: Clear = None,
    as_json: AsJson = False,
    options: TaskOptions,
) -> None:
    """Change what is given of a task; everything else stays. Lists, such as --env, are replaced as a whole."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of(WORDS | {"name": "--rename"}):
        task = rest.task(name)
        changed = cleared(clear or [], options, task, changes(rest, options, task))
        if rename is not None:
            changed["name"] = rename
        if not changed and not clear and options == TaskOptions():
            raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --schedule")
        edited = rest.patch(f"/tasks/{task['id']}", changed | {"version": task["version"]})
    if edited["version"] != task["version"]:
        say_what_follows(task)
    if as_json:
        print_json(edited)
    elif edited["version"] == task["version"]:
        typer.echo(f"Task {name!r} is so already: nothing has changed.")
    else:
        due = _due(edited) if changed.keys() & {"schedule", "timezone"} else ""
        typer.echo(f"Task {name!r} is at version {edited['version']} now ({', '.join(changed)}){due}.")


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that is known of a task."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        task = rest.task(name)
        needed = [] if as_json else [rest.get(f"/tasks/{one}")["name"] for one in task["dependency_ids"]]
        rests = resting.NOTHING if as_json else resting.found(rest)
    if as_json:
        print_json(task)
        return
    times = {one: moments.shown(task[one]) for one in ("created_at", "updated_at", "next_fire_at")}
    print_facts(
        {
            "name": task["name"],
            "id": str(task["id"]),
            "state": "enabled" if task["enabled"] else "disabled",
            "paused": "\n".join(rests.pauses_of(task)),
            "maintenance": "\n".join(rests.windows_of(task)),
            "type": task["type"],
            **{f"  {one}": value for one, value in task["payload"].items()},
            "depends on": ", ".join(needed),
            **{one: value for one, value in (task | times).items() if one not in _SHOWN_APART},
            "version": str(task["version"]),
        }
    )


@app.command()
@flattened(TaskFilter)
def enable(name: NameOrMany = None, *, as_json: AsJson = False, options: TaskFilter) -> None:
    """Let a task fire, or all tasks that a filter fits."""
    _switch(name, options, enabled=True, as_json=as_json)


@app.command()
@flattened(TaskFilter)
def disable(name: NameOrMany = None, *, as_json: AsJson = False, options: TaskFilter) -> None:
    """Keep a task from firing, or all that a filter fits; they can still be run by hand."""
    _switch(name, options, enabled=False, as_json=as_json)


@app.command()
@flattened(TaskFilter)
def delete(
    name: NameOrMany = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Although other tasks depend on it.")] = False,
    as_json: AsJson = False,
    options: TaskFilter,
) -> None:
    """Delete a task, or all that a filter fits; what has not started is cancelled, what runs goes on, logs stay."""
    from hourhand.cli.rest import connected

    many = options.many("delete", force=force)
    with connected() as rest:
        if name is None:
            many.change(rest, as_json=as_json)
            return
        many.refuse_with(name, "NAME")
        task = rest.task(name)
        try:
            rest.delete(f"/tasks/{task['id']}", force=str(force).lower())
        except HasDependents as refused:
            raise HourhandError(f"{refused} (--force)") from None
    say_what_follows(task)
    if as_json:
        print_json({"id": task["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"Task {name!r} is deleted.")


@app.command()
def versions(
    name: Name,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the versions of a task, newest first, and what each changed."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        # One more, so that the oldest shown can be compared with the one before it.
        found = rest.some(f"/tasks/{rest.task(name)['id']}/versions", limit if as_json else limit + 1)
    if as_json:
        print_json(found)
        return
    items = found["items"]
    older = [*items[1:], None]
    print_table(
        (Column("VERSION", right=True), Column("CHANGED AT", 8), Column("BY", 5), Column("CHANGED")),
        [
            (
                str(one["version"]),
                moments.shown(one["changed_at"]),
                one["changed_by"],
                "added" if before is None else _difference(before["definition"], one["definition"]),
            )
            for one, before in list(zip(items, older, strict=True))[:limit]
        ],
    )


@app.command()
def upcoming(
    name: Name,
    *,
    count: Annotated[int, typer.Option(min=1, max=100, help="How many instants to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show when a task fires next."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        task = rest.task(name)
        found = rest.get(f"/tasks/{task['id']}/upcoming", count=count)
        rests = resting.NOTHING if as_json else resting.found(rest)
    if as_json:
        print_json(found)
        return
    say(f"{task['schedule']} ({task['timezone']}): {found['description']}")
    print_instants([datetime.fromisoformat(instant) for instant in found["instants"]], task["timezone"])
    for one in (*found["notes"], *rests.notes_on(task)):
        say(f"Note: {one}")


@app.command()
def run(
    name: Name,
    *,
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help="Arguments, as a JSON object.", show_default=False)
    ] = None,
    priority: Annotated[int | None, typer.Option(min=0, max=9, help="0 (highest) to 9. [dim]the task's[/dim]")] = None,
    key: Annotated[
        str | None, typer.Option(help="While an instance with this key lives, take that one.", show_default=False)
    ] = None,
    run_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Not before this time; without an offset in the task's zone.", show_default=False
        ),
    ] = None,
    wait_for_dependencies: Annotated[
        bool, typer.Option("--wait-for-dependencies", help="Let it wait until what its task depends on has succeeded.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end; exit 1 unless it succeeds.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="The same, and print what it writes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a task now, beside its schedule; it does not wait for its dependencies unless it is told to."""
    from hourhand.cli import following
    from hourhand.cli.json_options import object_option
    from hourhand.cli.rest import connected

    given = object_option(args, "--args")
    with connected() as rest:
        task = rest.task(name)
        at = None if run_at is None else moments.read(run_at, "--run-at", task["timezone"])
        how = {"args": given, "priority": priority, "key": key, "run_at": at, "wait": wait_for_dependencies or None}
        instance = rest.post(f"/tasks/{task['id']}/run", **how)
        if instance["existing"] and not as_json:
            note(f"This is the living instance {instance['id']} with that key: no new one was made.")
        if wait or follow:
            following.to_the_end(rest, instance, follow=follow, as_json=as_json)
            return
    if as_json:
        print_json(instance)
    else:
        typer.echo(f"Instance {instance['id']} of task {name!r} is {instance['status']}.")


@app.command()
def backfill(
    name: Name,
    *,
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="The first instant.", show_default=False)],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="The last instant.", show_default=False)],
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until all of them have ended; exit 1 unless all succeed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the instants of a range that were never made; times without an offset are in the task's zone."""
    from hourhand.cli.rest import connected
    from hourhand.cli.waiting import newest_of_backfill, wait_for

    with connected() as rest:
        task = rest.task(name)
        zone = task["timezone"]
        bounds = {"from": moments.read(begin, "--from", zone), "to": moments.read(end, "--to", zone)}
        answer = rest.post(f"/tasks/{task['id']}/backfill", **bounds)
        if not as_json:
            made = plural(answer["made"], "instance")
            typer.echo(f"{made} made; instants that were there already are left as they are.")
        if wait:
            wait_for(rest, newest_of_backfill(rest, task["id"], answer["made"]), answer, as_json=as_json)
        elif as_json:
            print_json(answer)


def _due(task: dict[str, str]) -> str:
    return f"; it fires next at {moments.shown(task['next_fire_at'])}" if task["next_fire_at"] else ""


def _switch(name: str | None, options: TaskFilter, *, enabled: bool, as_json: bool) -> None:
    from hourhand.cli.rest import connected

    many = options.many("enable" if enabled else "disable")
    with connected() as rest:
        if name is None:
            many.change(rest, as_json=as_json)
            return
        many.refuse_with(name, "NAME")
        task = rest.task(name)
        edited = rest.patch(f"/tasks/{task['id']}", {"enabled": enabled})
    if edited["version"] != task["version"]:
        say_what_follows(task)
    if as_json:
        print_json(edited)
        return
    word = "enabled" if enabled else "disabled"
    typer.echo(f"Task {name!r} is {word}{' already' if task['enabled'] == enabled else ' now'}.")


def _difference(before: dict[str, object], after: dict[str, object]) -> str:
    return ", ".join(name for name, value in after.items() if before.get(name) != value) or "nothing"
