"""Options of the CLI that several commands share, written down once as a dataclass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

Command = Callable[..., None]


def flattened(kind: type[Any], parameter: str = "options") -> Callable[[Command], Command]:
    """Give a command the options of `kind` one by one, as Typer wants them, in place of its parameter of that name."""

    def flatten(command: Command) -> Command:
        hints = get_type_hints(kind, include_extras=True)
        keyword = inspect.Parameter.KEYWORD_ONLY
        options = [
            inspect.Parameter(one.name, keyword, default=one.default, annotation=hints[one.name])
            for one in fields(kind)
        ]

        @functools.wraps(command)
        def called(**given: Any) -> None:  # noqa: ANN401 - whatever the options are
            mine = {one.name: given.pop(one.name) for one in fields(kind)}
            command(**given, **{parameter: kind(**mine)})

        signature = inspect.signature(command, eval_str=True)
        others = [one.replace(kind=keyword) for name, one in signature.parameters.items() if name != parameter]
        called.__signature__ = inspect.Signature([*others, *options])  # type: ignore[attr-defined]
        called.__annotations__ = {}
        return called

    return flatten
