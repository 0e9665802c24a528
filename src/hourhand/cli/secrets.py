"""`hourhand secrets`: the key that the store's secrets are sealed with."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli import options
from hourhand.cli.printing import AsJson, note, plural, print_json

if TYPE_CHECKING:
    from hourhand.model.sealing import Unopened, UnopenedSource

app = typer.Typer(name="secrets", help="Look after the key that stored secrets are sealed with.", no_args_is_help=True)


@app.command()
def rotate(
    *,
    store: options.Store = None,
    data_dir: options.DataDir = None,
    new_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The new key, 32 bytes in base64; made if it is not there. [dim]SQLite: its data folder's own[/dim]",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Seal every stored secret with a new key, all or none; the key in use must be given as ever.

    What that key cannot open is left as it is, and named.
    """
    from hourhand.bootstrap.rotation import rotate as rotated
    from hourhand.settings import load_settings

    settings = load_settings(store=store, data_dir=data_dir)
    done = asyncio.run(rotated(settings, None if new_key_file is None else new_key_file.absolute()))
    if as_json:
        print_json(
            {"secrets": done.secrets, "key_file": done.key_file and str(done.key_file), "in_place": done.in_place}
        )
        return
    if done.secrets is None:
        note("No secret is stored, so that there is nothing to seal anew: the first is sealed with the key of then.")
        return
    if done.already:
        note(
            f"The secrets are sealed with the key in {done.key_file} already, and this is not yet the one in use here."
        )
    else:
        typer.echo(f"{plural(done.secrets, 'secret')} sealed with the new key, which is in {done.key_file}.")
    for one in done.unopened:
        note(_left(one))
    if done.in_place:
        typer.echo("It has taken the old one's place. Backups from before need the old key, if you kept one.")
        return
    typer.echo(
        "Until they are started with the new key, running processes can neither send alerts nor open data sources:"
    )
    typer.echo(f"  export HOURHAND_SECRET_KEY_FILE={shlex.quote(str(done.key_file))}; unset HOURHAND_SECRET_KEY")


def _left(one: Unopened | UnopenedSource) -> str:
    from hourhand.model.sealing import UnopenedSource

    if isinstance(one, UnopenedSource):
        again = f"hourhand datasource edit {shlex.quote(one.name)} --password-stdin"
        return (
            f"The password of data source {one.name!r} cannot be opened with the key in use, and is left as it was: "
            f"give it again by `{again}`, or delete the data source."
        )
    again = f"hourhand alert edit {shlex.quote(one.rule)} --to URL"
    return (
        f"The target {one.target} of alert rule {one.rule!r} cannot be opened with the key in use, and is left as it "
        f"was: write it again by `{again}`, or delete the rule."
    )
