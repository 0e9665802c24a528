"""Demo: the sample tasks: the handlers' and those that need no Python, each for one thing that a task can be."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from hourhand.demo.app import EXTRACT, STOCK, app
from hourhand.model.demo import DEMO_GROUP
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import OverlapPolicy, TaskType

TILL, SHELVES, GREETING, CARDS, SCANNER = (
    "demo-till-check",
    "demo-shelf-check",
    "demo-welcome-sign",
    "demo-card-terminal",
    "demo-barcode-scanner",
)
CLOSING, NEWSLETTER, WEBSITE = "demo-closing-announcement", "demo-newsletter", "demo-website-sync"
BREAD, BUNS, CAKE = "demo-bake-bread", "demo-bake-buns", "demo-bake-cake"
INVOICE, PAYMENT = "demo-supplier-invoice", "demo-supplier-payment"
NEW_YEAR, TOKYO, BOOKS, BACKUP, LIGHTS = (
    "demo-new-year-sale",
    "demo-tokyo-opening",
    "demo-close-books",
    "demo-backup",
    "demo-summer-lights",
)
ALARM, BACK_DOOR = "demo-alarm-check", "demo-back-door"

PAUSED_BECAUSE: Final = "the mailing list is being cleaned; readers get no letters meanwhile"
GROUP_TITLE: Final = "A small shop (the demo)"
RULE_NAME: Final = "demo: the shop fails three times in a row"


def samples(*, address: str | None, now: datetime) -> tuple[Declaration, ...]:
    """All sample tasks; those that call this Hourhand itself need an `address` that executors may call."""
    return (*app.declarations(), *_commands(), *_oven(), *_waiting(), *_in_time(now), *_http(address))


def _sample(  # noqa: PLR0917 - each line below reads as a sentence
    name: str,
    schedule: str,
    owner: str,
    tag: str,
    payload: Mapping[str, Any],
    description: str,
    *,
    after: tuple[str, ...] = (),
    kind: TaskType = TaskType.COMMAND,
    **fields: Any,  # noqa: ANN401 - other fields of a task
) -> Declaration:
    definition = TaskDefinition(
        name=name,
        type=kind,
        schedule=schedule,
        payload=payload,
        description=description,
        group=DEMO_GROUP,
        owner=owner,
        tags=("demo", tag),
        **fields,
    )
    return Declaration(definition=definition, depends_on=after)


def _commands() -> tuple[Declaration, ...]:
    return (
        _sample(
            STOCK,
            "@upstream",
            "Mei",
            "orders",
            {"command": 'printf "tea\\t41\\ncups\\t18\\ncake\\t3\\n" | sort -k2 -n; sleep 1'},
            "Take what was sold off the stock: a shell command, which follows the extract.",
            after=(EXTRACT,),
        ),
        _sample(
            TILL,
            "@every 15s",
            "Mei",
            "till",
            {"command": ["date", "+the till answers at %H:%M:%S"]},
            "Ask the till whether it is there: a program and its arguments, without a shell.",
            timeout_seconds=10,
        ),
        _sample(
            SHELVES,
            "* * * * *",
            "Ada",
            "shelves",
            {
                "command": 'while read -r shelf left; do echo "$SHOP: $shelf has $left left"; done',
                "stdin": "tea 41\ncups 18\ncake 3\n",
                "env": {"SHOP": "Lantern Lane 7"},
            },
            "Read a list from standard input, with an environment of its own.",
        ),
        _sample(
            GREETING,
            "*/5 * * * *",
            "Ada",
            "shelves",
            {"command": "echo 'the sign is switched on'; exit 3", "success_codes": [0, 3]},
            "Switch the sign on. Exit code 3 means that it was on before, and counts as a success.",
        ),
        _sample(
            CARDS,
            "@every 30s",
            "Jonas",
            "broken",
            {
                "command": "echo 'dialling the bank …'; "
                "echo 'card terminal: no paper in the printer, put a roll in' >&2; exit 4"
            },
            "Fails always: the terminal is out of paper. See what its error message says, and how often it failed.",
            max_retries=1,
            retry_delay_seconds=5,
        ),
        _sample(
            SCANNER,
            "*/10 * * * *",
            "Jonas",
            "broken",
            {"command": ["sleep", "60"]},
            "Takes too long: it hangs, and is ended after 4 seconds by its timeout, with all its processes.",
            timeout_seconds=4,
        ),
        _sample(
            CLOSING,
            "@every 30s",
            "Ada",
            "broadcast",
            {"command": "echo 'dear guests, we close soon'"},
            "Announced on every executor of the group at once: a broadcast makes one instance for each.",
            broadcast=True,
        ),
        _sample(
            NEWSLETTER,
            "*/5 * * * *",
            "Jonas",
            "paused",
            {"command": "echo 'a letter to our readers'"},
            "Paused, with a reason and an end: what falls due meanwhile is recorded as skipped.",
        ),
        _sample(
            WEBSITE,
            "@every 20s",
            "Mei",
            "overlap",
            {"command": "echo 'sending prices'; sleep 30"},
            "Comes due every 20 seconds and takes 30: while one runs the next is skipped, and the skip recorded.",
            overlap_policy=OverlapPolicy.SKIP,
        ),
    )


def _oven() -> tuple[Declaration, ...]:
    return tuple(
        _sample(
            name,
            "@after 20s",
            "Ada",
            "oven",
            {"command": f"echo '{what}: in the oven'; sleep 12"},
            f"Bakes {what}. The three that bake share one oven, the concurrency key demo-oven: two wait for it.",
            concurrency_key="demo-oven",
            concurrency_limit=1,
        )
        for name, what in ((BREAD, "bread"), (BUNS, "buns"), (CAKE, "cake"))
    )


def _waiting() -> tuple[Declaration, ...]:
    return (
        _sample(
            INVOICE,
            "@hourly",
            "Jonas",
            "supplier",
            {"command": "echo 'the invoice is here'"},
            "Disabled: the supplier has not sent his address yet. Another task waits for this one.",
            enabled=False,
        ),
        _sample(
            PAYMENT,
            "@after 1h",
            "Jonas",
            "supplier",
            {"command": "echo 'paid'"},
            "Waits for an invoice that never comes: `hourhand instance explain` says so, and what would help.",
            after=(INVOICE,),
            dependency_timeout_seconds=30 * 86_400,
        ),
    )


def _in_time(now: datetime) -> tuple[Declaration, ...]:
    return (
        _sample(
            NEW_YEAR,
            f"@at {now.year + 1}-01-01T09:00:00",
            "Mei",
            "once",
            {"command": "echo 'all tea at half price'"},
            "Once: on the next New Year's morning, by Berlin's clock.",
            timezone="Europe/Berlin",
        ),
        _sample(
            TOKYO,
            "0 9 * * MON-FRI",
            "美玲",
            "time-zone",
            {"command": "echo 'おはようございます'"},
            "On weekdays at nine in Tokyo, wherever this server is.",
            timezone="Asia/Tokyo",
        ),
        _sample(
            BOOKS,
            "0 30 2 L * ?",
            "Mei",
            "nightly",
            {"command": "echo 'the month is closed'"},
            "On the last day of each month at half past two in Berlin: a Quartz expression, with seconds first.",
            timezone="Europe/Berlin",
        ),
        _sample(
            BACKUP,
            "15 * * * *",
            "Ada",
            "nightly",
            {"command": 'for part in orders stock prices; do echo "saved $part"; sleep 1; done'},
            "Copy everything away, a quarter past each hour.",
            max_retries=2,
        ),
        _sample(
            LIGHTS,
            "0 20 * 6-8 *",
            "Ada",
            "nightly",
            {"command": "echo 'the lights are on'"},
            "Disabled until somebody enables it: the garden is closed.",
            enabled=False,
        ),
    )


def _http(address: str | None) -> tuple[Declaration, ...]:
    if address is None:
        return ()
    return (
        _sample(
            ALARM,
            "@every 20s",
            "Jonas",
            "http",
            {"url": f"{address}/healthz", "expected_status": [200]},
            "Call this Hourhand's own health check, and expect the status 200.",
            kind=TaskType.HTTP,
            timeout_seconds=10,
        ),
        _sample(
            BACK_DOOR,
            "* * * * *",
            "Jonas",
            "http",
            {"url": f"{address}/api/v1/version", "expected_status": [401]},
            "Try the back door without a key: that it is locked (status 401) is the success.",
            kind=TaskType.HTTP,
            timeout_seconds=10,
        ),
    )
