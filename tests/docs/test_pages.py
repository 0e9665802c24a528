"""Every page is followed by a reader: each file saved, each command typed, each program run, in the page's order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from docs.blocks import blocks_of, pages
from docs.reader import Reader, started_in
from postgres import Cluster

ELSEWHERE = {
    "docs/reference/cli.md": "tests/api/test_cli_documents.py",
    "docs/reference/python-tasks.md": "tests/engine/test_app_docs.py",
    "docs/reference/alerts.md": "tests/engine/test_alerts_docs.py",
}
"""Pages whose examples are run by a test of their own, which knows more about them."""
MOST_NOT_RUN = 12
PAGES = [page for page in pages() if page not in ELSEWHERE and blocks_of(page)]


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Make an empty database for pages that name one; the cluster is started for the first."""

    def create() -> str:
        cluster: Cluster = request.getfixturevalue("cluster")
        return cluster.create_database()

    return create


@pytest.mark.parametrize("page", PAGES)
def test_a_reader_can_follow(page: str, tmp_path: Path, database: Callable[[], str]) -> None:
    reader = Reader(tmp_path, database, start=started_in(page))
    try:
        for block in blocks_of(page):
            reader.follow(block)
    finally:
        reader.leave()


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_what_is_run_elsewhere_is_run_there(page: str, test: str) -> None:
    root = Path(__file__).resolve().parents[2]
    assert (root / page).is_file()
    assert Path(page).name in (root / test).read_text("utf-8")


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    left = [block for page in pages() for block in blocks_of(page) if block.not_run is not None]
    assert all(len(block.not_run or "") > 20 for block in left)
    assert len(left) <= MOST_NOT_RUN, [block.place for block in left]
