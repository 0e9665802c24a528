from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from examples.started import ended, instances, started
from postgres import free_port
from serving import Served


def manage(example: Path, store: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=example,
        env=os.environ | store,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_of_many_who_buy_at_once_only_as_many_as_there_is_stock_get_a_parcel(
    example: Path, postgresql_url: str
) -> None:
    store = {"HOURHAND_STORE": postgresql_url}
    port = free_port()
    manage(example, store, "makemigrations", "shop")
    manage(example, store, "migrate")
    create = "from shop.models import Product; Product.objects.create(name='lamp', stock=2)"
    manage(example, store, "shell", "-c", create)
    arguments = ("manage.py", "runserver", "--noreload", f"127.0.0.1:{port}")
    web = started(example, *arguments, until="Starting development server", **store)
    with Served(example, "shop.tasks:app", **store) as served, web, served.client() as client:

        def buy(_: int) -> int:
            return httpx.get(f"http://127.0.0.1:{port}/buy/lamp", timeout=60, trust_env=False).status_code

        with ThreadPoolExecutor(6) as buyers:
            assert sorted(buyers.map(buy, range(6))) == [201, 201, 409, 409, 409, 409]
        parcels = [ended(client, one["id"]) for one in instances(client, "pack")]
        assert [(one["status"], one["result"]["value"]) for one in parcels] == [("success", True)] * 2
    count = "from shop.models import Order; print(list(Order.objects.values_list('packed', flat=True)))"
    assert "[True, True]" in manage(example, store, "shell", "-v", "0", "-c", count)
