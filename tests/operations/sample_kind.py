"""A kind for tests of the ground: it copies the numbers of one table to another, in chunks that can be gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Plan, Step
from hourhand.operations.config import Config
from hourhand.operations.kind import Kind
from hourhand.operations.work import LiveWork
from operations.asking import execute

NUMBERS = "operations.sample_kind:Numbers"
ONCE = "operations.sample_kind:Once"
"""What `running` takes as one of `extra`."""


class NumbersConfig(Config):
    """What it takes."""

    chunk_rows: int = Field(default=10, ge=1)
    """How many at a time."""
    boast: str = ""
    """Written to the instance log."""


class Numbers(Kind[NumbersConfig, tuple[Dialect, int]]):
    """Copies numbers."""

    kind = "numbers"
    number = 900
    title = "copy numbers from one table to another"
    config = NumbersConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "source"}

    async def inspect(self, config: NumbersConfig, look: Look) -> tuple[Dialect, int]:  # noqa: ARG002  # as all have it
        """Count what is to be copied."""
        return look.source.dialect, int((await look.source.fetch("SELECT count(*) AS n FROM numbers"))[0]["n"])

    def plan(self, config: NumbersConfig, state: tuple[Dialect, int]) -> Plan:
        """One statement for each chunk; each is safe to execute again."""
        dialect, rows = state
        chunks = tuple(
            f"INSERT INTO copied SELECT n FROM numbers WHERE n BETWEEN {first} AND {first + config.chunk_rows - 1} "
            "AND n NOT IN (SELECT n FROM copied)"
            for first in range(1, rows + 1, config.chunk_rows)
        )
        steps = (
            Step(name="copy the numbers", phase="copy", sql=chunks, action="copy", weight=9),
            Step(name="count the copies", phase="verify", action="count"),
        )
        return Plan(kind=self.kind, dialect=dialect, config=config.plain(), steps=steps)

    async def do_copy(self, work: LiveWork, step: Step) -> None:
        """Chunk by chunk."""
        for number in range(int(work.position.get("chunk", 0)), len(step.sql)):
            sql = step.sql[number]
            await work.climb(step, lambda sql=sql: work.change(step, sql))  # type: ignore[misc]  # of this chunk
            await work.save({"chunk": number + 1}, (number + 1) / len(step.sql))
            work.log(f"chunk {number + 1} {work.plan.config['boast']}")

    async def do_count(self, work: LiveWork, step: Step) -> None:  # noqa: ARG002  # as all have it
        """What the summary tells comes from the database."""
        work.facts["rows"] = int((await work.source.fetch("SELECT count(*) AS n FROM copied"))[0]["n"])


class Once(Kind[Config, tuple[Dialect, bool]]):
    """Makes a table and writes a row: a plan that its own first step would change, were it made again."""

    kind = "once"
    number = 901
    title = "make a table"
    config = Config
    example: ClassVar[Mapping[str, Any]] = {"data_source": "source"}

    async def inspect(self, config: Config, look: Look) -> tuple[Dialect, bool]:  # noqa: ARG002  # as all have it
        """Look whether the table is there."""
        return look.source.dialect, bool((await look.source.fetch(_is_made(look.source.dialect)))[0]["n"])

    def plan(self, config: Config, state: tuple[Dialect, bool]) -> Plan:
        """Make it unless it is there."""
        dialect, there = state
        make = Step(
            name="make it", phase="prepare", sql=("CREATE TABLE made (n INTEGER)",), done_check=_is_made(dialect)
        )
        fill = Step(
            name="fill it",
            phase="copy",
            sql=("INSERT INTO made VALUES (1)",),
            done_check="SELECT count(*) AS n FROM made",
        )
        return Plan(kind=self.kind, dialect=dialect, config=config.plain(), steps=(fill,) if there else (make, fill))


def _is_made(dialect: Dialect) -> str:
    if dialect is Dialect.SQLITE:
        return "SELECT count(*) AS n FROM sqlite_master WHERE name = 'made'"
    own = "current_schema()" if dialect is Dialect.POSTGRESQL else "DATABASE()"
    return f"SELECT count(*) AS n FROM information_schema.tables WHERE table_name = 'made' AND table_schema = {own}"


async def make_numbers(source: Address, rows: int = 100) -> None:
    """Make its tables; there is no key, so that a row that was copied twice would be there twice."""
    values = ", ".join(f"({n})" for n in range(1, rows + 1))
    await execute(
        source,
        "CREATE TABLE numbers (n INTEGER NOT NULL)",
        f"INSERT INTO numbers VALUES {values}",
        "CREATE TABLE copied (n INTEGER NOT NULL)",
    )
