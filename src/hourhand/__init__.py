"""Hourhand decides when work is due and gets it done on the right machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"
__all__ = [
    "App",
    "Client",
    "Context",
    "Explanation",
    "Fail",
    "Instance",
    "LogLine",
    "Retry",
    "Status",
    "SubmittedInstance",
    "Task",
    "__version__",
    "errors",
]

if TYPE_CHECKING:
    from hourhand import errors
    from hourhand.model.explanation import Explanation
    from hourhand.model.instance import Instance, LogLine, SubmittedInstance
    from hourhand.model.steering import Fail, Retry
    from hourhand.model.task import Task
    from hourhand.model.words import Status
    from hourhand.sdk.app import App
    from hourhand.sdk.client import Client
    from hourhand.sdk.context import Context
else:
    _HOMES = {
        "App": "hourhand.sdk.app",
        "Client": "hourhand.sdk.client",
        "Context": "hourhand.sdk.context",
        "Explanation": "hourhand.model.explanation",
        "Fail": "hourhand.model.steering",
        "Instance": "hourhand.model.instance",
        "LogLine": "hourhand.model.instance",
        "Retry": "hourhand.model.steering",
        "Status": "hourhand.model.words",
        "SubmittedInstance": "hourhand.model.instance",
        "Task": "hourhand.model.task",
        "errors": "hourhand.errors",
    }

    def __getattr__(name):  # noqa: ANN001, ANN202 - were it typed, type checkers would believe in every name
        """Import on demand what programs use, so that the command `hourhand --help` need not wait for it."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - only who asks pays for it

        home = import_module(_HOMES[name])
        value = getattr(home, name, home)  # `errors` is its own home
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """What there is, also before it was asked for."""
    return sorted({*globals(), *__all__})
