"""`hourhand audit`: who changed what, and whether anybody meddled with the record of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_facts, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import HourhandError, InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

app = typer.Typer(name="audit", help="Look at who changed what.", no_args_is_help=True)
COLUMNS = (
    Column("ID", 6, right=True),
    Column("AT", 7),
    Column("BY"),
    Column("ACTION"),
    Column("WHAT"),
    Column("RESULT", 5),
    Column("SUMMARY", 4),
)
_OPTIONS = {
    "resource_type": "--resource",
    "resource_id": "--id",
    "task_id": "--task",
    "user_id": "--user",
    "from": "--since",
    "to": "--before",
    "head": "--head",
}
_MANY = 2_000
_NAMED: Mapping[str, Callable[[Rest, str], Json]] = {
    "task": lambda rest, name: rest.task(name),
    "group": lambda rest, name: rest.group(name),
    "user": lambda rest, name: rest.user(name),
    "token": lambda rest, name: rest.named("token", "/tokens", name),
    "alert-rule": lambda rest, name: rest.alert_rule(name),
    "calendar": lambda rest, name: rest.named("calendar", "/calendars", name, paged=False),
    "data-source": lambda rest, name: rest.named("data source", "/data-sources", name, paged=False),
    "maintenance-window": lambda rest, name: rest.named(
        "maintenance window", "/maintenance-windows", name, paged=False
    ),
}
"""How what has a name is found by it."""


class Result(StrEnum):
    """What became of what was asked for."""

    DONE = "done"
    REFUSED = "refused"


@app.command("list")
def list_audit(
    *,
    resource: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            help="Of such things: task, instance, user…",
            show_default=False,
            autocompletion=completing.resources,
        ),
    ] = None,
    resource_id: Annotated[
        str | None,
        typer.Option("--id", metavar="NAME", help="Of this one, or its id; needs --resource.", show_default=False),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of this task, or its id, with its instances, pauses and windows.",
            show_default=False,
            autocompletion=completing.tasks,
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="By this user or token; or an id such as user:3.",
            show_default=False,
            autocompletion=completing.users,
        ),
    ] = None,
    action: Annotated[str | None, typer.Option(help="Such as edit or sign_in.", show_default=False)] = None,
    result: Annotated[Result | None, typer.Option(help="Those only.", show_default=False)] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since this time, or 30m, 2h, 7d ago.", show_default=False)
    ] = None,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="Before this time.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List who did what, newest first; --json has what it was before and after."""
    from hourhand.cli.rest import connected

    if resource_id is not None and resource is None:
        raise InvalidInput.one("--id", resource_id, "needs --resource with it, such as --resource task")
    with connected() as rest, in_words_of(_OPTIONS):
        wanted = {
            "resource_type": resource,
            "resource_id": None if resource is None or resource_id is None else _resource(rest, resource, resource_id),
            "task_id": None if task is None else _resource(rest, "task", task, "--task"),
            "user_id": None if user is None else _author(rest, user),
            "action": action,
            "result": result and result.value,
            "from": None if since is None else moments.read_since(since, "--since"),
            "to": None if before is None else moments.read_since(before, "--before"),
        }
        found = rest.some("/audit-logs", limit, **wanted)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("There are no such entries.")
        return
    print_table(COLUMNS, [_row(one) for one in found["items"]])
    if found["next_cursor"]:
        note(f"These are the newest {limit}: there are more (--limit).")


@app.command()
def show(
    entry_id: Annotated[
        int,
        typer.Argument(
            metavar="ID",
            help="Its number, as `hourhand audit list` shows it.",
            autocompletion=completing.audit_entries,
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Show one entry with what it was before and after."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        entry = rest.get(f"/audit-logs/{entry_id}")
    if as_json:
        print_json(entry)
        return
    print_facts(_facts(entry))


@app.command()
def verify(
    *,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER:HASH", help="A head noted earlier; it must still be in the chain.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Go along the whole chain of entries; exit 1 where it is broken.

    Note the head that it prints somewhere else: whoever may write to the database could make the whole chain anew, and
    only a head that was noted before shows it.
    """
    from hourhand.cli.rest import connected

    with connected(patient=True) as rest, in_words_of(_OPTIONS):
        found = rest.get("/audit-logs/verify", head=head)
    if as_json:
        print_json(found)
    else:
        print_facts(_told(found))
    if not found["ok"]:
        fault = found["fault"]
        broken = f"the chain is broken at entry {fault['number']} ({fault['kind']}): {fault['detail']}"
        if not as_json:
            raise HourhandError(broken)
        raise typer.Exit(1)


def _row(entry: Json) -> tuple[str, ...]:
    which = entry["resource_id"]
    return (
        str(entry["id"]),
        moments.shown(entry["occurred_at"]),
        f"{entry['user_name']} ({entry['user_id']})",
        entry["action"],
        entry["resource_type"] if which is None else f"{entry['resource_type']} {which}",
        entry["result"],
        entry["summary"] or "",
    )


def _facts(entry: Json) -> Json:
    """What it was, and what it is: what stayed the same says nothing."""
    before, after = entry["before"], entry["after"]
    if isinstance(before, dict) and isinstance(after, dict):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        before, after = ({name: one[name] for name in names if name in one} for one in (before, after))
    ident, at, by, action, what, result, summary = _row(entry)
    return {
        "id": ident,
        "at": at,
        "by": by,
        "action": action,
        "what": what,
        "result": result,
        "summary": summary,
        "before": before,
        "after": after,
        "payload": entry["payload"],
        "script": entry["script"],
        "request": entry["request_id"],
        "in the chain": "not yet" if entry["hash"] is None else f"{entry['sealed_no']}:{entry['hash']}",
    }


def _told(found: Json) -> Json:
    oldest = f", the oldest from {moments.shown(found['oldest_unsealed_at'])}" if found["unsealed"] else ""
    return {
        "chain": "whole" if found["ok"] else "broken",
        "sealed entries that fit": str(found["checked"]),
        "head": found["head"],
        "not sealed yet": f"{found['unsealed']}{oldest}",
    }


def _resource(rest: Rest, kind: str, name: str, option: str = "--id") -> str:
    """The id of the one of that name; a number is an id already, and some things have no names."""
    if name.isdecimal() or kind not in _NAMED:
        return name
    try:
        return str(_NAMED[kind](rest, name)["id"])
    except HourhandError as unknown:
        raise InvalidInput.one(option, name, f"{unknown} (of one that is no more, write the id)") from None


def _author(rest: Rest, name: str) -> str:
    """The id of whoever has that name; an id is one already."""
    if ":" in name or name in ("local", "nobody"):
        return name
    users = [f"user:{one['id']}" for one in rest.some("/users", _MANY)["items"] if one["name"] == name]
    tokens = [f"token:{one['id']}" for one in rest.some("/tokens", _MANY)["items"] if one["name"] == name]
    match users + tokens:
        case [one]:
            return one
        case []:
            right = "write a name, or an id such as user:3 or token:1, also of one that is no more"
            raise InvalidInput.one("--user", name, f"there is no user and no token {name!r}: {right}")
        case several:
            raise InvalidInput.one("--user", name, f"{name!r} has several: write one of {', '.join(several)}")
