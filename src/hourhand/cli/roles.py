"""`hourhand serve | scheduler | executor | api`: the processes."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from hourhand.cli import demo as samples
from hourhand.cli import options

if TYPE_CHECKING:
    from hourhand.bootstrap import AdminToken
    from hourhand.sdk.app import App
    from hourhand.settings import Settings
    from hourhand.store import Store


def serve(
    app: options.AppName = None,
    *,
    store: options.Store = None,
    data_dir: options.DataDir = None,
    host: options.Host = None,
    port: options.Port = None,
    allow_remote: options.AllowRemote = False,
    metrics_port: options.MetricsPort = None,
    group: options.Group = None,
    concurrency: options.Concurrency = None,
    migrate: options.Migrate = False,
    demo: options.Demo = False,
    reload: options.Reload = False,
) -> None:
    """Start everything in one process: API, scheduler and an executor; stop it with Ctrl-C."""
    settings = _settings(
        store=store,
        data_dir=data_dir,
        host=host,
        port=port,
        allow_remote=allow_remote or None,
        group=group,
        concurrency=concurrency,
        metrics_port=metrics_port,
    )
    if reload:
        _reload(settings, app)
    loaded = _load(app)
    # The default group too: what is added by hand goes there, and whoever starts everything expects it to run.
    groups = {settings.group} | ({loaded.group} if loaded else set())
    _serve(settings, loaded, groups=tuple(sorted(groups)), scheduling=True, migrate=migrate, demo=demo)


def api(
    *,
    store: options.Store = None,
    data_dir: options.DataDir = None,
    host: options.Host = None,
    port: options.Port = None,
    allow_remote: options.AllowRemote = False,
    metrics_port: options.MetricsPort = None,
    migrate: options.Migrate = False,
) -> None:
    """Start the API alone; schedulers and executors are processes of their own."""
    settings = _settings(
        store=store,
        data_dir=data_dir,
        host=host,
        port=port,
        allow_remote=allow_remote or None,
        metrics_port=metrics_port,
    )
    _serve(settings, None, groups=(), scheduling=False, migrate=migrate)


def scheduler(
    *,
    store: options.Store = None,
    data_dir: options.DataDir = None,
    metrics_port: options.MetricsPort = None,
    migrate: options.Migrate = False,
) -> None:
    """Start a scheduler; any number of them may run, there is no leader."""
    settings = _settings(store=store, data_dir=data_dir, metrics_port=metrics_port)
    _work(settings, None, groups=(), scheduling=True, migrate=migrate, what="scheduler")


def executor(
    app: options.AppName = None,
    *,
    store: options.Store = None,
    data_dir: options.DataDir = None,
    group: options.Group = None,
    concurrency: options.Concurrency = None,
    metrics_port: options.MetricsPort = None,
    migrate: options.Migrate = False,
) -> None:
    """Start an executor, with an app's handlers if one is named; the app's tasks are declared in the store."""
    settings = _settings(
        store=store, data_dir=data_dir, group=group, concurrency=concurrency, metrics_port=metrics_port
    )
    loaded = _load(app)
    served = settings.group if loaded is None or "group" in settings.model_fields_set else loaded.group
    what = f"executor of group {served!r}"
    _work(settings, loaded, groups=(served,), scheduling=False, migrate=migrate, what=what)


def _settings(**flags: object) -> Settings:
    from hourhand.settings import load_settings

    return load_settings(**flags)


def _reload(settings: Settings, app: str | None) -> NoReturn:
    from hourhand.cli.reloading import Reloading
    from hourhand.model.errors import InvalidInput

    if app is None:
        raise InvalidInput.one("--reload", None, "is given without an app: name one, such as billing:app")
    raise typer.Exit(Reloading(settings, sys.argv[1:], Path.cwd()).run())


def _load(name: str | None) -> App | None:
    if name is None:
        return None
    from hourhand.sdk.loading import load_app

    return load_app(name)


def _serve(
    settings: Settings,
    app: App | None,
    *,
    groups: tuple[str, ...],
    scheduling: bool,
    migrate: bool,
    demo: bool = False,
) -> None:
    from hourhand.api import server
    from hourhand.bootstrap.engine import Work

    handlers = app.handlers if app else {}
    work = Work(scheduling=scheduling, groups=groups, handlers=handlers, demo=samples.handlers if groups else None)
    told: list[str] = []

    async def prepare(store: Store, address: str) -> None:
        await _declare(app, store)
        if groups and (of_the_demo := await samples.at_start(store, settings, address, wanted=demo)):
            told.append(f"  demo        {of_the_demo}")

    _run(
        server.serve(
            settings,
            lambda address, token: announce(settings, address, token, told),
            work=work,
            prepare=prepare,
            migrate=migrate,
        )
    )


def _work(
    settings: Settings, app: App | None, *, groups: tuple[str, ...], scheduling: bool, migrate: bool, what: str
) -> None:
    from hourhand import __version__
    from hourhand.bootstrap.engine import Work, run_alone

    work = Work(scheduling=scheduling, groups=groups, handlers=app.handlers if app else {})

    async def prepare(store: Store) -> None:
        await _declare(app, store)

    def started(_: Store) -> None:
        typer.echo(f"Hourhand {__version__}: {what} on {settings.shown_store}  (Ctrl-C stops it)")

    _run(run_alone(settings, work, started, prepare=prepare, migrate=migrate))


async def _declare(app: App | None, store: Store) -> None:
    if app is not None:
        from hourhand.sdk.declare import declare

        await declare(app, store)


def _run(process: Coroutine[Any, Any, None]) -> None:
    # The console shows what somebody should know; a handler's own records of level info reach its instance log.
    console = logging.StreamHandler()
    console.setLevel(logging.WARNING)
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO, handlers=[console]
    )
    # What is loaded by now stays: a full collection would look at all of it each time, for a tenth of a second.
    gc.collect()
    gc.freeze()
    with asyncio.Runner() as runner:
        runner.run(process)
    typer.echo("Hourhand has stopped.")


def announce(settings: Settings, address: str, token: AdminToken, more: Iterable[str] = ()) -> None:
    """Say where it listens, what it works on, and last how to sign in; never wrapped, so that it can be copied."""
    from hourhand import __version__
    from hourhand.bootstrap import TokenOrigin
    from hourhand.webui import is_built

    typer.echo(f"Hourhand {__version__} is serving {address}  (Ctrl-C stops it)")
    if not is_built():
        typer.echo(f"  web UI      it was not built: {address} says why, and what to do")
    typer.echo(f"  store       {settings.shown_store}")
    for line in more:
        typer.echo(line)
    match token.origin:
        case TokenOrigin.NEW:
            typer.echo(f"  admin token {token.file}  (made just now; this is the only time it is shown)")
            typer.echo(f"  sign in     {address}/sign-in#token={token.secret}")
        case TokenOrigin.FILE:
            typer.echo(f"  admin token {token.file}")
        case TokenOrigin.ELSEWHERE if settings.on_sqlite:
            typer.echo(
                f"  admin token this store has one, but its file {token.file} is gone: put it back, "
                "or stop and run `hourhand token create --local`"
            )
        case TokenOrigin.ELSEWHERE:
            typer.echo(
                "  admin token generated by another process of this cluster: it is in that process's data folder, "
                "in the file admin-token (or run `hourhand token create --local` here)"
            )
