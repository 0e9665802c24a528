"""One task on every executor, and calls that are never more than two at once."""

import asyncio
import os

from hourhand import App, Client, Context

app = App()

DOCUMENTS = [f"document {number}" for number in range(20)]


@app.task(broadcast=True)
async def reindex(ctx: Context) -> list[str]:
    """Every executor that is alive gets an instance of its own, and does its share."""
    mine = DOCUMENTS[ctx.shard_index :: ctx.shard_total]
    ctx.info(f"shard {ctx.shard_index} of {ctx.shard_total}: {len(mine)} documents")
    return mine


@app.task(concurrency_key="crm", concurrency_limit=2, max_retries=3)
async def push_to_crm(ctx: Context, customer: int) -> int:
    """However many executors there are and however many wait: the CRM is called by two at a time."""
    ctx.info(f"pushing customer {customer}")
    await asyncio.sleep(0.5)
    return customer


async def main() -> None:
    """Submit 12 calls, and tell how many ran at the same time."""
    async with Client(os.environ["HOURHAND_STORE"]) as client:
        ids = await client.submit_many("push_to_crm", [{"customer": number} for number in range(12)])
        ended = [await client.wait(one, timeout=120) for one in ids]
    spans = [(one.start_time, one.end_time) for one in ended]
    most = max(sum(begin <= moment < end for begin, end in spans) for moment, _ in spans)
    print(f"{sum(one.status == 'success' for one in ended)} calls, at most {most} at once")


if __name__ == "__main__":
    asyncio.run(main())
