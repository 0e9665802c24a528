"""Store: data sources, with their passwords as they are sealed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, LargeBinary, Text, bindparam, delete, func, literal_column, or_, select, update

from hourhand.contracts.sealing import NewSecret
from hourhand.model.data_source import Address, DataSource, Dialect
from hourhand.model.errors import Conflict, DuplicateName, NotFound
from hourhand.model.words import TaskType
from hourhand.service.sources import owner_of
from hourhand.store import secret_key
from hourhand.store.database import Row, Tx
from hourhand.store.groups import NAMED, few
from hourhand.store.ids import possible
from hourhand.store.rows import Unreadable, readable
from hourhand.store.schema import task_instances, tasks
from hourhand.store.schema_access import data_sources
from hourhand.store.sql import constant, insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id

MOST: Final = 1_000
_PLACE = ("dialect", "host", "port", "database", "username", "options")
_id = bindparam("source_id", type_=Id)
_name = bindparam("name", type_=Text)
_values = {name: bindparam(f"new_{name}", type_=data_sources.c[name].type) for name in ("name", *_PLACE)}
_secret = bindparam("new_secret", type_=LargeBinary)
_ADD = Statement(
    insert(data_sources)
    .values(**_values, created_at=store_clock(), updated_at=store_clock(), created_by=bindparam("by", type_=Text))
    .on_conflict_do_nothing()
    .returning(data_sources)
)
_SEAL = Statement(update(data_sources).values(secret=_secret).where(data_sources.c.id == _id).returning(data_sources))
_EDIT = Statement(
    update(data_sources)
    .values(**_values, secret=_secret, updated_at=store_clock())
    .where(data_sources.c.id == _id)
    .returning(data_sources)
)
_DELETE = Statement(delete(data_sources).where(data_sources.c.id == _id))
_GET = Statement(select(data_sources).where(data_sources.c.id == _id))
_LOCK = Statement(select(data_sources).where(data_sources.c.id == _id).with_for_update())
_FIND = Statement(select(data_sources).where(data_sources.c.name == _name))
_ALL = Statement(select(data_sources).order_by(data_sources.c.name))
_COUNT = Statement(select(func.count().label("n")).select_from(data_sources))


def _copies_to(form: str) -> ColumnElement[bool]:
    """Among the arguments of operations; what others have there is their own."""
    return literal_column(form, Text) == _name


def _names(form: str) -> ColumnElement[bool]:
    fields = ("data_source", "target_data_source")
    return or_(*(literal_column(form.format(name), Text) == _name for name in fields))


_TASKS = {
    dialect: Statement(
        select(tasks.c.name)
        .where(tasks.c.type == constant(TaskType.OPERATION.value), tasks.c.deleted_at.is_(None), _names(form))
        .order_by(tasks.c.name)
        .limit(constant(NAMED + 1))
    )
    for dialect, form in {
        "postgresql": "tasks.payload #>> '{{config,{0}}}'",
        "sqlite": "json_extract(tasks.payload, '$.config.{0}')",
    }.items()
}
_LIVING = {
    dialect: Statement(
        select(task_instances.c.id)
        .where(
            task_instances.c.data_source_id.is_not(None), or_(task_instances.c.data_source_id == _id, _copies_to(form))
        )
        .order_by(task_instances.c.id)
        .limit(constant(NAMED + 1))
    )
    for dialect, form in {
        "postgresql": "task_instances.args #>> '{config,target_data_source}'",
        "sqlite": "json_extract(task_instances.args, '$.config.target_data_source')",
    }.items()
}


async def add(tx: Tx, name: str, address: Address, secret: NewSecret | None, *, by: str) -> DataSource:
    """A new one; its name must be free."""
    check = await secret_key.held(tx)
    (there,) = await tx.fetch(_COUNT)
    if there["n"] >= MOST:
        raise Conflict(f"there are {there['n']} data sources already: delete some that nobody needs")
    rows = await tx.fetch(_ADD, **_columns(name, address), by=by)
    if not rows:
        raise DuplicateName("data source", name)
    if secret is not None:  # only now its id is known, to which it is bound
        rows = await tx.fetch(_SEAL, source_id=rows[0]["id"], new_secret=_sealed(rows[0]["id"], secret, check))
    return source_of(rows[0])


async def edit(
    tx: Tx, source_id: int, changes: Mapping[str, Any], *, seen: datetime | None
) -> tuple[DataSource, DataSource]:
    """Change its name, its address or its secret; how it was and how it is."""
    check = await secret_key.held(tx)  # before the row is read: its secret is written back as it is sealed
    before = source_of(await _locked(tx, source_id))
    if seen is not None and before.updated_at != seen:
        raise Conflict(f"data source {before.name!r} was changed by somebody else meanwhile: read it again")
    name, address = changes.get("name", before.name), changes.get("address", before.address(None))
    if name != before.name:
        if await tx.fetch(_FIND, name=name):
            raise DuplicateName("data source", name)
        await _require_unnamed(tx, before, "give them another data source, or delete them, before it is renamed")
        await _require_unused(tx, before)  # they know it by the old name, and another may soon have that
    sealed = before.secret
    if "secret" in changes:
        sealed = None if changes["secret"] is None else _sealed(source_id, changes["secret"], check)
    (row,) = await tx.fetch(_EDIT, source_id=source_id, **_columns(name, address), new_secret=sealed)
    return before, source_of(row)


async def remove(tx: Tx, source_id: int) -> DataSource:
    """Delete one that nothing needs any more; what has ended keeps its number."""
    before = source_of(await _locked(tx, source_id))
    await _require_unnamed(tx, before, "give them another data source, or delete them first")
    await _require_unused(tx, before)
    await tx.run(_DELETE, source_id=source_id)
    return before


async def get(tx: Tx, source_id: int) -> DataSource:
    """One data source."""
    rows = await tx.fetch(_GET, source_id=source_id) if possible(source_id) else []
    if not rows:
        raise NotFound("data source", source_id)
    return source_of(rows[0])


async def find(tx: Tx, name: str) -> DataSource:
    """The one of that name."""
    rows = await tx.fetch(_FIND, name=name) if "\0" not in name else []
    if not rows:
        raise NotFound("data source", name)
    return source_of(rows[0])


async def list_sources(tx: Tx) -> list[DataSource]:
    """All of them, by name."""
    return readable(await tx.fetch(_ALL), source_of)


def source_of(row: Row) -> DataSource:
    """A data source from its row."""
    try:
        dialect = Dialect(row["dialect"])
    except ValueError:
        raise Unreadable(
            f"data source {row['name']!r} speaks {row['dialect']!r}, which this release does not know: use the one "
            "that wrote it"
        ) from None
    values = {name: row[name] for name in DataSource.__dataclass_fields__}
    return DataSource(**{**values, "dialect": dialect, "options": row["options"] or {}})


def described(source: DataSource) -> dict[str, Any]:
    """What the audit keeps of a data source; of a password it shows that there is one, and when it was changed."""
    kept = {name: getattr(source, name) for name in ("name", *_PLACE)}
    sealed = None if source.secret is None else source.secret.hex()  # the audit masks it, by its name
    return {**kept, "dialect": source.dialect.value, "password": sealed}


async def require_same_source(tx: Tx, ended: Row) -> None:
    """Refuse to go on where an operation's name means another data source than it did: half of its plan may be done."""
    config = (ended["args"] or {}).get("config")
    known = config.get("data_source") if isinstance(config, Mapping) else None
    if ended["data_source_id"] is None or known is None:
        return  # no operation, or one whose task names its data source, which is not renamed then
    rows = await tx.fetch(_GET, source_id=ended["data_source_id"])
    if not rows or rows[0]["name"] != known:
        called = "deleted" if not rows else f"renamed to {rows[0]['name']!r}"
        raise Conflict(
            f"instance {ended['instance_id']} cannot be retried: the data source that it worked on was {called} since; "
            "start the operation anew"
        )


async def _locked(tx: Tx, source_id: int) -> Row:
    rows = await tx.fetch(_LOCK, source_id=source_id) if possible(source_id) else []
    if not rows:
        raise NotFound("data source", source_id)
    return rows[0]


async def _require_unnamed(tx: Tx, source: DataSource, otherwise: str) -> None:
    if found := await tx.fetch(_TASKS[tx.dialect], name=source.name):
        named = few([repr(row["name"]) for row in found])
        raise Conflict(f"data source {source.name!r} is named by the tasks {named}: {otherwise}")


async def _require_unused(tx: Tx, source: DataSource) -> None:
    if found := await tx.fetch(_LIVING[tx.dialect], source_id=source.id, name=source.name):
        raise Conflict(
            f"data source {source.name!r} has instances that have not ended ({few([str(row['id']) for row in found])}):"
            " cancel them, or wait for them"
        )


def _sealed(source_id: int, secret: NewSecret, check: str | None) -> bytes:
    if secret.sealed_with != check:
        raise Conflict(
            "nothing was changed: the key that secrets are sealed with was rotated just now; start this process again "
            "with the new key, and give the password again"
        )
    return secret.seal(owner_of(source_id))


def _columns(name: str, address: Address) -> dict[str, Any]:
    values = {"name": name, **{each: getattr(address, each) for each in _PLACE}}
    values |= {"dialect": address.dialect.value, "options": dict(address.options)}
    return {f"new_{each}": value for each, value in values.items()}
