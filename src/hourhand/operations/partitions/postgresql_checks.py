"""Operations: what must hold before PostgreSQL's partitions are worked on, and what is good to know."""

from __future__ import annotations

from collections.abc import Iterator

from hourhand.model.operation import Precondition
from hourhand.operations.catalog.table import Table
from hourhand.operations.partitions.postgresql_look import PgFacts

OLDEST_SERVER = (12,)
_LONG = 600


def preconditions(table: Table, facts: PgFacts, *, detaches: bool) -> tuple[Precondition, ...]:
    """Those of every boundary kind, and of those that detach partitions."""
    found = [*_of_all(table, facts)]
    found += _of_detaching(table, facts) if detaches else ()
    return tuple(found)


def told(name: str, wrong: str, right: str) -> Precondition:
    """One that does not hold if there is something wrong to say."""
    return Precondition(name=name, ok=not wrong, detail=wrong or right)


def _of_all(table: Table, facts: PgFacts) -> Iterator[Precondition]:
    version = ".".join(map(str, facts.version))
    yield told(
        "version",
        "" if facts.version >= OLDEST_SERVER else f"PostgreSQL {version} is too old: 12 or later is needed",
        f"PostgreSQL {version}",
    )
    everything = (facts.parent, *facts.relations, *((facts.default,) if facts.default else ()))
    foreign = [f"{one.name} (of {one.owner})" for one in everything if not one.owned]
    wrong = f"{', '.join(foreign)} belong to others than {facts.parent.me}: sign in as the owner" if foreign else ""
    if not facts.may_create:
        wrong = wrong or f"{facts.parent.me} may not create tables in {table.schema}: GRANT CREATE ON SCHEMA"
    yield told("ownership", wrong, f"owned by {facts.parent.owner}")
    pending = [one.name for one in table.partitions if one.pending_detach]
    yield told(
        "no pending detach",
        f"the detach of {', '.join(pending)} was interrupted: ALTER TABLE {table.sql} DETACH PARTITION … FINALIZE"
        if pending
        else "",
        "none",
    )
    invalid = [one.name for one in facts.parent.indexes if not one.valid]
    invalid += [index.name for one in facts.relations for index in one.indexes if not index.valid]
    yield told("indexes", f"{', '.join(invalid)} are not valid: rebuild them first (index_rebuild)" if invalid else "",
               "all valid")  # fmt: skip
    taken = ", ".join(sorted(facts.taken))
    yield told("names", f"there is something called {taken} already: give another name" if taken else "", "free")
    long = " (a step that needs a lock waits for it, and lets others go first)" if facts.oldest > _LONG else ""
    yield told("longest transaction", "", f"open for {facts.oldest} s{long}")
    yield told("replicas", "", f"{facts.replicas} connected; what is written here is written there")


def _of_detaching(table: Table, facts: PgFacts) -> Iterator[Precondition]:
    references = ", ".join(f"{one.table} ({one.name})" for one in table.referenced_by)
    yield told(
        "foreign keys",
        f"{references} refer to {table.shown}: PostgreSQL does not detach partitions whose rows are referred to; drop "
        "these foreign keys, and add them again afterwards (NOT VALID, then VALIDATE)"
        if references
        else "",
        "none refers to it",
    )
    own = {one.name: one.own for one in facts.relations}
    unlike = [name for name, kept in own.items() if kept != facts.relations[0].own]
    wrong = ""
    if unlike:
        first = facts.relations[0]
        differs = sorted(own[unlike[0]] ^ first.own)
        wrong = f"{first.name} and {unlike[0]} differ, by {'; '.join(differs)}: make them alike first"
    yield told("definitions", wrong, "alike")
    triggers = [f"{name} on {one.name}" for one in facts.relations for name in _foreign_triggers(one.triggers)]
    yield told(
        "triggers",
        f"{', '.join(triggers)} would be lost: put them on {table.shown}, or drop them" if triggers else "",
        "no partition has its own",
    )
    views = [f"{view} (reads {one.name})" for one in facts.relations for view in one.views]
    yield told(
        "views", f"{', '.join(views)} would read on in what is replaced: let them read {table.shown}" if views else "",
        "none reads a partition by its own name",
    )  # fmt: skip
    hidden = [one.name for one in facts.relations if one.forced and not one.sees_all]
    yield told(
        "row security",
        f"{', '.join(hidden)} hide rows from their owner (FORCE ROW LEVEL SECURITY): sign in as a role with BYPASSRLS"
        if hidden
        else "",
        "hides nothing",
    )


def _foreign_triggers(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not name.startswith("_hh_")]


def notes(table: Table, facts: PgFacts) -> tuple[str, ...]:
    """What is good to know."""
    found = []
    if facts.publications:
        found.append(
            f"{table.shown} is published by {', '.join(facts.publications)}: unless it is published as a whole "
            "(publish_via_partition_root), subscribers need the new partitions too"
        )
    if facts.leftovers:
        found.append("an earlier operation on this table was given up: what it left is cleared away first")
    if facts.expired:
        found.append(f"dropped, since the time it was to be kept is over: {', '.join(facts.expired)}")
    return tuple(found)
