"""`hourhand alert`: who is told of what."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.alert_options import WORDS, AlertOptions
from hourhand.cli.flattening import flattened
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, plural, print_facts, print_json, print_table, say, text_of
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput

app = typer.Typer(name="alert", help="Look after alert rules: who is told of what.", no_args_is_help=True)
Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The rule's name.", show_default=False, autocompletion=completing.alert_rules),
]
Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


@app.command()
@flattened(AlertOptions)
def add(name: Name, *, as_json: AsJson = False, options: AlertOptions) -> None:
    """Add a rule, such as: hourhand alert add nightly --when failed --task close_books --to URL."""
    from hourhand.cli.rest import connected

    fields = options.fields()
    if "condition" not in fields:
        raise InvalidInput.one("--when", None, "is missing: say of what to tell, such as --when failed")
    with connected() as rest, in_words_of(WORDS):
        rule = rest.post("/alert-rules", **(fields | {"name": name}))
    if as_json:
        print_json(rule)
        return
    typer.echo(f"Alert rule {name!r} is added: it looks at what happens from now on.")
    if rule["targets"]:
        targets = plural(len(rule["targets"]), "target")
        typer.echo(f"`hourhand alert test {shlex.quote(name)}` sends a test to {targets}.")
    else:
        note("It has no target, so that it tells nobody: `hourhand alert firing` shows what it finds.")


@app.command()
@flattened(AlertOptions)
def edit(
    name: Name,
    *,
    rename: Annotated[str | None, typer.Option(metavar="NAME", help="A new name.", show_default=False)] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Whether it looks at all.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    options: AlertOptions,
) -> None:
    """Change what is given of a rule; all else stays. --to and --webhook replace all targets."""
    from hourhand.cli.rest import connected

    switched = {"name": rename, "enabled": enabled}
    changes = options.fields() | {field: value for field, value in switched.items() if value is not None}
    if not changes:
        raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --when")
    with connected() as rest, in_words_of(WORDS | {"name": "--rename"}):
        rule = rest.patch(f"/alert-rules/{rest.alert_rule(name)['id']}", changes)
    if as_json:
        print_json(rule)
    else:
        typer.echo(f"Alert rule {rule['name']!r} is changed ({', '.join(changes)}).")


@app.command("list")
def list_rules(*, limit: Limit = 200, as_json: AsJson = False) -> None:
    """List alert rules, by name."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.some("/alert-rules", limit)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("There are no alert rules: `hourhand alert add`.")
        return
    print_table(
        (Column("NAME"), Column("WHEN"), Column("OF", 8), Column("STATE", 6), Column("TO", 7)),
        [
            (
                one["name"],
                _condition(one["condition"]),
                _scope(one["scope"]),
                "enabled" if one["enabled"] else "disabled",
                ", ".join(target["target"] for target in one["targets"]),
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the first {limit}: there are more (--limit).")


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that is known of a rule; its targets without their secrets."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        rule = rest.alert_rule(name)
    if as_json:
        print_json(rule)
        return
    told = {
        "condition": _condition(rule["condition"]),
        "scope": _scope(rule["scope"]),
        "targets": "\n".join(one["target"] for one in rule["targets"]),
        "created_at": moments.shown(rule["created_at"]),
        "updated_at": moments.shown(rule["updated_at"]),
    }
    print_facts(rule | told)


@app.command()
def delete(name: Name, *, as_json: AsJson = False) -> None:
    """Delete a rule; what it has not said yet is never said."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        rule = rest.alert_rule(name)
        rest.delete(f"/alert-rules/{rule['id']}")
    if as_json:
        print_json({"id": rule["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"Alert rule {name!r} is deleted.")


@app.command("test")
def send_test(name: Name, *, as_json: AsJson = False) -> None:
    """Send a test to each target now; exit 1 unless all got it."""
    from hourhand.cli.rest import connected

    with connected(patient=True) as rest:
        found = rest.post(f"/alert-rules/{rest.alert_rule(name)['id']}/test")
    if as_json:
        print_json(found)
    elif not found["targets"]:
        note("It has no target: `hourhand alert edit NAME --to URL`.")
    for one in [] if as_json else found["targets"]:
        say(f"{one['target']}: {'sent' if one['ok'] else one['error'].removeprefix(one['target']).strip()}")
    if not all(one["ok"] for one in found["targets"]):
        raise typer.Exit(1)


@app.command()
def firing(*, as_json: AsJson = False) -> None:
    """Show what the rules find just now."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get("/alerts")
    if as_json:
        print_json(found)
        return
    if not found["firing"]:
        note("Nothing fires.")
        return
    print_table(
        (Column("RULE"), Column("WHAT"), Column("SINCE", 7), Column("LAST TOLD", 4)),
        [
            (one["rule_name"], one["text"], moments.shown(one["firing_since"]), moments.shown(one["last_notified_at"]))
            for one in found["firing"]
        ],
    )


@app.command()
def notices(*, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List what was told to whom, newest first, and what could not be sent."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.some("/alerts", limit)
        if as_json:
            print_json({"firing": rest.get("/alerts", limit=1)["firing"], **found})
            return
    if not found["items"]:
        note("Nothing was told yet.")
        return
    print_table(
        (
            Column("AT", 7),
            Column("KIND", 5),
            Column("NOTICE"),
            Column("TO", 6),
            Column("SENT", 8),
            Column("TRIES", 2, right=True),
            Column("ERROR", 7),
        ),
        [
            (
                moments.shown(one["created_at"]),
                one["kind"],
                one["title"],
                one["target"] or "",
                _sent(one),
                str(one["tries"]),
                one["last_error"] or "",
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the newest {limit}: there are more (--limit).")


def _condition(condition: Json) -> str:
    parameters = [f"{name}={text_of(value)}" for name, value in condition.items() if name != "kind"]
    return " ".join([condition["kind"], *parameters])


def _scope(scope: str | Json) -> str:
    if isinstance(scope, str):
        return scope
    ((kind, name),) = scope.items()
    return f"{kind} {name!r}"


def _sent(notice: Json) -> str:
    if notice["sent_at"]:
        return moments.shown(notice["sent_at"])
    return "given up" if notice["given_up_at"] else f"next try {moments.shown(notice['next_try_at'])}"
