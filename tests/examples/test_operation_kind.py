from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

from examples.started import ended
from serving import Served


def installed(example: Path) -> str:
    """Lay beside the module what pip would: its name, and the entry points of its pyproject.toml."""
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    folder = example / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    folder.mkdir()
    folder.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    folder.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")
    return str(example)


def test_a_kind_of_another_package_is_found_previewed_and_done(example: Path) -> None:
    shop = example / "shop.db"
    with closing(sqlite3.connect(shop)) as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)")
        made.executemany("INSERT INTO orders (note) VALUES (?)", [("x" * 1000,)] * 2_000)
        made.execute("DELETE FROM orders WHERE id > 10")
        made.commit()
    large = shop.stat().st_size
    path = {"PYTHONPATH": installed(example)}
    with Served(example, **path) as served, served.client() as client:

        def hourhand(*arguments: str) -> str:
            signed_in = {"HOURHAND_URL": served.address, "HOURHAND_TOKEN": served.token}
            done = subprocess.run(
                [sys.executable, "-m", "hourhand", *arguments],
                cwd=example, env=os.environ | signed_in, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        assert "vacuum_table" in hourhand("operation", "kinds")
        hourhand("datasource", "add", "shop", f"sqlite:///{shop}")
        config = ("--set", "data_source=shop", "--set", "table=orders")
        assert "VACUUM;" in hourhand("operation", "preview", "vacuum_table", *config)
        assert shop.stat().st_size == large
        hourhand("operation", "start", "vacuum_table", *config, "--yes", "--wait")
        (found,) = client.get("/api/v1/instances").json()["items"]
        told = ended(client, found["id"])["summary"]
    assert shop.stat().st_size < large / 10
    assert (told["bytes_before"], told["bytes_after"]) == (large, shop.stat().st_size)
