"""Testing: what programs test their handlers, tasks and schedules with; docs/reference/testing.md explains each."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "FakeContext",
    "Firing",
    "HandlerRun",
    "Report",
    "TestServer",
    "Timeline",
    "fire_times",
    "run_handler",
    "run_handler_async",
    "schedule_notes",
    "serving",
]

if TYPE_CHECKING:
    from hourhand.testing.attempts import FakeContext, Report
    from hourhand.testing.handlers import HandlerRun, run_handler, run_handler_async
    from hourhand.testing.servers import TestServer, serving
    from hourhand.testing.timelines import Firing, Timeline, fire_times, schedule_notes
else:
    _HOMES = {
        "FakeContext": "hourhand.testing.attempts",
        "Report": "hourhand.testing.attempts",
        "HandlerRun": "hourhand.testing.handlers",
        "run_handler": "hourhand.testing.handlers",
        "run_handler_async": "hourhand.testing.handlers",
        "TestServer": "hourhand.testing.servers",
        "serving": "hourhand.testing.servers",
        "Firing": "hourhand.testing.timelines",
        "Timeline": "hourhand.testing.timelines",
        "fire_times": "hourhand.testing.timelines",
        "schedule_notes": "hourhand.testing.timelines",
    }

    def __getattr__(name):  # noqa: ANN001, ANN202 - were it typed, type checkers would believe in every name
        """Import on demand: pytest loads this package's plugin in every project that has Hourhand."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - only who asks pays for it

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """What there is, also before it was asked for."""
    return sorted({*globals(), *__all__})
