"""`hourhand instance explain`: why an instance does not run yet, or why it ended as it did."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, clean, print_json, text_of
from hourhand.rules.endings import cancelled


def explain(
    instance_id: Annotated[
        int,
        typer.Argument(
            metavar="ID", min=1, help="The instance's id.", show_default=False, autocompletion=completing.instances
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Say why an instance is not running yet, or why it ended as it did."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(f"/instances/{instance_id}/explain")
    if as_json:
        print_json(found)
        return
    typer.echo(clean(found["summary"]))
    for reason in found["reasons"]:
        # The one that decides is often the whole sentence: it is not said twice.
        text = "" if reason["text"] in found["summary"] else f": {reason['text']}"
        typer.echo(clean(f"- {reason['code']}{text}"))
        for fact in (*_times(reason), *_data(reason)):
            typer.secho(clean(f"    {fact}"), dim=True)


def _times(reason: Json) -> list[str]:
    return [f"{name}: {moments.shown(reason[name])}" for name in ("since", "until") if reason.get(name)]


def _data(reason: Json) -> list[str]:
    # That it was cancelled, and by whom, is in the sentence already.
    unsaid: tuple[object, ...] = (None, "", [], {}, cancelled(str(reason["data"].get("by"))))
    return [f"{name}: {text_of(value)}" for name, value in reason["data"].items() if value not in unsaid]
