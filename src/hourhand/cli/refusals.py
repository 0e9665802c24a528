"""Refusals of the API, in the words of the options that were typed in the CLI."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from hourhand.model.errors import Conflict, IllegalEdge, InvalidInput
from hourhand.model.words import Status

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

_PLACE = re.compile(r"\.[0-9]+$")
_HAS = {Status.SUCCESS: "has succeeded", Status.FAILED: "has failed", Status.CANCELLED: "was cancelled"}


@contextmanager
def in_words_of(options: Mapping[str, str]) -> Iterator[None]:
    """Name the option rather than the field that it became; fields that no option became keep their names."""
    try:
        yield
    except InvalidInput as refused:
        raise InvalidInput(replace(each, field=_option(each.field, options)) for each in refused.errors) from None


@contextmanager
def nothing_to(do: str, rest: Rest, instance_id: int) -> Iterator[None]:
    """Say of an instance that cannot be cancelled or retried what it is, and what can be done instead."""
    try:
        yield
    except IllegalEdge as refused:
        state = Status(refused.state)
        if not state.ended:
            raise Conflict(
                f"instance {instance_id} is {state.value}: it can be retried once it has failed or was cancelled; "
                f"`hourhand instance cancel {instance_id}` ends it"
            ) from None
        name: str = rest.get(f"/instances/{instance_id}")["task_name"]
        instead = f"; `hourhand task run {shlex.quote(name)}` makes a new one" if do == "retry" else ""
        raise Conflict(f"instance {instance_id} {_HAS[state]}: there is nothing to {do}{instead}") from None


def _option(field: str, options: Mapping[str, str]) -> str:
    """That of the field, or of the list that it is a part of."""
    return options.get(field) or options.get(_PLACE.sub("", field)) or field
