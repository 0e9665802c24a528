"""A long import that goes on where it stopped, whatever has stopped it."""

import sqlite3
import time
from pathlib import Path

from hourhand import App, Context

app = App()

PAGES = 40
DATABASE = Path("customers.db")


def page_of(number: int) -> list[tuple[int, str]]:
    """Stand in for a slow API that gives 10 customers at a time."""
    time.sleep(0.25)
    return [(number * 10 + one, f"customer {number * 10 + one}") for one in range(10)]


@app.task(timeout_seconds=3600, max_retries=3)
def import_customers(ctx: Context) -> dict[str, int]:
    """Copy all customers into our database."""
    database = sqlite3.connect(DATABASE)
    database.execute("CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY, name TEXT)")
    first = ctx.checkpoint.get("next", 0)
    ctx.info(f"begins at page {first} of {PAGES}")
    for number in range(first, PAGES):
        # An attempt may die between commit and checkpoint, and the next one does this page again: so it replaces.
        database.executemany("INSERT OR REPLACE INTO customers VALUES (?, ?)", page_of(number))
        database.commit()
        ctx.progress((number + 1) / PAGES, phase="copying", checkpoint={"next": number + 1})
    (count,) = database.execute("SELECT count(*) FROM customers").fetchone()
    database.close()
    return {"customers": count, "pages_of_this_attempt": PAGES - first}
