"""Whether the demo needs an executor."""

from __future__ import annotations

import pytest

from hourhand.model.demo import DemoState


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        (DemoState(), False),
        (DemoState(tasks=1), True),
        (DemoState(living=1), True),
        (DemoState(executors=1, owned=True), False),
    ],
)
def test_an_executor_is_wanted_while_there_is_something_to_do_or_to_stop(state: DemoState, *, wanted: bool) -> None:
    assert state.wants_executor is wanted
