"""Store: the verbs of an executor: from its registration to the outcomes it reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hourhand.model.answers import Flush
from hourhand.model.hints import Hint
from hourhand.model.instance import Assignment, Beat, Ending, Finished, Held, LogLine, Outcome, Progress
from hourhand.model.registry import Executor
from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.lines import of_callback
from hourhand.store import attempts, beat, claim, finish, reap, registry, values
from hourhand.store.database import DataRefused
from hourhand.store.marks import Marks
from hourhand.store.verbs.transactions import Transactions


class Executing(Transactions):
    """What an executor does."""

    async def register(self, executor: Executor) -> tuple[int, ...]:
        lanes = await self._write(lambda tx: registry.register(tx, executor))
        self._hints.ring(Hint.EXECUTORS)
        return lanes

    async def deregister(self, executor_id: str) -> None:
        self._marks.pop(executor_id, None)
        await self._write(lambda tx: registry.deregister(tx, executor_id))
        self._hints.ring(Hint.EXECUTORS)

    async def beat(self, executor_id: str, held: Sequence[Held] = (), *, extend: Sequence[Held] | None = None) -> Beat:
        return await self.database.write(
            lambda tx: beat.beat(
                tx,
                executor_id=executor_id,
                held=held,
                extend=held if extend is None else extend,
                lease_seconds=self.lease_seconds,
            ),
            durable=False,
        )

    async def claim(
        self, executor_id: str, lanes: Sequence[int], *, limit: int, take_lost: bool = True
    ) -> list[Assignment]:
        marks = self._marks.setdefault(executor_id, Marks())
        probes = marks.probes(lanes)
        claimed = await self._write(
            lambda tx: claim.claim(
                tx,
                executor_id=executor_id,
                lanes=lanes,
                limit=limit,
                lease_seconds=self.lease_seconds,
                take_lost=take_lost,
                marks=probes,
            )
        )
        marks.advance(claimed)
        if claimed:
            self._hints.ring(Hint.INSTANCES, (one.instance_id for one in claimed))
        return claimed

    async def next_available(self, lanes: Sequence[int]) -> float | None:
        return await self._read(lambda tx: claim.next_available(tx, lanes))

    async def hand_back_unheld(self, executor_id: str, held: Sequence[int]) -> None:
        await self._change(lambda tx: reap.hand_back_unheld(tx, self._versions, executor_id=executor_id, held=held))
        self._hints.ring(Hint.INSTANCES)

    async def report_progress(self, reports: Sequence[Progress]) -> list[Held]:
        if not reports:
            return []
        superseded = await self._write(lambda tx: attempts.report_progress(tx, reports))
        self._hints.ring(Hint.INSTANCES, (one.instance_id for one in reports))
        return superseded

    async def write_lines(self, lines: Sequence[tuple[Held, LogLine]]) -> int:
        if not lines:
            return 0
        alone = not any(of_callback(line.seq) for _, line in lines)
        written = await self.database.write(lambda tx: attempts.write_lines(tx, lines), alone=alone)
        self._hints.ring(Hint.LINES, (held.instance_id for held, _ in lines))
        return written

    async def finish(self, endings: Sequence[Ending]) -> list[Finished]:
        flush = await self.flush(endings)
        await self.follow(flush.aftermath)
        return flush.finished

    async def flush(self, endings: Sequence[Ending]) -> Flush:
        if not endings:
            return Flush()
        flush = await self._flush([replace(one, outcome=values.clean(one.outcome)) for one in endings])
        await self._count(flush.aftermath)
        if any(one.status is Status.PENDING for one in flush.finished):
            self._hints.ring(Hint.PENDING)
        self._hints.ring(Hint.INSTANCES, (one.instance_id for one in flush.finished))
        return flush

    async def _flush(self, endings: Sequence[Ending]) -> Flush:
        """Guarantee 10: one bad row never blocks the rest; it is found by halving and ends failed on its own."""
        try:
            return await self._write(lambda tx: finish.finish_batch(tx, endings, self._versions))
        except DataRefused as refused:
            if len(endings) == 1:
                return await self._replace(endings[0], refused)
        half = len(endings) // 2
        flush = await self._flush(endings[:half])
        other = await self._flush(endings[half:])
        flush.finished += other.finished
        flush.aftermath.add(other.aftermath)
        return flush

    async def _replace(self, ending: Ending, refused: DataRefused) -> Flush:
        message = f"its outcome ({ending.outcome.kind.value}) could not be stored: {refused}"
        outcome = Outcome(
            kind=OutcomeKind.FAILED,
            error_message=message,
            result={"error": message},
            duration_ms=min(ending.outcome.duration_ms, 2**31),
            retryable=False,
        )
        flush = await self._write(
            lambda tx: finish.finish_batch(tx, [replace(ending, outcome=outcome)], self._versions)
        )
        flush.finished = [replace(one, replaced=True) for one in flush.finished]
        return flush
