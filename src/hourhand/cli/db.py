"""`hourhand db`: the schema of the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli.printing import AsJson, print_json
from hourhand.model.errors import SchemaTooOld

if TYPE_CHECKING:
    from hourhand.settings import Settings

app = typer.Typer(name="db", help="Look after the store's schema.", no_args_is_help=True)
DataDirOption = Annotated[Path | None, typer.Option(help="The data folder of the store. [dim]./hourhand-data[/dim]")]
StoreOption = Annotated[
    str | None, typer.Option(help="sqlite:///file.db or postgresql://user:password@host/database.", show_default=False)
]


@app.command()
def upgrade(store: StoreOption = None, data_dir: DataDirOption = None, *, as_json: AsJson = False) -> None:
    """Bring the schema to the newest revision this program knows."""
    settings = _settings(store, data_dir)
    from hourhand.bootstrap import upgrade_store

    before, after = asyncio.run(upgrade_store(settings))
    if as_json:
        print_json({"store": settings.shown_store, "before": before, "revision": after})
        return
    if before == after:
        typer.echo(f"{settings.shown_store} is at {after} already: nothing to do.")
        return
    typer.echo(f"{settings.shown_store}: upgraded from {before or 'an empty database'} to {after}.")
    if before and settings.on_sqlite:
        typer.echo(f"The file as it was before is kept next to it, named after its revision: *.{before}.bak")


@app.command()
def check(store: StoreOption = None, data_dir: DataDirOption = None, *, as_json: AsJson = False) -> None:
    """Say whether the schema is the one this program needs; exit 1 if it is not."""
    settings = _settings(store, data_dir)
    from hourhand.bootstrap import require_current, store_revision

    current, newest = asyncio.run(store_revision(settings))
    if as_json:
        print_json({"store": settings.shown_store, "revision": current, "newest": newest})
    if current is None:
        flag = f" --store {settings.shown_store}" if store else f" --data-dir {data_dir}" if data_dir else ""
        raise SchemaTooOld(
            f"{settings.shown_store} has no schema yet; this program needs {newest}: run `hourhand db upgrade{flag}`"
        )
    asyncio.run(require_current(settings))
    if not as_json:
        typer.echo(f"{settings.shown_store} is at {current}, the newest revision.")


def _settings(store: str | None, data_dir: Path | None) -> Settings:
    from hourhand.settings import load_settings

    return load_settings(store=store, data_dir=data_dir)
