"""Operations: every kind there is: the files of `hourhand.operations.kinds`, and what others bring by entry point."""

from __future__ import annotations

import importlib
import inspect
import logging
import pkgutil
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from typing import Any

from hourhand.model.errors import InvalidInput
from hourhand.operations import kinds
from hourhand.operations.kind import Kind
from hourhand.rules.closest import Closest

ENTRY_POINTS = "hourhand.operations"
"""An entry point of this group names a class derived from `hourhand.operations.kind.Kind`."""
log = logging.getLogger(__name__)


class Catalogue:
    """The kinds of this process, found once."""

    def __init__(self) -> None:
        found = [*_built_in(), *_brought()]
        self._kinds = {one.kind: one for one in sorted(found, key=lambda one: (one.number, one.kind))}

    def get(self, kind: str) -> Kind[Any, Any]:
        """The kind of that name."""
        if kind not in self._kinds:
            near = Closest(self._kinds).to(kind)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(self._kinds)}"
            raise InvalidInput.one("kind", kind, f"there is no operation {kind!r}: {hint}")
        return self._kinds[kind]

    def all(self) -> Sequence[Kind[Any, Any]]:
        """By number."""
        return tuple(self._kinds.values())


def _built_in() -> Iterator[Kind[Any, Any]]:
    for module in sorted(pkgutil.iter_modules(kinds.__path__), key=lambda one: one.name):
        loaded = importlib.import_module(f"{kinds.__name__}.{module.name}")
        for _, found in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(found, Kind) and found.__module__ == loaded.__name__ and hasattr(found, "kind"):
                yield found()


def _brought() -> Iterator[Kind[Any, Any]]:
    """A kind that cannot be loaded must not keep the others from working."""
    for point in entry_points(group=ENTRY_POINTS):
        try:
            yield point.load()()
        except Exception:
            log.exception("the operation kind %r of the entry point %s cannot be loaded", point.name, point.value)
