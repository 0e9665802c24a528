"""`hourhand operation`: built-in work on data sources, shown before it is done."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hourhand.cli import completing, moments
from hourhand.cli.flattening import flattened
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table
from hourhand.model.errors import HourhandError, InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.operation_config import Configuration
    from hourhand.cli.rest import Rest

app = typer.Typer(
    name="operation", help="Work on data sources: look at what would be done, then start it.", no_args_is_help=True
)
Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="Such as statistics_update; `hourhand operation kinds` lists them.",
        show_default=False,
        autocompletion=completing.operation_kinds,
    ),
]
InstanceId = Annotated[
    int,
    typer.Argument(
        metavar="ID", min=1, help="The instance's id.", show_default=False, autocompletion=completing.instances
    ),
]
_DIALECTS = ("postgresql", "mariadb", "mysql", "sqlite", "sqlserver")
_NO = "refused"


def _option(help_: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    return typer.Option(*names, help=help_, show_default=False, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOptions:
    """Where the configuration comes from."""

    file: Annotated[
        str | None, _option("A YAML file with the configuration, or - for standard input.", "--file", "-f")
    ] = None
    set: Annotated[
        list[str] | None, _option("A field over those of the file; JSON or a text; repeatable.", metavar="NAME=VALUE")
    ] = None

    def read(self, **more: Any) -> Configuration:  # noqa: ANN401 - JSON
        """The configuration, with fields that other options give."""
        from hourhand.cli.operation_config import read_config

        return read_config(self.file, self.set or [], more)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How it is started, and what is waited for."""

    priority: Annotated[int | None, _option("0 (highest) to 9.", min=0, max=9)] = None
    at: Annotated[str | None, _option("Not before this time; without an offset in UTC.", metavar="TIME")] = None
    notes: Annotated[str | None, _option("Why, for those who look at it later.")] = None
    key: Annotated[str | None, _option("While an instance with this key lives, take that one.")] = None
    held: Annotated[bool, _option("Leave it planned: somebody else dispatches it.", "--held")] = False
    yes: Annotated[bool, _option("Do not ask.", "--yes", "-y")] = False
    wait: Annotated[bool, _option("Wait for its end; exit 1 unless it succeeds.", "--wait")] = False
    follow: Annotated[bool, _option("The same, and print what it writes.", "--follow")] = False

    def body(self) -> Json:
        """What is told the server."""
        at = None if self.at is None else moments.read(self.at, "--at", "UTC")
        return {"priority": self.priority, "run_at": at, "notes": self.notes, "key": self.key, "held": self.held}


@app.command()
def kinds(*, as_json: AsJson = False) -> None:
    """List what can be done, and on which databases."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = [one for one in rest.get("/kinds")["items"] if one["role"] == "operation"]
    if as_json:
        print_json({"items": found, "next_cursor": None})
        return
    print_table(
        (
            Column("NO.", 6, right=True),
            Column("KIND"),
            Column("WHAT", 8),
            *[Column(name.upper(), 5) for name in _DIALECTS],
        ),
        [
            (str(one["number"]), one["name"], one["title"], *[_supported(one, name) for name in _DIALECTS])
            for one in found
        ],
    )


@app.command()
@flattened(ConfigOptions)
def preview(kind: Kind, *, as_json: AsJson = False, options: ConfigOptions) -> None:
    """Show what an operation would do now, such as: hourhand operation preview split_boundary -f split.yaml."""
    from hourhand.cli.operation_showing import print_preview
    from hourhand.cli.rest import connected

    config = options.read()
    with connected(patient=True) as rest:
        found = _previewed(rest, kind, config)
    if as_json:
        print_json(found)
    else:
        print_preview(found)


@app.command()
@flattened(StartOptions, "how")
@flattened(ConfigOptions)
def start(
    kind: Kind,
    *,
    plan_hash: Annotated[
        str | None, _option("The plan that was approved; started only if it is still the one.")
    ] = None,
    dry_run: Annotated[bool, _option("Let the executor look, plan and check only.", "--dry-run")] = False,
    as_json: AsJson = False,
    options: ConfigOptions,
    how: StartOptions,
) -> None:
    """Show what an operation would do, ask, and start it; without a terminal --yes or --plan-hash is needed."""
    from hourhand.cli.rest import connected

    config = options.read(dry_run=True if dry_run else None)
    with connected(patient=True) as rest:
        _started(rest, kind, config, how, plan_hash=plan_hash, as_json=as_json)


@app.command()
@flattened(StartOptions, "how")
def undo(instance: InstanceId, *, as_json: AsJson = False, how: StartOptions) -> None:
    """Take back what an operation has done, by the operation that does so."""
    from hourhand.cli.operation_config import Configuration
    from hourhand.cli.rest import connected

    with connected(patient=True) as rest:
        found = rest.get(f"/instances/{instance}/undo")
        _started(rest, found["kind"], Configuration(found["config"]), how, seen=found["preview"], as_json=as_json)


@app.command()
@flattened(StartOptions, "how")
def sample(
    *,
    data_source: Annotated[
        str, _option("The data source to make it in.", metavar="NAME", autocompletion=completing.data_sources)
    ],
    rows: Annotated[int | None, _option("How many rows. [dim]1,000,000[/dim]", min=1)] = None,
    table: Annotated[str | None, _option("The table's name. [dim]hourhand_sample_orders[/dim]")] = None,
    as_json: AsJson = False,
    how: StartOptions,
) -> None:
    """Make a table with many rows, to try the other operations on."""
    from hourhand.cli.operation_config import read_config
    from hourhand.cli.rest import connected

    config = read_config(None, (), {"data_source": data_source, "rows": rows, "table": table})
    with connected(patient=True) as rest:
        _started(rest, "sample", config, how, as_json=as_json)


def _previewed(rest: Rest, kind: str, config: Configuration) -> Json:
    with config.placed():
        found: Json = rest.post(f"/operations/{_word(kind)}/preview", config=config.values)
    return found


def _started(
    rest: Rest,
    kind: str,
    config: Configuration,
    how: StartOptions,
    *,
    plan_hash: str | None = None,
    seen: Json | None = None,
    as_json: bool,
) -> None:
    """Start what was approved: the plan that is shown here, or the one that was named."""
    if plan_hash is None:
        _require_somebody(how, as_json=as_json)
        seen = seen or _previewed(rest, kind, config)
        _approved(seen, how, quiet=as_json)
        plan_hash = seen["plan_hash"]
    with config.placed():
        instance = rest.post(f"/operations/{_word(kind)}", config=config.values, plan_hash=plan_hash, **how.body())
    if instance["existing"] and not as_json:
        note(f"This is the living instance {instance['id']} with that key: no new one was made.")
    if (how.wait or how.follow) and not how.held:
        from hourhand.cli import following

        following.to_the_end(rest, instance, follow=how.follow, as_json=as_json)
    elif as_json:
        print_json(instance)
    else:
        goes_on = f": `hourhand instance dispatch {instance['id']}` lets it go on" if how.held else ""
        typer.echo(f"Instance {instance['id']} of {instance['task_name']} is {instance['status']}{goes_on}.")


def _require_somebody(how: StartOptions, *, as_json: bool) -> None:
    if not how.yes and (as_json or not sys.stdin.isatty()):
        raise InvalidInput.one(
            "--yes",
            None,
            "is needed where nobody can be asked: or give --plan-hash, that of a preview which somebody has approved",
        )


def _approved(seen: Json, how: StartOptions, *, quiet: bool) -> None:
    from hourhand.cli.operation_showing import print_preview, unmet

    if not quiet:
        print_preview(seen)
    if found := unmet(seen):
        raise HourhandError("; ".join(found))
    if not how.yes and not typer.confirm(f"Start {seen['kind']} on {seen['data_source']}?", err=True):
        note("Nothing was started.")
        raise typer.Exit(1)


def _word(kind: str) -> str:
    from urllib.parse import quote

    return quote(kind, safe="")


def _supported(kind: Json, dialect: str) -> str:
    support = str(kind["dialects"][dialect]["support"])
    return "no" if support == _NO else support
