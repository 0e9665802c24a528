"""Operations: rows moved or copied chunk by chunk, each exactly once, without a transaction that spans two servers.

A chunk is written and compared in a transaction of the target, which also notes the chunk; then that of the source is
committed, which deletes the rows and notes the same chunk there. Whoever takes over compares the two notes: if the
source does not know the target's last chunk, its rows are still there, and what was written is taken out again.

    source    BEGIN ─ hash (lo, hi] ─ DELETE … RETURNING ─┐                    ─ note chunk n ─ · · · · · · · · · COMMIT
    target                          BEGIN ─ lock the note ┴ COPY ─ hash, compare ─ note chunk n ─ COMMIT
                                                                                                  ^ a crash here: settle
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import replace

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Step
from hourhand.operations.failures import LockNotGained, NotVerified, OperationFailure
from hourhand.operations.locking import limit_waits
from hourhand.operations.quoting import quoted
from hourhand.operations.transfer.checksum import Checksum, checksum, difference, narrowed
from hourhand.operations.transfer.keyset import Key, Pace, mark, range_params, unmarked
from hourhand.operations.transfer.moving_notes import NOTES, Noted
from hourhand.operations.transfer.moving_route import MARIA, Route
from hourhand.operations.transfer.moving_streams import stream
from hourhand.operations.work import LiveWork

ROUNDS = 20
"""How often the range is gone through again for rows that were inserted behind the cursor."""
BEGUN = "begun"
"""The fact that this instance has made the target's notes its own."""
_SERIALIZATION = "40001"


class Overtaken(OperationFailure):
    """Another attempt has gone on meanwhile."""

    retryable = True


class _Differs(Exception):
    """A chunk is not the same on both sides."""


class _Undone(Exception):
    """What was written only to be looked at is rolled back."""


class _Changed(Exception):
    """A row of the chunk was changed after the source was looked at."""


class Mover:
    """One attempt at moving or copying."""

    def __init__(
        self, work: LiveWork, step: Step, route: Route, target: Session, *, chunk_rows: int, chunk_target_ms: int
    ) -> None:
        self._work = work
        self._step = step
        self._route = route
        self._source = work.source
        self._target = target
        self._verify = work.config.verify
        self._pace = Pace(chunk_rows, chunk_target_ms)
        self._noted = Noted()
        self._conflicts = 0
        self._committing = False
        self._unsure = True
        """Whether the two sides may differ in what they know of the last chunk."""

    async def run(self) -> Noted:
        """Until no row is left; what the target knows in the end."""
        await self.settle()
        # Another Hourhand may have given the same number to an instance of its own.
        if self._noted.instance_id != self._work.instance_id or not self._work.facts.get(BEGUN):
            await self._begin()
        at = self._noted.hi
        while self._noted.top is not None:
            hi = await self._end(at, self._noted.top)
            if hi is not None:
                if await self._chunk_or_cancel(at, hi):
                    at = hi
                    await self._tell()
                await self._work.breathe()
            elif at is None or not self._route.delete or self._noted.round >= ROUNDS:
                break
            else:
                # Rows may have been inserted, or come to match, behind the cursor.
                at, self._noted = None, replace(self._noted, round=self._noted.round + 1)
        return self._noted

    async def _end(self, lo: Key | None, top: Key) -> Key | None:
        """Where the next chunk ends; None: no row is left. The database need not count what it skips."""
        keys = self._route.keys
        names, table = (unmarked(keys.dialect, one) for one in (keys.names, keys.table))
        sql, params = f"SELECT {names} FROM {table} WHERE {keys.where(lo=lo is not None)}", keys.params(lo, top)  # noqa: S608
        rows = await self._source.fetch(f"{sql} ORDER BY {names} LIMIT 1 OFFSET {self._pace.rows - 1}", *params)
        if rows:
            return tuple(rows[0][name] for name in keys.columns)
        return top if await self._source.fetch(f"{sql} LIMIT 1", *params) else None

    async def _begin(self) -> None:
        """The first attempt of this instance; what an earlier one left has been settled."""
        keys = self._route.keys
        last = ", ".join(f"{quoted(keys.dialect, name)} DESC" for name in keys.columns)
        where = f"({self._route.where})" if self._route.where else "1 = 1"
        rows = await self._source.fetch(f"SELECT {keys.names} FROM {keys.table} WHERE {where} ORDER BY {last} LIMIT 1")  # noqa: S608
        count = await self._source.fetch(f"SELECT count(*) AS n FROM {keys.table} WHERE {where}")  # noqa: S608
        top = tuple(rows[0][name] for name in keys.columns) if rows else None
        self._noted = Noted(
            instance_id=self._work.instance_id, chunk=self._noted.chunk, top=top, expected=int(count[0]["n"])
        )
        async with self._target.transaction():
            await self._note()
        self._work.facts[BEGUN] = True
        await self._work.save({})

    async def _tell(self) -> None:
        noted = self._noted
        share = min(noted.moved / max(noted.expected, 1), 1.0)
        await self._work.save({"chunk": noted.chunk, "rows": noted.moved}, share)

    # --- settling what an attempt before left ---

    async def settle(self) -> None:
        """Find out whether the last chunk is done on both sides; if it is not, take it out of the target again."""
        route = self._route
        async with self._target.transaction():
            noted = await self._locked()
            if route.delete and not route.same and noted.hi is not None and noted.lo != noted.hi:
                known = await self._source.fetch(f"SELECT instance_id, chunk FROM {route.source.notes_sql}")  # noqa: S608
                if (known[0]["instance_id"], known[0]["chunk"]) != (noted.instance_id, noted.chunk):
                    noted = await self._redo(noted)
        self._noted, self._unsure = noted, False

    async def _redo(self, noted: Noted) -> Noted:
        """Its rows are in the source, since its transaction did not come to an end there."""
        assert noted.hi is not None  # noqa: S101 - for type checkers: who calls has looked
        route, lo = self._route, noted.lo is not None
        there = await self._source.fetch(
            f"SELECT 1 AS one FROM {unmarked(route.source.dialect, route.source.sql)} "  # noqa: S608
            f"WHERE {route.keys.where(lo=lo)} LIMIT 1",
            *route.keys.params(noted.lo, noted.hi),
        )
        removed = 0
        if there:
            removed = await self._removed(noted)
            self._work.log(f"chunk {noted.chunk} had been written and not deleted: {removed} rows are moved again")
        noted = replace(noted, hi=noted.lo, written=None, moved=max(noted.moved - removed, 0))
        self._noted = noted
        await self._note()
        return noted

    async def _removed(self, noted: Noted) -> int:
        route = self._route
        if noted.written is not None:
            return sum([await self._change(route.removing_one(), *route.adapted(key)) for key in noted.written])
        return await self._change(route.removing(lo=noted.lo is not None), *self._there(noted.lo, noted.hi))

    def _there(self, lo: Key | None, hi: Key | None) -> tuple[object, ...]:
        """The parameters of a range of the target."""
        keys = [None if key is None else self._route.adapted(key) for key in (lo, hi)]
        return range_params(self._route.target.dialect, *keys)

    async def _locked(self) -> Noted:
        """What the target knows, held against any other attempt until the transaction ends."""
        lock = "" if self._route.target.dialect is Dialect.SQLITE else " FOR UPDATE"
        names = ", ".join(NOTES)
        rows = await self._target.fetch(f"SELECT {names} FROM {self._route.target.notes_sql}{lock}")  # noqa: S608
        return Noted.read(dict(rows[0]))

    async def _note(self) -> None:
        await self._change(self._route.noting(), *self._noted.stored())

    async def _change(self, sql: str, *params: object) -> int:
        return await self._work.change(self._step, sql, *params, session=self._target)

    # --- one chunk ---

    async def _chunk_or_cancel(self, lo: Key | None, hi: Key) -> bool:
        """Whether it was done; a cancel stops it until its transactions are being committed: then they both are."""
        before, began = self._noted.moved, time.monotonic()
        doing = asyncio.ensure_future(self._work.climb(self._step, lambda: self._settled_chunk(lo, hi)))
        try:
            await asyncio.shield(doing)
        except asyncio.CancelledError:
            if not self._committing:
                doing.cancel()
            with suppress(BaseException):
                await doing
            raise
        except _Differs as error:
            where = await self._narrowed(lo, hi)
            raise NotVerified(f"{error}; {where}; nothing of this chunk was changed") from None
        except _Changed as error:
            # The fewer the rows and the shorter the time, the less others come between.
            self._conflicts += 1
            if self._conflicts > self._work.config.lock_retries:
                raise LockNotGained(f"rows are changed by others as fast as they are moved: {error}") from error
            self._pace.rows = max(self._pace.rows // 2, 1)
            await asyncio.sleep(random.uniform(0.001, 0.05))  # noqa: S311
            return False
        self._conflicts = 0
        self._pace.took(self._noted.moved - before, (time.monotonic() - began) * 1000)
        return True

    async def _settled_chunk(self, lo: Key | None, hi: Key) -> None:
        if self._unsure:
            await self.settle()
        self._committing = False
        try:
            await self._chunk(lo, hi)
        except LockNotGained as error:
            if getattr(error.__cause__, "sqlstate", None) == _SERIALIZATION:
                raise _Changed(str(error)) from error
            raise

    async def _chunk(self, lo: Key | None, hi: Key) -> None:
        isolation = "REPEATABLE READ" if self._source.dialect is Dialect.POSTGRESQL else None
        async with self._source.transaction(isolation=isolation):
            mine = await self._mine(lo, hi)
            if self._route.same:
                noted = await self._carried(lo, hi, mine)
                self._committing = True
            else:
                async with self._target.transaction():
                    await limit_waits(self._target, self._work.config, locally=True)
                    noted = await self._carried(lo, hi, mine)
                    self._committing = self._unsure = True
        self._noted, self._unsure = noted, False

    async def _mine(self, lo: Key | None, hi: Key) -> Checksum | None:
        """The source's rows; on MariaDB they are locked, which a look at a snapshot does not do."""
        if self._verify == "none":
            return None
        keys = self._route.keys
        lock = " FOR UPDATE" if self._route.delete and self._source.dialect in MARIA else ""
        return await self._sum(0, keys.where(lo=lo is not None), keys.params(lo, hi), lock)

    async def _theirs(self, lo: Key | None, hi: Key) -> Checksum:
        return await self._sum(1, self._route.there(lo=lo is not None), self._there(lo, hi))

    async def _sum(self, side: int, where: str, params: tuple[object, ...], suffix: str = "") -> Checksum:
        """Of rows of the source (0) or of the target (1)."""
        session = (self._source, self._target)[side]
        table = (self._route.source, self._route.target)[side].sql
        if self._verify != "hash":
            rows = await session.fetch(
                f"SELECT count(*) AS n FROM {unmarked(session.dialect, table)} WHERE {where}{suffix}",  # noqa: S608
                *params,
            )
            return Checksum(int(rows[0]["n"]), 0)
        return await checksum(
            session,
            table,
            self._route.columns,
            side=side,
            where=where,
            params=params,
            quick=self._route.quick,
            suffix=suffix,
        )

    async def _carried(self, lo: Key | None, hi: Key, mine: Checksum | None) -> Noted:
        """Write, compare, note; all of it in the target's transaction."""
        if (await self._locked()).chunk != self._noted.chunk:
            raise Overtaken("another attempt has gone on with these rows meanwhile")
        before, written = await self._others(lo, hi)
        read, wrote = await self._written(lo, hi)
        if read != wrote or (mine is not None and mine.rows != read):
            raise _Differs(f"{mine.rows if mine else read} rows were to be written, and {wrote} were")
        if mine is not None:
            after = await self._theirs(lo, hi)
            added = Checksum(after.rows - before.rows, after.digest - before.digest)
            if added != mine:
                raise _Differs(difference(mine, added))
        noted = replace(
            self._noted, chunk=self._noted.chunk + 1, lo=lo, hi=hi, written=written, moved=self._noted.moved + wrote
        )
        await self._change(self._route.noting(), *noted.stored())
        if self._route.delete and not self._route.same:
            await self._work.change(
                self._step, self._route.noting_source(), noted.instance_id, noted.chunk, session=self._source
            )
        return noted

    async def _others(self, lo: Key | None, hi: Key) -> tuple[Checksum, tuple[Key, ...] | None]:
        """Rows of the target that lie in the range, and the keys that are written, where there are any such."""
        route, none = self._route, Checksum(0, 0)
        sql = f"SELECT 1 AS one FROM {unmarked(route.target.dialect, route.target.sql)} "  # noqa: S608
        if not await self._target.fetch(f"{sql}WHERE {route.there(lo=lo is not None)} LIMIT 1", *self._there(lo, hi)):
            return none, None
        names = unmarked(route.source.dialect, route.keys.names)
        rows = await self._source.fetch(
            f"SELECT {names} FROM {unmarked(route.source.dialect, route.source.sql)} "  # noqa: S608
            f"WHERE {route.keys.where(lo=lo is not None)}",
            *route.keys.params(lo, hi),
        )
        keys = tuple(tuple(row[name] for name in route.key) for row in rows)
        if route.replace:
            for key in keys:
                await self._change(route.removing_one(), *route.adapted(key))
        return (none if self._verify == "none" else await self._theirs(lo, hi)), keys

    async def _written(self, lo: Key | None, hi: Key) -> tuple[int, int]:
        route, params = self._route, self._route.keys.params(lo, hi)
        deleting = route.deleting(lo=lo is not None)
        if route.same:
            wrote = await self._change(route.carrying(lo=lo is not None), *params)
            read = wrote
        else:
            for planned in (route.out(lo=lo is not None, delete=route.delete), route.writing()):
                self._work.require_planned(self._step, planned)
            read, wrote = await stream(route, self._source, self._target, lo, hi, delete=route.delete)
        if deleting is not None:
            read = await self._work.change(self._step, deleting, *params, session=self._source)
        return read, wrote

    # --- what differs ---

    async def _narrowed(self, lo: Key | None, hi: Key) -> str:
        """Where in a chunk, found by writing it once more without deleting; all is rolled back."""
        route = self._route
        shown = f"in the rows with {', '.join(route.key)} after {_shown(lo)} up to {_shown(hi)}"
        if route.same or await self._target.fetch(
            f"SELECT 1 AS one FROM {unmarked(route.target.dialect, route.target.sql)} "  # noqa: S608
            f"WHERE {route.there(lo=lo is not None)} LIMIT 1",
            *self._there(lo, hi),
        ):
            return shown
        isolation = "REPEATABLE READ" if self._source.dialect is Dialect.POSTGRESQL else None

        async def equal(low: Key | None, high: Key | None) -> bool:
            assert high is not None  # noqa: S101 - for type checkers
            return await self._mine(low, high) == await self._theirs(low, high)

        async def middle(low: Key | None, high: Key | None) -> Key | None:
            where = route.keys.where(lo=low is not None)
            params = route.keys.params(low, high)
            table, names = (unmarked(route.source.dialect, one) for one in (route.source.sql, route.keys.names))
            count = await self._source.fetch(f"SELECT count(*) AS n FROM {table} WHERE {where}", *params)  # noqa: S608
            half = int(count[0]["n"]) // 2
            if not half:
                return None
            offset = mark(route.source.dialect, len(params) + 1)
            rows = await self._source.fetch(
                f"SELECT {names} FROM {table} WHERE {where} ORDER BY {names} LIMIT 1 OFFSET {offset}",  # noqa: S608
                *params, half - 1,
            )  # fmt: skip
            return tuple(rows[0][name] for name in route.key)

        found = shown
        with suppress(OperationFailure, _Undone):
            async with self._source.transaction(isolation=isolation), self._target.transaction():
                await stream(route, self._source, self._target, lo, hi, delete=False)
                low, high = await narrowed(lo, hi, equal=equal, middle=middle)
                found = f"in the rows with {', '.join(route.key)} after {_shown(low)} up to {_shown(high)}"
                raise _Undone
        return found


def _shown(key: Key | None) -> str:
    return "the beginning" if key is None else ", ".join(str(value) for value in key)
