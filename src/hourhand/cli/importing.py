"""`hourhand import`: tasks out of what other schedulers have been told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli import crontab_source
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, print_json
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.crontab_report import Line
    from hourhand.cli.rest import Rest
    from hourhand.rules.crontab_tasks import Plan, Planned

app = typer.Typer(name="import", help="Take tasks over from other schedulers.", no_args_is_help=True)


@app.callback()
def taking_over() -> None:
    """Take tasks over from other schedulers."""


@app.command()
def crontab(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A crontab; - reads standard input.", show_default=False)],
    *,
    system: Annotated[
        bool | None,
        typer.Option(
            "--system/--user",
            help="Whether each line names a user before its command, as in /etc/crontab. [dim]as it looks[/dim]",
            show_default=False,
        ),
    ] = None,
    user_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose crontab it is. [dim]yours[/dim]", show_default=False)
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Its clock. [dim]this machine's[/dim]", show_default=False)
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="NAME", help="The tasks' group. [dim]default[/dim]", show_default=False)
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Begin each name with this.", show_default=False)] = "",
    disabled: Annotated[bool, typer.Option("--disabled", help="Do not let the tasks fire yet.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would come of it; needs no server.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write a task file instead; needs no server."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a task of every line of a crontab; exit 1 if a line could not become one.

    Such as: crontab -l | hourhand import crontab -
    """
    from hourhand.cli import crontab_report
    from hourhand.rules import schedule
    from hourhand.rules.crontab import read_crontab
    from hourhand.rules.crontab_tasks import plan

    text = crontab_source.read(file)
    of_the_system = crontab_source.is_system(file, text, told=system)
    read = read_crontab(text, system=of_the_system)
    zone = timezone or crontab_source.local_zone()
    schedule.parse("@daily", zone or "UTC")  # refuses a --timezone that there is not
    found = plan(
        crontab_source.of_user(read, user_name),
        timezone=zone or "UTC",
        homes=crontab_source.home_of,
        prefix=prefix,
        group=group,
        enabled=not disabled,
    )
    report = crontab_report.Report(file, found, zone=zone, system=of_the_system)
    if output is not None:
        _write(output, found)
        report.lines = [crontab_report.Line(one, "written") for one in found.tasks]
        report.written = str(output)
    elif dry_run:
        report.lines = [crontab_report.Line(one, "planned") for one in found.tasks]
    else:
        report.lines = _import(found)
    if as_json:
        print_json(report.as_json())
    else:
        report.show()
    if report.refused:
        raise typer.Exit(1)


def _import(found: Plan) -> list[Line]:
    """All of it or nothing; where an answer does not come, another import finds out which of both it was."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        lines = [_compared(rest, one) for one in found.tasks]
        new = [line for line in lines if line.state == "new"]
        if not new:
            return lines
        if "group" in new[0].planned.fields:
            rest.group(new[0].planned.fields["group"])
        made = rest.post("/tasks/batch", tasks=[dict(line.planned.fields) for line in new])["items"]
        for line, task in zip(new, made, strict=True):
            line.task = task
            line.state = "added"
    return lines


def _compared(rest: Rest, planned: Planned) -> Line:
    """What is to be done: nothing for a task that is there already."""
    from hourhand.cli.crontab_report import Line
    from hourhand.rules.crontab_tasks import differences, same_command

    items = rest.get("/tasks", name=planned.fields["name"])["items"]
    if not items:
        return Line(planned, "new")
    task: Json = items[0]
    if not same_command(planned, task["payload"]):
        return Line(planned, "taken", task)
    return Line(planned, "changed" if differences(planned, task) else "unchanged", task)


def _write(path: Path, found: Plan) -> None:
    from hourhand.cli.file_writing import write_file
    from hourhand.cli.yaml_writing import write_yaml

    head = "# yaml-language-server: $schema=http://127.0.0.1:8420/api/v1/task-file.schema.json\n"
    tasks = [dict(one.fields) for one in found.tasks]
    groups = sorted({task["group"] for task in tasks if "group" in task})
    document = write_yaml(({"groups": groups} if groups else {}) | {"tasks": tasks})
    try:
        write_file(path, head + document)
    except FileExistsError:
        raise InvalidInput.one("--output", str(path), f"{str(path)!r} is there already: name another file") from None
    except OSError as error:
        raise InvalidInput.one("--output", str(path), f"{str(path)!r} cannot be written: {error.strerror}") from None
