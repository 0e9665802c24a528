"""Store: sign-ins that failed: counted per account and per address, so that a password cannot be found by trying."""

from __future__ import annotations

import ipaddress
import math
from datetime import timedelta

from sqlalchemy import ColumnElement, Text, bindparam, delete, select, text

from hourhand.model.errors import Throttled
from hourhand.store.database import Tx
from hourhand.store.schema_access import sign_in_failures
from hourhand.store.sql import constant, insert, plus_seconds, store_clock
from hourhand.store.statements import Statement

MOST = 5
WITHIN = timedelta(minutes=15)
_SITE = 64

_window = plus_seconds(store_clock(), constant(-int(WITHIN.total_seconds())))


def _nth(condition: ColumnElement[bool]) -> ColumnElement[object]:
    """When the failure happened after which there is no further try; none while there were fewer."""
    return (
        select(sign_in_failures.c.failed_at)
        .where(condition, sign_in_failures.c.failed_at > _window)
        .order_by(sign_in_failures.c.failed_at.desc())
        .limit(constant(1))
        .offset(constant(MOST - 1))
        .scalar_subquery()
    )


_THROTTLED = Statement(
    select(
        _nth(sign_in_failures.c.account == bindparam("account", type_=Text)).label("account"),
        _nth(sign_in_failures.c.address == bindparam("address", type_=Text)).label("address"),
        store_clock().label("now"),
    )
)
# So that those who come at the same time do not all find the same count. SQLite writes one after the other anyway.
_ALONE = Statement(
    text(
        "SELECT pg_advisory_xact_lock(hashtextextended('account ' || :account, 0)), "
        "pg_advisory_xact_lock(hashtextextended('address ' || :address, 0))"
    ).bindparams(bindparam("account", type_=Text), bindparam("address", type_=Text))
)
_ADD = Statement(
    insert(sign_in_failures).values(
        account=bindparam("account", type_=Text), address=bindparam("address", type_=Text), failed_at=store_clock()
    )
)
_FORGET = Statement(delete(sign_in_failures).where(sign_in_failures.c.account == bindparam("account", type_=Text)))


async def be_alone(tx: Tx, account: str, address: str | None) -> None:
    """Until this transaction ends nobody else changes these counts."""
    if tx.dialect == "postgresql":
        await tx.run(_ALONE, account=account, address=_kept(address))


async def refuse_throttled(tx: Tx, account: str, address: str | None) -> None:
    """Refuse while the account, or the address, has failed too often; without an address, the account alone."""
    (row,) = await tx.fetch(_THROTTLED, account=account, address=None if address is None else site(address))
    waits = [(at + WITHIN - row["now"]).total_seconds() for at in (row["account"], row["address"]) if at is not None]
    if waits:
        raise Throttled(max(1, math.ceil(max(waits))))


async def add_failure(tx: Tx, account: str, address: str | None) -> None:
    """Count one more; without an address it counts for the account alone."""
    await be_alone(tx, account, address)
    await refuse_throttled(tx, account, address)
    await tx.run(_ADD, account=account, address=_kept(address))


async def forget_failures(tx: Tx, account: str) -> None:
    """Begin the account's count anew."""
    await tx.run(_FORGET, account=account)


def _kept(address: str | None) -> str:
    return "" if address is None else site(address)


def site(address: str) -> str:
    """What counts as one address: of IPv6 the first half, since whoever has one address there has 2⁶⁴."""
    try:
        read = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(read, ipaddress.IPv6Address):
        if read.ipv4_mapped is None:
            return str(ipaddress.ip_network((read, _SITE), strict=False))
        read = read.ipv4_mapped
    return str(read)
