"""Operations: reading catalogs."""

from __future__ import annotations

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog import mariadb, postgresql, sqlite
from hourhand.operations.catalog.table import Table
from hourhand.operations.failures import Refused
from hourhand.rules.operations import PREFIX


async def find_table(session: Session, schema: str | None, name: str) -> Table | None:
    """The table, or None if there is none of that name."""
    match session.dialect:
        case Dialect.POSTGRESQL:
            return await postgresql.find_table(session, schema or "public", name)
        case Dialect.MARIADB | Dialect.MYSQL:
            return await mariadb.find_table(session, schema, name)
    return await sqlite.find_table(session, name)


async def read_table(session: Session, schema: str | None, name: str, *, field: str = "table") -> Table:
    """The table; Refused says which there are."""
    found = await find_table(session, schema, name)
    if found is not None:
        return found
    near = await similar(session, schema, name)
    hint = f"did you mean {near}?" if near else "it has no table at all that this user can see"
    raise Refused(f"there is no table {f'{schema}.' if schema else ''}{name} in {session.shown}: {hint}", field=field)


async def similar(session: Session, schema: str | None, name: str) -> str:
    """Tables whose names come close, for whoever misspells one."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is refused

    match session.dialect:
        case Dialect.POSTGRESQL:
            names = await postgresql.table_names(session)
        case Dialect.MARIADB | Dialect.MYSQL:
            names = await mariadb.table_names(session, schema)
        case _:
            names = await sqlite.table_names(session)
    names = [one for one in names if not one.rpartition(".")[2].startswith(PREFIX)]  # nobody means what we keep there
    wanted = f"{schema or 'public'}.{name}" if session.dialect is Dialect.POSTGRESQL else name
    return ", ".join(get_close_matches(wanted, names, n=3, cutoff=0.4) or names[:5])
