"""Testing: a real server with an app, in this process and a folder of its own, for as long as a test needs it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from hourhand.api import server
from hourhand.bootstrap import AdminToken
from hourhand.bootstrap.engine import Work
from hourhand.model.errors import HourhandError, InvalidInput
from hourhand.model.instance import Instance
from hourhand.sdk.app import App
from hourhand.sdk.client import Client
from hourhand.sdk.declare import declare
from hourhand.sdk.loading import load_app
from hourhand.service.signals import Stopping
from hourhand.settings import Settings
from hourhand.store import Store
from hourhand.testing.records import listening

START_SECONDS = 60.0
RUN_SECONDS = 60.0
DRAIN_SECONDS = 5.0
"""What runs when a server is stopped has this long to end; then it is handed back."""
_QUICK: Mapping[str, Any] = {"heartbeat_seconds": 1.0, "lease_seconds": 5.0, "grace_seconds": 2.0}


class _OwnSettings(Settings):
    """Only what the test chose: neither the environment nor a `hourhand.toml` of the project plays a part."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  # the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read what was given."""
        return (init_settings,)


class TestServer:
    """`with serving(app) as server:`, or `async with`: API, scheduler and an executor with the app's handlers.

    Handlers run in this process, so that they see what a test has patched. The store is an SQLite file that is gone
    afterwards, unless `store` names another.
    """

    __test__ = False  # for pytest: not a class of tests

    def __init__(self, app: App | str | None = None, *, store: str | None = None, **settings: object) -> None:
        self.app = load_app(app) if isinstance(app, str) else app
        if self.app is not None:
            _find(self.app)
        self._chosen = {"port": 0, **_QUICK, **settings, **({} if store is None else {"store": store})}
        self._kept = contextlib.ExitStack()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: Stopping | None = None
        self._failed: BaseException | None = None
        self._address = ""
        self._token = ""
        self._client: Client | None = None

    def __enter__(self) -> Self:
        """Start it."""
        try:
            self._start().result(START_SECONDS)
        except BaseException:
            self._give_up()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, and remove its folder."""
        if self._client is not None:
            self._client.sync.close()
        self._stop()

    async def __aenter__(self) -> Self:
        """Start it."""
        try:
            await asyncio.wait_for(asyncio.wrap_future(self._start()), START_SECONDS)
        except BaseException:
            await asyncio.to_thread(self._give_up)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop it, and remove its folder."""
        if self._client is not None:
            await self._client.close()
        await asyncio.to_thread(self._stop)

    @property
    def url(self) -> str:
        """Where it listens."""
        self._require_running()
        return self._address

    @property
    def token(self) -> str:
        """Its admin token."""
        self._require_running()
        return self._token

    @property
    def client(self) -> Client:
        """A client of it; `client.sync` in tests without a loop."""
        self._require_running()
        if self._client is None:
            self._client = Client(url=self._address, token=self._token)
        return self._client

    def run(self, task: str, args: Mapping[str, Any] | None = None, *, timeout: float = RUN_SECONDS) -> Instance:
        """Submit an instance of the task, and wait for its end."""
        client = self.client.sync
        return client.wait(client.submit(task, args).id, timeout)

    async def run_async(
        self,
        task: str,
        args: Mapping[str, Any] | None = None,
        *,
        timeout: float = RUN_SECONDS,  # noqa: ASYNC109 - as `Client.wait`
    ) -> Instance:
        """Do the same in a test that is `async def`."""
        return await self.client.wait((await self.client.submit(task, args)).id, timeout)

    def _require_running(self) -> None:
        if not self._address:
            raise HourhandError("the server is not running: use it inside `with serving(…) as server:`")

    def _start(self) -> Future[None]:
        if self._thread is not None:
            raise HourhandError("the server runs already: make another with serving(…)")
        folder = self._kept.enter_context(tempfile.TemporaryDirectory(prefix="hourhand-test-"))
        self._kept.enter_context(listening())
        started: Future[None] = Future()
        try:
            settings = _OwnSettings(**{"data_dir": Path(folder), **self._chosen})
        except ValueError as error:
            raise InvalidInput.one("settings", None, f"cannot be used: {error}") from None
        self._thread = threading.Thread(target=self._serve, args=(settings, started), name="hourhand-test-server")
        self._thread.daemon = True  # a test run that is interrupted need not wait for it
        self._thread.start()
        return started

    def _serve(self, settings: Settings, started: Future[None]) -> None:
        """In the thread."""
        try:
            with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
                runner.run(self._serve_until_told(settings, started))
        except BaseException as error:  # noqa: BLE001 - it is for who started this
            self._failed = error
            if not started.done():
                started.set_exception(error)

    async def _serve_until_told(self, settings: Settings, started: Future[None]) -> None:
        self._loop, self._told = asyncio.get_running_loop(), Stopping()
        app = self.app
        groups = {settings.group} | ({app.group} if app else set())

        async def prepare(store: Store, _address: str) -> None:
            if app is not None:
                await declare(app, store)

        def announce(address: str, token: AdminToken) -> None:
            self._address = address
            self._token = token.file.read_text("ascii").strip()
            started.set_result(None)

        work = Work(scheduling=True, groups=tuple(sorted(groups)), handlers=app.handlers if app else {})
        await server.serve(settings, announce, work=work, prepare=prepare, migrate=True, told=self._told)

    def _give_up(self) -> None:
        """What it failed of is being raised."""
        with contextlib.suppress(HourhandError):
            self._stop()

    def _stop(self) -> None:
        thread, self._thread, self._address, self._client = self._thread, None, "", None
        if thread is not None and self._loop is not None and self._told is not None and thread.is_alive():
            self._loop.call_soon_threadsafe(self._told.told)
            thread.join(DRAIN_SECONDS)
            if thread.is_alive():
                self._loop.call_soon_threadsafe(self._told.told)
                thread.join()
        self._kept.close()
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise HourhandError(f"the test server has failed: {failed}") from failed


def serving(app: App | str | None = None, *, store: str | None = None, **settings: object) -> TestServer:
    """A server with this app, or the one that `module:app` names; settings are those of `hourhand serve`."""
    return TestServer(app, store=store, **settings)


def _find(app: App) -> None:
    """Tell its handlers where a process of their own finds them, if some module has the app."""
    for name, module in list(sys.modules.items()):
        found = next((one for one, value in list(vars(module).items()) if value is app), None) if module else None
        if found is not None and name != "__main__":
            for handler in app.handlers.values():
                handler.source = handler.source or f"{name}:{found}"
            return
