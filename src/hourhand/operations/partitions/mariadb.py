"""Operations: boundaries on MariaDB and MySQL: ADD PARTITION, and REORGANIZE PARTITION, which copies the rows.

DDL commits by itself, so that after a crash the catalog alone tells what was done. REORGANIZE is all or nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hourhand.contracts.operation import Look
from hourhand.model.operation import Duration, Plan, Step
from hourhand.operations.catalog import find_table
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.config import TableConfig
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.bounds import Cell, beginning, grid, named
from hourhand.operations.partitions.mariadb_keys import (
    Key,
    Point,
    bound_sql,
    measure_sql,
    numbers,
    partition_there,
    read_key,
)
from hourhand.operations.partitions.mariadb_work import do_reorganize, do_verify_bounds
from hourhand.operations.partitions.shapes import (
    AddConfig,
    BoundaryState,
    MergeConfig,
    MoveConfig,
    PartitionPlan,
    SplitConfig,
)
from hourhand.operations.work import LiveWork

_NAME_CHARACTERS = 64
_NOTHING = "every boundary is there already: nothing is to be done"


@dataclass(frozen=True, slots=True)
class Found:
    """What is needed beside the table."""

    key: Key
    wanted: tuple[Point, ...] = ()
    """The boundaries that the configuration asks for, in their order."""
    numbers: Mapping[Point, int] = field(default_factory=dict)
    """What the key's function makes of them."""


async def inspect(config: TableConfig, look: Look, table: Table) -> Found:
    """The key, and the boundaries in its terms."""
    if any(not one.leaf for one in table.partitions):
        raise Refused(f"{table.shown} has subpartitions: that is not supported", field="table")
    key = read_key(table)
    match config:
        case AddConfig():
            where = "boundaries" if config.boundaries else "interval"
            texts = list(config.boundaries) or await _premade(config, look, table, key)
            wanted = [key.parsed(text, field=where) for text in texts]
            if config.interval is not None:
                # The first partition takes whatever lies below it: there is nothing to add there.
                first = key.point(table.partitions[0].high)
                wanted = [one for one in wanted if first is None or _before(first, one)]
        case SplitConfig():
            where, wanted = "boundary", [key.parsed(config.boundary, field="boundary")]
        case MergeConfig() if config.boundary is not None:
            where, wanted = "boundary", [key.parsed(config.boundary, field="boundary")]
        case _:
            where, wanted = "partitions", []
    points = tuple(sorted(set(wanted)))
    missing = [one for one in points if one not in {key.point(part.high) for part in table.partitions}]
    return Found(key, points, await numbers(look.source, key, missing, field=where))


async def _premade(config: AddConfig, look: Look, table: Table, key: Key) -> list[str]:
    """The boundaries of an interval, until so many partitions lie ahead."""
    ends = [point for one in table.partitions if (point := key.point(one.high)) is not None]
    start = config.start or (key.shown(ends[-1]) if ends else None)
    if key.temporal:
        reached = look.now.replace(tzinfo=None).isoformat(sep=" ")
        start = start or beginning(config.interval or "", look.now)
    else:
        if start is None:
            raise Refused(f"{table.shown} has no bounds yet, so that nobody can tell where to begin", field="start")
        sql = f"SELECT max({table.quoted(key.column)}) AS most FROM {table.sql}"  # noqa: S608
        most = (await look.source.fetch(sql))[0]["most"]
        reached = start if most is None else str(most)
    ahead = [one for one in ends if _before(key.point_of(reached), one)]
    if config.start is None and ahead:
        # One of these holds the present; of the others some are there, and only the rest is made.
        more = config.premake_count + 1 - len(ahead)
        return grid(config.interval or "", more - 1, start, start, type_=_type(key)) if more > 0 else []
    return grid(config.interval or "", config.premake_count, start, reached, type_=_type(key))


def _type(key: Key) -> str:
    if not key.temporal:
        return "bigint"
    return "date" if key.type.lower() == "date" else "timestamp"


def _before(one: Point, other: Point) -> bool:
    return one < other  # type: ignore[operator]  # both of one type


def plan_add(config: AddConfig, state: BoundaryState) -> PartitionPlan:
    """Beyond the last bound; what lies inside a partition is for a split."""
    table, found = state.table, state.facts
    if config.tablespace is not None:
        raise Refused("a partition has no tablespace here: leave it out", field="tablespace")
    points = [found.key.point(one.high) for one in table.partitions]
    ends = [point for point in points if point is not None]
    fresh = [one for one in found.wanted if one not in ends]
    if not fresh:
        return PartitionPlan(steps=(), notes=(_NOTHING,))
    if ends and _before(fresh[0], ends[-1]):
        inside = _holder(table, found.key, fresh[0])
        raise Refused(
            f"{found.key.shown(fresh[0])} lies inside the partition {inside.name}, which takes all below "
            f"{inside.high}: use split_boundary",
            field="boundaries" if config.boundaries else "start",
        )
    rest = table.partitions[-1] if points[-1] is None else None
    lows = [found.key.shown(one) for one in ([ends[-1]] if ends else [])]
    highs = [found.key.shown(one) for one in fresh]
    cells = [Cell(low, high) for low, high in pairwise([*lows, *highs])]
    names = named(config.name_template, table.name, cells, type_=_type(found.key))
    if not lows:
        names = [*named("{table}_before_{high}", table.name, [Cell(None, highs[0])], type_=_type(found.key)), *names]
    _free(table, names, [])
    made = [_Made(name, found.key.less_than(one, found.numbers.get(one)), found.key.shown(one))
            for name, one in zip(names, fresh, strict=True)]  # fmt: skip
    if rest is None:
        return PartitionPlan(steps=(_added(table, made), _verification(table, made)))
    made.append(_same(found.key, rest))
    return _reorganized(config, table, [rest], made, undo=None)


def plan_split(config: SplitConfig, state: BoundaryState) -> PartitionPlan:
    """The lower part keeps the name."""
    _native(config)
    table, found = state.table, state.facts
    point = found.wanted[0]
    if point in [found.key.point(one.high) for one in table.partitions]:
        return PartitionPlan(steps=(), notes=(_NOTHING,))
    whole = _holder(table, found.key, point)
    end = found.key.point(whole.high)
    cell = Cell(found.key.shown(point), None if end is None else found.key.shown(end))
    name = config.name or named(None, table.name, [cell], type_=_type(found.key))[0]
    _free(table, [name], [])
    made = [
        _Made(whole.name, found.key.less_than(point, found.numbers.get(point)), found.key.shown(point)),
        replace(_same(found.key, whole), name=name),
    ]
    return _reorganized(config, table, [whole], made, undo=found.key.shown(point))


def plan_merge(config: MergeConfig, state: BoundaryState) -> PartitionPlan:
    """The first one's name, unless another is given; the last one's bound."""
    _native(config)
    table, found = state.table, state.facts
    old = _side_by_side(table, config.partitions) if config.partitions else _beside(table, found.key, found.wanted[0])
    name = config.name or old[0].name
    _free(table, [name], [one.name for one in old])
    made = [replace(_same(found.key, old[-1]), name=name)]
    between = found.key.point(old[0].high)
    undo = found.key.shown(between) if len(old) == 2 else None  # noqa: PLR2004 - one boundary
    return _reorganized(config, table, old, made, undo=undo)


def _native(config: MoveConfig) -> None:
    if config.strategy not in ("auto", "native"):
        raise Refused(
            f"{config.strategy} is PostgreSQL's: here the database reorganizes partitions itself, and writers wait; "
            "use auto or native",
            field="strategy",
        )


def _holder(table: Table, key: Key, point: Point) -> Partition:
    for one in table.partitions:
        end = key.point(one.high)
        if end is None or _before(point, end):
            return one
    raise Refused(
        f"{key.shown(point)} lies beyond the last partition of {table.shown}: use add_boundary", field="boundary"
    )


def _side_by_side(table: Table, names: Sequence[str]) -> list[Partition]:
    for name in names:
        if table.partition(name) is None:
            there = ", ".join(one.name for one in table.partitions[:10])
            raise Refused(f"{table.shown} has no partition {name!r}; there are {there}", field="partitions")
    places = [number for number, one in enumerate(table.partitions) if one.name in names]
    if places != list(range(places[0], places[-1] + 1)):
        between = ", ".join(one.name for one in table.partitions[places[0] : places[-1]] if one.name not in names)
        raise Refused(f"they do not lie side by side: {between} is between them", field="partitions")
    return list(table.partitions[places[0] : places[-1] + 1])


def _beside(table: Table, key: Key, point: Point) -> list[Partition]:
    for one, other in pairwise(table.partitions):
        if key.point(one.high) == point:
            return [one, other]
    there = ", ".join(key.shown(end) for one in table.partitions[:-1] if (end := key.point(one.high)) is not None)
    raise Refused(
        f"{key.shown(point)} is no boundary between two partitions of {table.shown}; there are {there or 'none'}",
        field="boundary",
    )


def _free(table: Table, names: Sequence[str], going: Sequence[str]) -> None:
    """Names of partitions are the same in capitals."""
    taken = {one.name.lower() for one in table.partitions} - {one.lower() for one in going}
    for name in names:
        if name.lower() in taken:
            raise Refused(f"there is a partition {name} already: give another name", field="name")
        if len(name) > _NAME_CHARACTERS:
            raise Refused(f"{name!r} is longer than the {_NAME_CHARACTERS} characters of a name", field="name")
        taken.add(name.lower())


@dataclass(frozen=True, slots=True)
class _Made:
    """A partition as it will be."""

    name: str
    less_than: str
    end: str | None

    def sql(self, table: Table) -> str:
        return f"PARTITION {table.quoted(self.name)} VALUES LESS THAN {self.less_than}"


def _same(key: Key, one: Partition) -> _Made:
    end = key.point(one.high)
    return _Made(one.name, bound_sql(one.high, columns=key.columns), None if end is None else key.shown(end))


def _done(table: Table, made: Sequence[_Made], old: Sequence[Partition] = ()) -> str:
    names = {one.name for one in made}
    there = [partition_there(table, one.name) for one in made]
    gone = [f"NOT {partition_there(table, one.name)}" for one in old if one.name not in names]
    return f"SELECT {' AND '.join([*there, *gone])} AS done"


def _added(table: Table, made: Sequence[_Made]) -> Step:
    return Step(
        name=f"add {', '.join(one.name for one in made)}",
        phase="add",
        sql=(f"ALTER TABLE {table.sql} ADD PARTITION ({', '.join(one.sql(table) for one in made)})",),
        lock=f"EXCLUSIVE metadata lock on {table.shown}, for a moment: nobody reads or writes",
        transaction=False,
        done_check=_done(table, made),
    )


def _reorganized(
    config: TableConfig, table: Table, old: Sequence[Partition], made: Sequence[_Made], *, undo: str | None
) -> PartitionPlan:
    """Under one lock from before the first count until after the second, so that the two can be compared."""
    before, after = (table.quoted(*names) for names in ([one.name for one in old], [one.name for one in made]))
    alter = f"ALTER TABLE {table.sql} REORGANIZE PARTITION {before} INTO ({', '.join(one.sql(table) for one in made)})"
    verified = config.verify != "none"
    statements = (
        f"LOCK TABLES {table.sql} WRITE",
        measure_sql(table, f"{table.sql} PARTITION ({before})"),
        alter,
        measure_sql(table, f"{table.sql} PARTITION ({after})"),
        "UNLOCK TABLES",
    )
    shown = ", ".join(one.name for one in old), ", ".join(one.name for one in made)
    who = "nobody reads or writes it" if verified else "nobody writes to it"
    step = Step(
        name=f"reorganize {shown[0]} into {shown[1]}",
        phase="reorganize",
        sql=statements if verified else (alter,),
        action="reorganize",
        values={"old": [one.name for one in old], "undo_boundary": undo},
        lock=f"EXCLUSIVE on all of {table.shown} while the rows of {shown[0]} are copied: {who}",
        duration=Duration.BY_SIZE,
        transaction=False,
        done_check=_done(table, made, old),
        weight=20,
    )
    cost = "read twice and copied" if verified else "copied"
    notes = [f"the rows of {shown[0]} are {cost}, and for all that time {who}; it needs room for them a second time"]
    if verified:
        notes.append("with verify: none readers go on, and nothing is counted before and after")
    verify = _verification(table, made, undo=undo)
    return PartitionPlan(steps=(step, verify), notes=tuple(notes))


def _verification(table: Table, made: Sequence[_Made], *, undo: str | None = None) -> Step:
    return Step(
        name=f"verify the bounds of {table.shown}",
        phase="verify",
        action="verify_bounds",
        values={"bounds": [[one.name, one.end] for one in made], "undo_boundary": undo},
    )


ACTIONS: Mapping[str, Callable[[LiveWork, Step], Awaitable[object]]] = {
    "reorganize": do_reorganize,
    "verify_bounds": do_verify_bounds,
}


async def estimate(look: Look, plan: Plan) -> Plan:
    """The rows that are copied, and the room that takes."""
    table = await find_table(look.source, plan.config["schema"], plan.config["table"])
    steps = []
    for step in plan.steps:
        parts = [table.partition(name) for name in step.values.get("old", ())] if table is not None else []
        known = [part for part in parts if part is not None]
        size = sum(part.bytes for part in known)
        some = step.action == "reorganize"
        steps.append(
            replace(step, rows=sum(part.rows for part in known), bytes=size, disk_bytes=size) if some else step
        )
    return replace(plan, steps=tuple(steps))
