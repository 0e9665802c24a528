"""Demo: the handlers of the shop, an app like any other: `hourhand executor hourhand.demo.app:app` serves it too."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from hourhand.model.demo import DEMO_APP, DEMO_GROUP
from hourhand.sdk.app import App
from hourhand.sdk.context import Context
from hourhand.sdk.handlers import FunctionHandler

RELEASE: Final = 1
"""One more whenever a sample task changes."""
SHELVES: Final = 48
SHELF_SECONDS: Final = 5.0
EXTRACT, REVENUE, STOCK, REPORT = (
    "demo-orders-extract",
    "demo-orders-revenue",
    "demo-orders-stock",
    "demo-orders-report",
)
COURIER, INVENTORY, SHIFT, PHOTOS, LABEL = (
    "demo-courier-quote",
    "demo-inventory-count",
    "demo-shift-handover",
    "demo-product-photos",
    "demo-print-label",
)

app = App(DEMO_APP, group=DEMO_GROUP, release=RELEASE)
log = logging.getLogger("shop")


@app.task("@after 55s", name=EXTRACT, owner="Mei", tags=["demo", "orders"], timeout_seconds=60, priority=3)
async def extract_orders(ctx: Context) -> dict[str, int]:
    """Read the newest orders from the till. Two tasks wait for its end, and the report waits for both."""
    orders = 20 + ctx.instance_id % 17
    await ctx.phase("connecting")
    ctx.debug("opening the till's journal")
    await asyncio.sleep(0.6)
    for part in range(1, 6):
        await ctx.progress(part / 5, phase="reading")
        ctx.info(f"read {orders * part // 5} of {orders} orders")
        await asyncio.sleep(0.5)
    return {"orders": orders}


@app.task("@upstream", name=REVENUE, depends_on=[EXTRACT], owner="Mei", tags=["demo", "orders"])
async def sum_revenue(ctx: Context) -> dict[str, float]:
    """Sum up what was sold. It follows the extract, beside the count of the stock."""
    total = 0.0
    for number, kind in enumerate(("tea", "cups", "cake"), start=1):
        await ctx.progress(number / 3, phase=f"summing {kind}")
        total += 40.5 * number + ctx.instance_id % 13
        log.info("revenue of %s: %.2f", kind, total)  # what a handler logs by itself reaches its instance log too
        await asyncio.sleep(0.4)
    return {"revenue": round(total, 2)}


@app.task(
    "@upstream",
    name=REPORT,
    depends_on=[REVENUE, STOCK],
    owner="Mei",
    tags=["demo", "orders", "report"],
    upstream_failure_policy="fail",
)
async def write_report(ctx: Context) -> str:
    """Put the figures of the night together, once both of its dependencies have succeeded for the same instant."""
    await ctx.progress(0.3, phase="layout")
    await asyncio.sleep(0.8)
    await ctx.progress(0.9, phase="printing")
    ctx.info("the report lies on the counter")
    return f"report of {ctx.scheduled_time:%H:%M}"


@app.task(
    "@every 40s",
    name=COURIER,
    owner="Jonas",
    tags=["demo", "flaky"],
    max_retries=3,
    retry_delay_seconds=3,
    retry_backoff="fixed",
)
async def ask_courier(ctx: Context) -> dict[str, str]:
    """Ask the courier for a price. His line is bad: one attempt of three fails, and is made again 3 seconds later."""
    await asyncio.sleep(0.4)
    if (ctx.instance_id + ctx.retry_count) % 3 == 0:
        ctx.warning("the line crackles")
        raise ConnectionError("the courier hung up: it may work the next time, so this task has max_retries=3")
    return {"price": f"{4 + ctx.instance_id % 5}.90"}


@app.task(
    "@after 2m",
    name=INVENTORY,
    owner="Ada",
    tags=["demo", "long", "resumable"],
    executor_loss_policy="requeue",
    timeout_seconds=900,
)
async def count_inventory(ctx: Context) -> dict[str, int]:
    """Count 48 shelves, which takes four minutes, and store after each where it is.

    Kill the server while it counts (`kill -9`, or Ctrl-C twice) and start it again: it goes on at the same shelf,
    in another attempt of the same instance.
    """
    first = int(ctx.checkpoint.get("shelf", 0))
    if first:
        ctx.warning(f"an earlier attempt had come to shelf {first}: going on from there")
    for shelf in range(first, SHELVES):
        await ctx.progress(shelf / SHELVES, phase=f"shelf {shelf + 1} of {SHELVES}", checkpoint={"shelf": shelf})
        if shelf % 6 == 0:
            ctx.info(f"shelf {shelf + 1}: {17 + shelf * 7 % 23} pieces")
        await asyncio.sleep(SHELF_SECONDS)
    return {"shelves": SHELVES}


@app.task("@every 50s", name=SHIFT, owner="美玲", tags=["demo", "中文"])
async def hand_over(ctx: Context) -> dict[str, str]:
    """夜班交接:检查收银台、冰箱和后门,并把结果写进日志。日志有全部级别 debug、info、warning、error."""
    await ctx.progress(0.25, phase="收银台")
    ctx.debug("收银台抽屉已上锁")
    ctx.info("现金已清点,金额相符")
    await asyncio.sleep(0.7)
    await ctx.progress(0.6, phase="冰箱")
    ctx.warning("冰箱温度 7 °C,略高")
    await asyncio.sleep(0.7)
    await ctx.progress(0.9, phase="后门")
    ctx.error("后门的灯泡坏了,请明天更换")
    return {"结果": "交接完成"}


@app.task("@every 3m", name=PHOTOS, isolation="process", owner="Jonas", tags=["demo", "isolated"], timeout_seconds=60)
def shrink_photos(ctx: Context) -> dict[str, int]:
    """Make small pictures of new products. It runs in a process of its own, which can be killed whatever it does."""
    for number in range(1, 5):
        ctx.progress(number / 4, phase="shrinking")
        ctx.info(f"picture {number} of 4")
        time.sleep(0.3)
    return {"pictures": 4}


@app.task("@manual", name=LABEL, owner="Ada", tags=["demo", "by-hand"])
async def print_label(ctx: Context, order: int, copies: int = 1) -> dict[str, Any]:
    """Print the label of an order. Run it by hand: it takes the arguments `order` and, if you like, `copies`."""
    for copy in range(copies):
        await ctx.progress((copy + 1) / copies, phase="printing")
        ctx.info(f"label of order {order}, copy {copy + 1}")
        await asyncio.sleep(0.2)
    return {"order": order, "copies": copies}


def handlers() -> Mapping[tuple[str, str], FunctionHandler]:
    """The handlers, as an executor of this process needs them: each knows where a process of its own finds it."""
    for handler in app.handlers.values():
        handler.source = f"{__name__}:app"
    return app.handlers
