"""archive_bulk_copy under kills and crashes, with a writer at work: small here, and a million rows in `make chaos`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from operations.moving_trial import Trial
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def other_server() -> Iterator[Cluster]:
    """Start a second server, which may crash."""
    server = Cluster()
    try:
        server.start()
        yield server
    finally:
        server.stop()


async def test_no_row_is_lost_and_none_is_doubled(cluster: Cluster, other_server: Cluster, tmp_path: Path) -> None:
    trial = Trial(rows=5_000, kills=5, crashes=1, chunk_rows=50)
    await trial.run(cluster, other_server, tmp_path)
    assert trial.right, trial
    assert trial.killed + trial.crashed == 6, trial
    assert trial.redone > 0, f"no chunk was on both sides: what this is about was not tried: {trial}"


async def test_without_the_redo_it_is_noticed(cluster: Cluster, tmp_path: Path) -> None:
    trial = Trial(rows=2_000, kills=4, crashes=0, chunk_rows=50, redo=False)
    await trial.run(cluster, cluster, tmp_path)
    assert trial.killed > 0, trial
    assert trial.doubled > 0, trial
    assert "already exists" in trial.failures[-1], "the target's key did not keep the rows out"


@pytest.mark.chaos
async def test_a_million_rows(cluster: Cluster, other_server: Cluster, tmp_path: Path) -> None:
    trial = Trial(rows=1_000_000, kills=50, crashes=5)
    await trial.run(cluster, other_server, tmp_path)
    assert trial.right, trial
    assert trial.killed >= 40, trial
