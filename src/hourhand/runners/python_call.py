"""Runners: one call of a handler, from an attempt to an outcome; nothing that a handler does gets past this."""

from __future__ import annotations

import asyncio
import json
import math
import os
import traceback
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

from hourhand.contracts.runner import Attempt, Handler
from hourhand.model.errors import InvalidInput, shown
from hourhand.model.instance import Outcome
from hourhand.model.steering import Fail, Retry
from hourhand.model.words import OutcomeKind
from hourhand.rules.definition import MAX_JSON_BYTES
from hourhand.runners.python_records import CURRENT

ERROR_CHARACTERS = 8_000
TRACEBACK_CHARACTERS = 24_000
_OURS = str(Path(__file__).parent.parent)
_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"))
_NOTHING = Outcome(kind=OutcomeKind.SUCCESS, result={"value": None})
_SHORT = 1_000
_CUT = "… [truncated] …"
Called = Coroutine[Any, Any, object]


class _Forks:
    """Counts the forks that led to this process."""

    count = 0


def _forked() -> None:
    _Forks.count += 1


os.register_at_fork(after_in_child=_forked)


async def call(handler: Handler, attempt: Attempt) -> Outcome:
    """Run the handler here and tell what came of it; only being stopped is raised."""
    called = begin(handler, attempt)
    return called if isinstance(called, Outcome) else await finish(called, attempt)


def begin(handler: Handler, attempt: Attempt) -> Outcome | Called:
    """Make the call, ready to be awaited or driven; or tell why it cannot be made."""
    try:
        return handler.call(attempt)
    except InvalidInput as refused:
        return refuse(attempt, str(refused))
    except Exception as error:  # noqa: BLE001 - whatever a type of the user's own does when it is made
        return failed(attempt, error)


async def finish(called: Called, attempt: Attempt) -> Outcome:
    """Carry the call out."""
    forks = _Forks.count
    CURRENT.set(attempt)
    try:
        value = await called
    except asyncio.CancelledError as error:
        if _was_stopped(attempt):
            raise
        return failed(attempt, error)  # it cancelled itself, or awaited what somebody else cancelled
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001 - SystemExit too: a handler must not end its executor
        return failed(attempt, error)
    finally:
        CURRENT.set(None)
        if forks != _Forks.count:
            # A copy of the executor that the handler made and came back in: it must not act as the executor.
            os._exit(0)
    return succeeded(attempt, value)


def drive(called: Called, attempt: Attempt) -> Outcome | BaseException:
    """The same in a thread without a loop, for a handler that never has to wait for one; raises nothing."""
    finishing = finish(called, attempt)
    try:
        finishing.send(None)
    except StopIteration as done:
        outcome: Outcome = done.value
        return outcome
    except BaseException as error:  # noqa: BLE001 - it is for who awaits this thread
        return error
    finishing.close()
    return refuse(attempt, "the handler waits for a loop, and it runs in a thread without one: write async def")


def _was_stopped(attempt: Attempt) -> bool:
    """Whether a CancelledError came from the executor."""
    if attempt.cancelled:
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:  # in a thread, where nobody can have sent one
        return False
    return task is not None and task.cancelling() > 0


def succeeded(attempt: Attempt, value: object) -> Outcome:
    """What a handler returned, as a result; refused if it is not JSON."""
    if value is None:
        return _NOTHING
    if type(value) is bool or (type(value) is str and len(value) < _SHORT):  # no need to look closer
        return Outcome(kind=OutcomeKind.SUCCESS, result={"value": value})
    try:
        size = len(_ENCODER.encode(value).encode("utf-8", "replace"))
    except (TypeError, ValueError, RecursionError):
        place, what = next(_not_json(value, "result"), ("result", "nested too deeply, or holds itself"))
        return refuse(
            attempt, f"{place} is {what}, which is not JSON: return dict, list, str, int, float, bool or None"
        )
    if size > MAX_JSON_BYTES:
        said = f"the result has {size} bytes; at most {MAX_JSON_BYTES} are kept"
        attempt.log(f"{said}: store it elsewhere and return where", level="warning")
        return Outcome(kind=OutcomeKind.SUCCESS, result={"value": None, "error": said})
    return Outcome(kind=OutcomeKind.SUCCESS, result={"value": value})


def refuse(attempt: Attempt, message: str) -> Outcome:
    """A failure that trying again cannot mend."""
    message = cut(message, ERROR_CHARACTERS)
    attempt.log(message, level="error")
    return Outcome(kind=OutcomeKind.FAILED, error_message=message, retryable=False)


def failed(attempt: Attempt, error: BaseException) -> Outcome:
    """What a handler raised, with its traceback in the instance log."""
    message = cut(describe(error), ERROR_CHARACTERS)
    attempt.log(message, level="error", exception=cut(trace(error), TRACEBACK_CHARACTERS))
    return Outcome(
        kind=OutcomeKind.FAILED,
        error_message=message,
        retryable=not isinstance(error, InvalidInput | Fail),
        retry_after_seconds=error.after.total_seconds() if isinstance(error, Retry) else None,
    )


def describe(error: BaseException) -> str:
    """`ValueError: what was wrong`."""
    try:
        said = str(error).strip()
    except Exception:  # noqa: BLE001 - the user's own __str__
        said = "(it cannot be shown)"
    name = type(error).__qualname__
    return f"{name}: {said}" if said else name


def trace(error: BaseException) -> str:
    """The traceback from the user's code on."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None and step.tb_frame.f_code.co_filename.startswith(_OURS):
        step = step.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, step))
    except Exception:  # noqa: BLE001 - the user's own __str__, __notes__, __cause__ …
        return "".join(traceback.format_tb(step))


def cut(text: str, most: int) -> str:
    """Its beginning and its end, which say the most, with a marker between."""
    if len(text) <= most:
        return text
    half = (most - len(_CUT)) // 2
    return f"{text[:half]}{_CUT}{text[-half:]}"


def _not_json(value: object, place: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Where a value stops being JSON, and what is there."""
    if depth > 50 or value is None or isinstance(value, str | bool | int):  # noqa: PLR2004 - far deeper than is stored
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            yield place, str(value)
    elif isinstance(value, dict):
        for name, one in value.items():
            if not isinstance(name, str | int | float | bool | None):
                yield f"a key of {place}", _type(name)
            yield from _not_json(one, f"{place}[{shown(name)}]", depth + 1)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _not_json(one, f"{place}[{number}]", depth + 1)
    else:
        yield place, _type(value)


def _type(value: object) -> str:
    kind = type(value)
    return f"a {kind.__qualname__}" if kind.__module__ == "builtins" else f"a {kind.__module__}.{kind.__qualname__}"
