"""The work that follows an order: `hourhand serve shop.tasks:app`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
django.setup()  # before the models can be imported

from django.db import close_old_connections  # noqa: E402

from hourhand import App, Context  # noqa: E402
from shop.models import Order  # noqa: E402

app = App()


@app.task(max_retries=5, timeout_seconds=60)
def pack(ctx: Context, order: int) -> bool:
    """Pack an order; a second attempt at it finds it packed."""
    close_old_connections()  # no request begins here, so that nobody else does it
    ctx.info(f"packing order {order}")
    return Order.objects.filter(id=order, packed=False).update(packed=True) == 1
