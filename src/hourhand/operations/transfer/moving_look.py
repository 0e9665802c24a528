"""Operations: what is looked at before rows are moved or copied, and what must hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition
from hourhand.operations.catalog import find_table, read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.cleaning_condition import read_condition
from hourhand.operations.cleaning_keys import Reference, foreign_keys_precondition, references
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import quoted
from hourhand.operations.transfer.canonical import Form, form_of
from hourhand.operations.transfer.checksum import Compared, compared_columns, fast
from hourhand.operations.transfer.keyset import (
    Keyset,
    check_key,
    choose_key,
    mark,
    range_condition,
    range_params,
    unmarked,
)
from hourhand.operations.transfer.moving_config import BulkCopyConfig
from hourhand.operations.transfer.moving_route import MARIA, Place, Route, adapted
from hourhand.operations.transfer.target import (
    Collation,
    collations,
    require_same_definition,
    require_sorted_alike,
    server,
)
from hourhand.operations.transfer.target_types import translated
from hourhand.rules.operations import temporary

_LOOKED_UP = 500
"""How many keys of the target are looked up in the source before anything is copied."""
_CHANGING = ("CASCADE", "SET NULL", "SET DEFAULT")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What was found."""

    source: Table
    target: Table | None
    """None: it is to be made."""
    route: Route
    sorted_by: dict[str, Collation]
    version: tuple[int, ...]
    """Of the target's server."""
    references: tuple[Reference, ...] = ()
    conflict: str | None = None
    """A key that is on both sides already."""
    unfinished: bool = False
    """Whether an earlier operation has left its notes."""
    local_files: bool = True
    """Whether the target takes LOAD DATA LOCAL."""


async def looked(kind: str, config: BulkCopyConfig, look: Look) -> State:
    """Look at both tables; Refused says what cannot be planned."""
    source = look.source
    table = await read_table(source, config.schema_name, config.table)
    other = config.target_data_source
    same = other is None or other == config.data_source
    target = source if same or other is None else await look.open(other)
    if source.dialect is target.dialect is Dialect.SQLITE:
        same = same or await server(source) == await server(target)  # two transactions would wait for each other
    schema, name = _named(config, table, target, same=same)
    there = await find_table(target, schema, name)
    await _require_another(source, table, target, there)
    if there is None and not config.create_target:
        raise Refused(
            f"there is no table {schema + '.' if schema else ''}{name} in {target.shown}: let it be made "
            "(create_target), or give another",
            field="target_table",
        )
    schema = there.schema if there else schema
    condition = ""
    if config.where is not None:
        condition = (await read_condition(source, table, where=config.where, time_column=None, cutoff=None)).sql
    key = choose_key(table, config.key_columns)
    await check_key(source, table, Keyset(table.dialect, table.sql, key, condition=condition))
    mine = await collations(source, table)
    if there is not None:
        require_same_definition(table, there)
    theirs = await collations(target, there) if there is not None else mine
    require_sorted_alike(table, there, target.dialect, key, (mine, theirs))
    columns = _columns(config, table, there, target.dialect)
    notes = temporary(kind, table.name, f"{table.shown}:{config.target_data_source}:{schema}:{name}")
    route = Route(
        source=Place(dialect=table.dialect, schema=table.schema, table=table.name, notes=f"{notes}_s"),
        target=Place(dialect=target.dialect, schema=schema, table=name, notes=notes),
        columns=columns,
        key=key,
        where=condition,
        delete=config.delete_source,
        replace=config.on_conflict == "replace",
        same=same,
        binary=table.dialect is target.dialect is Dialect.POSTGRESQL and all(c.types[0] == c.types[1] for c in columns),
        quick=fast(source, target, columns),
    )
    unfinished = await find_table(target, schema, notes) is not None
    conflict = None
    if there is not None and config.on_conflict == "fail" and not (unfinished and config.delete_source):
        conflict = await _conflict(source, target, route)
    return State(
        source=table,
        target=there,
        route=route,
        sorted_by=mine,
        version=target.version,
        references=await references(source, table, condition or "1 = 1") if config.delete_source else (),
        conflict=conflict,
        unfinished=unfinished,
        local_files=same or target.dialect not in MARIA or await _local_files(target),
    )


def _named(config: BulkCopyConfig, table: Table, target: Session, *, same: bool) -> tuple[str | None, str]:
    """The target's schema and name; by default those of the source, where that means something."""
    schema = config.target_schema
    if target.dialect is Dialect.SQLITE:
        schema = None
    elif schema is None and same:
        schema = table.schema
    elif schema is None and target.dialect is Dialect.POSTGRESQL:
        schema = table.schema if table.dialect is Dialect.POSTGRESQL else "public"
    return schema, config.target_table or table.name


async def _require_another(source: Session, table: Table, target: Session, there: Table | None) -> None:
    if there is None or there.dialect is not table.dialect:
        return
    alike = (there.schema, there.name) == (table.schema, table.name)
    if alike and (source is target or await server(source) == await server(target)):
        raise Refused(
            f"{there.shown} in {target.shown} is the source itself: give another target_table or target_data_source",
            field="target_table",
        )


def _columns(config: BulkCopyConfig, table: Table, there: Table | None, dialect: Dialect) -> tuple[Compared, ...]:
    """With the types that the target has, or will have."""
    if there is None:
        there = replace(
            table,
            dialect=dialect,
            columns=tuple(
                replace(one, type=_as_read(dialect, translated(table.dialect, one, dialect, field="create_target")))
                for one in table.columns
            ),
        )
    if config.verify == "hash":
        return compared_columns(table, there)
    named = {one.name: one for one in there.columns}
    return tuple(
        Compared(
            name=one.name, form=form_of(table.dialect, one.type) or Form.BYTES, types=(one.type, named[one.name].type)
        )
        for one in table.writable
    )


def _as_read(dialect: Dialect, type_: str) -> str:
    """A type as the catalog writes it."""
    return type_.lower() if dialect in MARIA else type_


async def _conflict(source: Session, target: Session, route: Route) -> str | None:
    """A key that is on both sides; the first few of those that could be are looked up."""
    ends = []
    for order in ("ASC", "DESC"):
        by = ", ".join(f"{quoted(source.dialect, name)} {order}" for name in route.key)
        where = f"({route.where})" if route.where else "1 = 1"
        sql = f"SELECT {route.keys.names} FROM {route.source.sql} WHERE {where} ORDER BY {by} LIMIT 1"  # noqa: S608
        rows = await source.fetch(sql)
        if not rows:
            return None
        ends.append(tuple(rows[0][name] for name in route.key))
    low, high = (route.adapted(one) for one in ends)
    names, table = unmarked(target.dialect, _listed(target, route.key)), unmarked(target.dialect, route.target.sql)
    found = []
    for condition, params in (
        (_alike(target, route.key), low),
        (range_condition(target.dialect, route.key, lo=True), range_params(target.dialect, low, high)),
    ):
        found += await target.fetch(
            f"SELECT {names} FROM {table} WHERE {condition} ORDER BY {names} LIMIT {_LOOKED_UP}",  # noqa: S608
            *params,
        )
    where = f"({unmarked(source.dialect, route.where)}) AND " if route.where else ""
    sql = f"SELECT 1 AS one FROM {unmarked(source.dialect, route.source.sql)} WHERE {where}{_alike(source, route.key)}"  # noqa: S608
    for row in found:
        key = tuple(_back(route, one, row[one.name]) for one in route.key_columns)
        if await source.fetch(sql, *key):
            return ", ".join(str(value) for value in key)
    return None


def _listed(session: Session, key: Sequence[str]) -> str:
    return ", ".join(quoted(session.dialect, name) for name in key)


def _alike(session: Session, key: Sequence[str]) -> str:
    """The condition for one key."""
    names = [unmarked(session.dialect, quoted(session.dialect, name)) for name in key]
    return " AND ".join(f"{name} = {mark(session.dialect, place)}" for place, name in enumerate(names, 1))


def _back(route: Route, column: Compared, value: object) -> object:
    """A value of the target as the source's driver wants it."""
    if route.source.dialect is route.target.dialect:
        return value
    return adapted(route.source.dialect, replace(column, types=(column.types[1], column.types[0])), value)


async def _local_files(target: Session) -> bool:
    return bool(int((await target.fetch("SELECT @@GLOBAL.local_infile AS n"))[0]["n"]))


def preconditions(config: BulkCopyConfig, state: State) -> Iterator[Precondition]:
    """What must hold before a row is touched."""
    route, target = state.route, state.target
    if target is not None:
        fits = any(set(key) <= set(route.key) for key in target.unique_keys)
        yield Precondition(
            name="target key",
            ok=fits,
            detail="the target has a unique key of the same columns"
            if fits
            else f"{target.shown} has no unique key of ({', '.join(route.key)}), without which a row could be there "
            "twice: make one",
        )
        yield Precondition(
            name="target rows",
            ok=state.conflict is None,
            detail=_rows_detail(state)
            if state.conflict is None
            else f"{target.shown} has a row with the key {state.conflict} already, and so has the source: "
            "take it away, or let it be replaced (on_conflict)",
        )
    if state.references or config.delete_source:
        yield foreign_keys_precondition(state.references)
        changing = [one for one in state.references if one.rule in _CHANGING]
        if changing:
            named = ", ".join(f"{one.shown} ({one.rule})" for one in changing)
            yield Precondition(
                name="dependent rows",
                ok=False,
                detail=f"deleting rows would change those of {named}: move these first and drop the foreign key",
            )
    for table in (state.source, target):
        if table is not None and table.engine is not None and table.engine.lower() != "innodb":
            yield Precondition(
                name="engine",
                ok=False,
                detail=f"{table.shown} is of the engine {table.engine}, which has no transactions: make it InnoDB",
            )
        if table is not None and table.row_security and not table.owned:
            yield Precondition(
                name="row security",
                ok=False,
                detail=f"{table.shown} hides rows by policies: sign in as its owner, or with BYPASSRLS",
            )
    if not state.local_files:
        yield Precondition(
            name="LOAD DATA LOCAL",
            ok=False,
            detail="the target does not take it: SET GLOBAL local_infile = 1",
        )


def _rows_detail(state: State) -> str:
    if state.unfinished:
        return "an earlier operation was not finished: its last chunk is settled first"
    return "none of the keys looked up is on both sides"
