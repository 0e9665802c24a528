"""Data sources on real servers: what each says of a wrong password, database or certificate, and what it speaks."""

from __future__ import annotations

import base64
import os
import re
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from api.answers import API, ok, refused
from api.in_process import serving
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.sessions import open_session
from hourhand.settings import Settings
from hourhand.store import open_store
from mariadb import PASSWORD, USERNAME, MariaServer
from postgres import RUN_AS, Cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    import httpx

SOURCES = f"{API}/data-sources"
WORD = "seven quiet@otters/100%"
CANARY = "canary7f3a"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "data-sources.md"


@dataclass(frozen=True)
class Guarded:
    """A PostgreSQL server that wants a password, and can prove who it is."""

    port: int
    certificate: Path
    server: Cluster

    def url(self, user: str = "ann", word: str = WORD, database: str = "shop", query: str = "") -> str:
        return f"postgresql://{user}:{quote(word, safe='')}@127.0.0.1:{self.port}/{database}{query}"


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that vouches for itself; its file, and that of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "server.crt", folder / "server.key"
    files[0].write_bytes(made.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    files[1].chmod(0o600)
    return files


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    server = Cluster()
    try:
        server.start()
        server.sql(f"CREATE ROLE ann LOGIN PASSWORD '{WORD}'")
        server.sql("CREATE ROLE owner; GRANT owner TO ann")
        server.create_database(name="shop")
        certificate, key = _certificate(server.data)
        if os.geteuid() == 0:
            shutil.chown(certificate, RUN_AS, RUN_AS)
            shutil.chown(key, RUN_AS, RUN_AS)
        (server.data / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        with (server.data / "postgresql.conf").open("a") as conf:
            conf.write("ssl = on\n")
        server.restart()
        copy = tmp_path_factory.mktemp("tls") / "ca.pem"
        shutil.copyfile(certificate, copy)
        yield Guarded(server.port, copy, server)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def maria() -> Iterator[MariaServer]:
    server = MariaServer()
    try:
        server.start()
        server.create_database("shop")
        yield server
    finally:
        server.stop()


@pytest.fixture
async def sealing(sqlite_url: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    store = await open_store(sqlite_url)
    try:
        async with serving(store, Settings(store=sqlite_url, data_dir=tmp_path / "data")) as client:
            yield client
    finally:
        await store.close()


async def add(client: httpx.AsyncClient, url: str, **more: Any) -> Any:
    return ok(await client.post(SOURCES, json={"name": "shop", "url": url, **more}), 201)


async def trial(client: httpx.AsyncClient, source: Any) -> Any:
    return ok(await client.post(f"{SOURCES}/{source['id']}/test"))


async def test_postgresql_answers_with_its_version_and_as_whom_it_knows_us(
    sealing: httpx.AsyncClient, guarded: Guarded
) -> None:
    made = await add(sealing, guarded.url())
    assert (made["dialect"], made["username"], made["has_password"]) == ("postgresql", "ann", True)
    found = await trial(sealing, made)
    assert (found["ok"], found["dialect"], found["user"]) == (True, "postgresql", "ann")
    assert int(found["version"].split(".")[0]) >= 13
    assert f"127.0.0.1:{guarded.port}/shop answers: PostgreSQL {found['version']}" in found["detail"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"word": CANARY}, "refuses the password of 'ann'"),
        ({"user": "nobody", "word": CANARY}, "refuses the password of 'nobody'"),
        ({"database": "none"}, 'database "none" does not exist'),
        ({"query": "?sslmode=verify-full&sslrootcert=/none.pem"}, "none.pem"),
        ({"query": "?role=nobody"}, "nobody"),
    ],
    ids=str,
)
async def test_what_postgresql_refuses_is_told(
    sealing: httpx.AsyncClient, guarded: Guarded, changes: dict[str, str], told: str
) -> None:
    answer = await sealing.post(SOURCES, json={"name": "shop", "url": guarded.url(**changes)})
    assert told in refused(answer)["url"]
    assert CANARY not in answer.text
    assert quote(WORD, safe="") not in answer.text
    made = await add(sealing, guarded.url(**changes), test=False)
    found = await trial(sealing, made)
    assert not found["ok"]
    assert told in found["detail"]


async def test_without_a_password_none_of_this_machine_is_used(
    sealing: httpx.AsyncClient, guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", WORD)
    url = f"postgresql://ann@127.0.0.1:{guarded.port}/shop"
    assert "refuses the password" in refused(await sealing.post(SOURCES, json={"name": "shop", "url": url}))["url"]
    await add(sealing, url, password=WORD)


async def test_a_role_is_taken_on(sealing: httpx.AsyncClient, guarded: Guarded) -> None:
    made = await add(sealing, guarded.url(query="?role=owner"))
    assert (await trial(sealing, made))["user"] == "owner"


async def test_a_server_must_prove_who_it_is_if_it_is_asked_to(sealing: httpx.AsyncClient, guarded: Guarded) -> None:
    trusted = f"?sslmode=verify-full&sslrootcert={guarded.certificate}"
    made = await add(sealing, guarded.url(query=trusted))
    assert made["options"] == {"sslmode": "verify-full", "sslrootcert": str(guarded.certificate)}
    assert (await trial(sealing, made))["ok"]
    where = f"{SOURCES}/{made['id']}"
    other, _ = _certificate(guarded.certificate.parent)
    wrong = {"options": {"sslmode": "verify-full", "sslrootcert": str(other)}}
    assert "certificate" in refused(await sealing.patch(where, json=wrong))["host"].lower()
    assert ok(await sealing.get(where)) == made


async def test_an_edit_is_tried_with_the_password_that_is_kept(sealing: httpx.AsyncClient, guarded: Guarded) -> None:
    made = await add(sealing, guarded.url())
    where = f"{SOURCES}/{made['id']}"
    assert ok(await sealing.patch(where, json={"database": "postgres"}))["database"] == "postgres"
    assert "refuses the password" in refused(await sealing.patch(where, json={"password": None}))["host"]
    assert "refuses the password" in refused(await sealing.patch(where, json={"password": CANARY}))["host"]
    assert (await trial(sealing, made))["ok"]


def maria_url(server: MariaServer, scheme: str, word: str = PASSWORD, database: str = "shop") -> str:
    return f"{scheme}://{USERNAME}:{quote(word, safe='')}@127.0.0.1:{server.port}/{database}"


async def test_mariadb_is_known_as_what_it_is(sealing: httpx.AsyncClient, maria: MariaServer) -> None:
    made = await add(sealing, maria_url(maria, "mysql"))
    assert made["dialect"] == "mariadb"
    blind = ok(
        await sealing.post(SOURCES, json={"name": "blind", "url": maria_url(maria, "mysql"), "test": False}), 201
    )
    assert blind["dialect"] == "mysql"
    found = await trial(sealing, blind)
    assert (found["ok"], found["dialect"]) == (True, "mariadb")
    assert found["user"].startswith(f"{USERNAME}@")
    assert "MariaDB" in found["detail"]
    after = ok(await sealing.get(f"{SOURCES}/{blind['id']}"))
    assert after == blind | {
        "dialect": "mariadb",
        "url": blind["url"].replace("mysql", "mariadb"),
        "updated_at": after["updated_at"],
    }
    assert (await trial(sealing, after))["ok"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"word": CANARY}, "refuses the user or the password"), ({"database": "none"}, "Unknown database 'none'")],
    ids=str,
)
async def test_what_mariadb_refuses_is_told(
    sealing: httpx.AsyncClient, maria: MariaServer, changes: dict[str, str], told: str
) -> None:
    answer = await sealing.post(SOURCES, json={"name": "shop", "url": maria_url(maria, "mariadb", **changes)})
    assert told in refused(answer)["url"]
    assert CANARY not in answer.text


async def test_a_certificate_that_is_not_there_is_told_of_mariadb_too(
    sealing: httpx.AsyncClient, maria: MariaServer
) -> None:
    url = maria_url(maria, "mariadb") + "?ssl_ca=/none.pem"
    assert "none.pem" in refused(await sealing.post(SOURCES, json={"name": "shop", "url": url}))["url"]


async def test_a_server_of_another_kind_is_told_of(
    sealing: httpx.AsyncClient, guarded: Guarded, maria: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hourhand.bootstrap.sources.SECONDS", 2.0)  # of which one says nothing at all
    for url in (
        guarded.url().replace("postgresql", "mariadb"),
        maria_url(maria, "postgresql"),
        f"postgresql://ann@{str(sealing.base_url).removeprefix('http://').rstrip('/')}/shop",
    ):
        told = refused(await sealing.post(SOURCES, json={"name": "shop", "url": url}))["url"]
        assert "cannot be reached" in told or "does not speak" in told or "has not answered" in told, told


async def test_the_key_is_that_of_the_store(sealing: httpx.AsyncClient, guarded: Guarded, tmp_path: Path) -> None:
    await add(sealing, guarded.url())
    assert len(base64.b64decode((tmp_path / "data" / "secret-key").read_text())) == 32


# What the page on data sources says that a database must give


def statements(number: int) -> list[str]:
    """Of one of the page's blocks of SQL."""
    block = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[number]
    lines = [line for line in block.splitlines() if not line.startswith("--")]
    return [one.strip() for one in "\n".join(lines).split(";") if one.strip()]


async def test_the_rights_of_the_page_are_enough_on_postgresql(guarded: Guarded) -> None:
    server = guarded.server
    for one in (
        "CREATE ROLE shop_owner",
        "CREATE SCHEMA archive",
        "CREATE TABLE orders (id int, day date) PARTITION BY RANGE (day)",
        "CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')",
        "CREATE INDEX orders_id ON orders_1 (id)",
        "ALTER TABLE orders OWNER TO shop_owner",
        "ALTER TABLE orders_1 OWNER TO shop_owner",
        *statements(0),
    ):
        server.sql(one, "shop")
    address = Address(
        dialect=Dialect.POSTGRESQL,
        host="127.0.0.1",
        port=guarded.port,
        database="shop",
        username="hourhand",
        password="seven-quiet-otters",  # noqa: S106 - the page's
        options={"role": "shop_owner"},
    )
    plain = await open_session(replace(address, options={}))
    owner = await open_session(address)
    try:
        await plain.execute("CREATE TABLE archive.old AS SELECT * FROM orders")
        await plain.execute("INSERT INTO archive.old VALUES (1, '2026-01-01')")
        await plain.execute("DELETE FROM orders WHERE id = 1")
        await owner.execute("CREATE TABLE orders_2 (LIKE orders INCLUDING ALL)")
        await owner.execute(
            "ALTER TABLE orders ATTACH PARTITION orders_2 FOR VALUES FROM ('2026-02-01') TO ('2026-03-01')"
        )
        await owner.execute("ALTER TABLE orders DETACH PARTITION orders_1 CONCURRENTLY")
        await owner.execute("REINDEX INDEX CONCURRENTLY orders_id")
        await owner.execute("ANALYZE orders")
        (made,) = await owner.fetch("SELECT tableowner FROM pg_tables WHERE tablename = 'orders_2'")
        assert made["tableowner"] == "shop_owner"
    finally:
        await plain.close()
        await owner.close()


async def test_the_rights_of_the_page_are_enough_on_mariadb(maria: MariaServer) -> None:
    maria.create_database("archive")
    parts = "(PARTITION p1 VALUES LESS THAN (10), PARTITION p2 VALUES LESS THAN (20))"
    for one in (
        f"CREATE TABLE shop.orders (id int PRIMARY KEY, note text) PARTITION BY RANGE (id) {parts}",
        *(one.replace("'hourhand'", "'clerk'") for one in statements(1)),
    ):
        maria.sql(one)
    address = Address(
        dialect=Dialect.MARIADB,
        host="127.0.0.1",
        port=maria.port,
        database="shop",
        username="clerk",
        password="seven-quiet-otters",  # noqa: S106 - the page's
    )
    session = await open_session(address)
    try:
        for one in (
            "INSERT INTO orders VALUES (1, 'a'), (12, 'b')",
            "DELETE FROM orders WHERE id = 1",
            "ALTER TABLE orders ADD PARTITION (PARTITION p3 VALUES LESS THAN (30))",
            "ALTER TABLE orders REORGANIZE PARTITION p1, p2 INTO (PARTITION p2 VALUES LESS THAN (20))",
            "CREATE TABLE switched LIKE orders",
            "ALTER TABLE switched REMOVE PARTITIONING",
            "ALTER TABLE orders EXCHANGE PARTITION p2 WITH TABLE switched",
            "ALTER TABLE orders REBUILD PARTITION p3",
            "RENAME TABLE switched TO quarantined",
            "CREATE TABLE archive.orders AS SELECT * FROM quarantined",
            "DROP TABLE quarantined",
        ):
            await session.execute(one)
        (analyzed,) = await session.fetch("ANALYZE TABLE orders")
        assert analyzed["Msg_type"] == "status", analyzed
        assert await session.fetch("SELECT * FROM information_schema.INNODB_TRX") == []
    finally:
        await session.close()
