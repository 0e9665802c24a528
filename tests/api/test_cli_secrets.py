"""`hourhand secrets rotate`: whenever it is stopped, the store's secrets can be opened with a key that is on disk."""

from __future__ import annotations

import base64
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from api.cli import environment, run_here
from hourhand.bootstrap.alerts import build_post
from hourhand.bootstrap.secret_key import SecretKey, next_key_path
from hourhand.bootstrap.sources import build_sources
from hourhand.contracts.notifier import NotSent
from hourhand.contracts.sealing import NewSecret
from hourhand.model.alert import AlertDefinition, Failed, Target
from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.service.envelope import Unsealable
from hourhand.service.post import owner_of
from hourhand.settings import Settings
from hourhand.store import open_store
from serving import Served

if TYPE_CHECKING:
    from hourhand.model.alert import AlertRule

PASSWORD = "another canary"  # noqa: S105 - nobody else's
SHOP = Address(dialect=Dialect.POSTGRESQL, host="db.example.com", port=5432, database="shop")
TARGET = {"webhook": "http://127.0.0.1:9/", "secret": "canary"}


@dataclass
class Sealed:
    """A store with one alert rule, whose target is sealed."""

    url: str
    folder: Path
    settings: Settings

    def rotate(self, *arguments: str, **more: str) -> Any:
        return run_here(self.folder, "secrets", "rotate", "--store", self.url, *arguments, **more)

    async def opens(self, **changes: Any) -> bool:
        """Whether a process with this key, or the one in the data folder, can open the secrets: all or none."""
        settings = Settings(store=self.url, data_dir=self.settings.data_dir, **changes)
        sent = await self._sends(settings)
        assert await self._connects(settings) is sent
        return sent

    async def _connects(self, settings: Settings) -> bool:
        store = await open_store(self.url)
        try:
            (source,) = await store.list_data_sources()
            opened = await build_sources(settings, store).address_of(source)
        except Unsealable:
            return False
        finally:
            await store.close()
        return opened.password == PASSWORD

    async def _sends(self, settings: Settings) -> bool:
        store = await open_store(self.url)
        try:
            post = build_post(settings, store, serving=True)
            (rule,) = (await store.list_alert_rules()).items
            try:
                await post.send(rule.targets[0], {"notice": "x"})
            except NotSent as error:
                return "sealed" not in str(error) and "key" not in str(error).lower()
            finally:
                await post.close()
        finally:
            await store.close()
        return True


async def _make(settings: Settings) -> AlertRule:
    store = await open_store(settings.store)
    try:
        post = build_post(settings, store, serving=True)
        targets = await post.sealed([TARGET])
        await post.close()
        secret = await build_sources(settings, store).secret(PASSWORD)
        await store.add_data_source("shop", SHOP, secret, by="test")
        return await store.create_alert_rule(AlertDefinition(name="told", condition=Failed()), targets, by="test")
    finally:
        await store.close()


@pytest.fixture
async def on_sqlite(sqlite_url: str, tmp_path: Path) -> Sealed:
    settings = Settings(store=sqlite_url, data_dir=tmp_path / "hourhand-data")
    await _make(settings)
    return Sealed(sqlite_url, tmp_path, settings)


OLD = base64.b64encode(b"o" * 32).decode()


@pytest.fixture
async def on_postgresql(postgresql_url: str, tmp_path: Path) -> Sealed:
    settings = Settings(store=postgresql_url, data_dir=tmp_path / "hourhand-data", secret_key=OLD)  # type: ignore[arg-type]
    await _make(settings)
    return Sealed(postgresql_url, tmp_path, settings)


async def _rotated(sealed: Sealed, *arguments: str, **more: str) -> Any:
    import asyncio  # noqa: PLC0415 - a loop of its own is begun by the command

    return await asyncio.to_thread(sealed.rotate, *arguments, **more)


async def test_on_sqlite_the_new_key_takes_the_old_ones_place(on_sqlite: Sealed) -> None:
    file = on_sqlite.settings.secret_key_path
    before = file.read_text()
    ran = await _rotated(on_sqlite)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"2 secrets sealed with the new key, which is in {file}.")
    assert file.read_text() != before
    assert file.stat().st_mode & 0o777 == 0o600
    assert not next_key_path(on_sqlite.settings).exists()
    assert await on_sqlite.opens()
    assert not await on_sqlite.opens(secret_key=before.strip())


async def test_a_key_of_ones_own_may_be_given(on_sqlite: Sealed, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text(base64.b64encode(b"m" * 32).decode())
    file.chmod(0o600)
    assert (await _rotated(on_sqlite, "--new-key-file", str(file))).code == 0
    assert on_sqlite.settings.secret_key_path.read_text().strip() == file.read_text().strip()
    assert await on_sqlite.opens()
    again = await _rotated(on_sqlite, "--new-key-file", str(file))
    assert again.code == 2
    assert "holds the key that is in use" in again.err


async def test_on_a_cluster_the_new_key_goes_into_a_file(on_postgresql: Sealed, tmp_path: Path) -> None:
    file = tmp_path / "new-key"
    missing = await _rotated(on_postgresql, HOURHAND_SECRET_KEY=OLD)
    assert (missing.code, missing.out) == (2, "")
    assert "--new-key-file: is missing" in missing.err
    ran = await _rotated(on_postgresql, "--new-key-file", str(file), HOURHAND_SECRET_KEY=OLD)
    assert (ran.code, ran.err) == (0, "")
    assert f"export HOURHAND_SECRET_KEY_FILE={file}" in ran.out
    assert file.stat().st_mode & 0o777 == 0o600
    assert await on_postgresql.opens(secret_key_file=file)
    assert not await on_postgresql.opens(secret_key=OLD)
    again = await _rotated(on_postgresql, "--new-key-file", str(file), HOURHAND_SECRET_KEY=OLD)
    assert again.code == 0
    assert "sealed with the key in" in again.err
    back = tmp_path / "third"
    changed = await _rotated(on_postgresql, "--new-key-file", str(back), HOURHAND_SECRET_KEY_FILE=str(file))
    assert changed.code == 0
    assert await on_postgresql.opens(secret_key_file=back)


async def test_without_the_old_key_nothing_is_changed(on_postgresql: Sealed, tmp_path: Path) -> None:
    file = tmp_path / "new-key"
    wrong = base64.b64encode(b"w" * 32).decode()
    for more in ({"HOURHAND_SECRET_KEY": wrong}, {}):
        refused = await _rotated(on_postgresql, "--new-key-file", str(file), **more)
        assert (refused.code, refused.out) == (2, "")
        assert "HOURHAND_SECRET_KEY" in refused.err
    assert not file.exists()
    assert await on_postgresql.opens(secret_key=OLD)


async def test_what_cannot_be_opened_is_named_with_what_to_do(on_postgresql: Sealed, tmp_path: Path) -> None:
    store = await open_store(on_postgresql.url)
    try:
        (rule,) = (await store.list_alert_rules()).items
        lost = Target(id="x", kind="webhook", shown="https://lost/", sealed="AAAA", sealed_with=await store.key_check())
        await store.create_alert_rule(AlertDefinition(name="a lost one", condition=Failed()), [lost], by="test")
        check = await store.key_check() or ""
        strange = NewSecret(seal=lambda _: b"AAAA", sealed_with=check)
        await store.add_data_source("a lost one", SHOP, strange, by="test")
        file = tmp_path / "new-key"
        ran = await _rotated(on_postgresql, "--new-key-file", str(file), HOURHAND_SECRET_KEY=OLD)
        assert ran.code == 0
        assert ran.out.startswith("2 secrets sealed with the new key")
        assert "The password of data source 'a lost one' cannot be opened" in ran.err
        assert "hourhand datasource edit 'a lost one' --password-stdin" in ran.err
        assert "The target https://lost/ of alert rule 'a lost one' cannot be opened" in ran.err
        assert "hourhand alert edit 'a lost one' --to URL" in ran.err
        settings = Settings(store=on_postgresql.url, data_dir=tmp_path, secret_key_file=file)
        envelope = await SecretKey(settings, store).envelope()
        (target,) = (await store.get_alert_rule(rule.id)).targets
        assert b"canary" in envelope.open(base64.b64decode(target.sealed), belongs_to=owner_of(target.id))
    finally:
        await store.close()


async def test_a_process_that_runs_on_with_the_old_key_is_refused(on_postgresql: Sealed, tmp_path: Path) -> None:
    store = await open_store(on_postgresql.url)
    try:
        running = SecretKey(on_postgresql.settings, store)
        await running.envelope()
        assert (await _rotated(on_postgresql, "--new-key-file", str(tmp_path / "k"), HOURHAND_SECRET_KEY=OLD)).code == 0
        with pytest.raises(InvalidInput, match="is not the key"):
            await running.envelope()
    finally:
        await store.close()


def test_a_store_without_secrets_has_nothing_to_rotate(sqlite_url: str, tmp_path: Path) -> None:
    ran = run_here(tmp_path, "secrets", "rotate", "--store", sqlite_url)
    assert (ran.code, ran.out) == (0, "")
    assert "No secret is stored" in ran.err


def test_a_running_server_is_named(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        ran = run_here(tmp_path, "secrets", "rotate")
    assert ran.code == 1
    assert served.address in ran.err


KILLED = """
import os, signal, sys
from hourhand.bootstrap import rotation
from hourhand.store import Store
point = sys.argv.pop(1)

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def around(owner, name, when):
    original = getattr(owner, name)
    if when == "before":
        setattr(owner, name, killed)
    elif name == "reseal":
        async def reseal(*given, **more):
            await original(*given, **more)
            killed()
        setattr(owner, name, reseal)
    else:
        def changed(*given, **more):
            original(*given, **more)
            killed()
        setattr(owner, name, changed)

owner = {"_kept": rotation, "reseal": Store, "finished": rotation}
name, when = point.split()
if name == "finished":  # the first call looks for an earlier rotation's; the second ends this one
    calls, original = [], rotation.finished
    def finished(*given):
        calls.append(1)
        if len(calls) == 2 and when == "before":
            killed()
        result = original(*given)
        if len(calls) == 2:
            killed()
        return result
    rotation.finished = finished
else:
    around(owner[name], name, when)
from hourhand.cli.main import main
main(["secrets", "rotate", *sys.argv[1:]])
"""


def _killed(sealed: Sealed, point: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, point, "--store", sealed.url],
        cwd=sealed.folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done


@pytest.mark.parametrize(
    "point",
    ["_kept before", "_kept after", "reseal before", "reseal after", "finished before", "finished after"],
)
async def test_whenever_it_is_killed_the_secrets_can_be_opened(on_sqlite: Sealed, point: str) -> None:
    _killed(on_sqlite, point)
    assert await on_sqlite.opens()
    assert (await _rotated(on_sqlite)).code == 0
    assert await on_sqlite.opens()
    assert [one.name for one in on_sqlite.settings.data_dir.iterdir()] == ["secret-key"]


async def test_a_rotation_goes_on_where_one_was_killed(on_sqlite: Sealed) -> None:
    _killed(on_sqlite, "reseal after")
    half = next_key_path(on_sqlite.settings).read_text()
    assert (await _rotated(on_sqlite)).code == 0
    assert on_sqlite.settings.secret_key_path.read_text() != half
    assert await on_sqlite.opens()
