"""Waiting for an instance in a terminal: its phase and progress, its lines as they come, and how it ended."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.status import Status as Spinner

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import clean, note, print_facts
from hourhand.cli.rest import Rest
from hourhand.model.errors import StoreUnavailable
from hourhand.model.words import Status

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.2, 2.0
OUTAGE_SECONDS = 60.0
UNCLAIMED_SECONDS = 15.0
LINES_AT_ONCE = 1_000
TAIL_LINES = 10


class Printer:
    """Prints the lines of an instance log, and remembers where it is."""

    def __init__(self, *, times: bool = False, to_stderr: bool = False) -> None:
        self._times = times
        self._out = sys.stderr if to_stderr else sys.stdout
        self._at_line_start = True
        self.after = -1

    def print(self, lines: list[Json]) -> None:
        """Print them."""
        for line in lines:
            self.after = line["seq"]
            text = self._text(line)
            if text:
                # A stream comes in chunks that may end in the middle of a line; a message is a line of its own.
                begin = "" if self._at_line_start or (line["stream"] and not self._times) else "\n"
                self._out.write(begin + (clean(text) if self._out.isatty() else text))
                self._at_line_start = text.endswith("\n")
        self._out.flush()

    def end(self) -> None:
        """End the last line."""
        if not self._at_line_start:
            self._out.write("\n")
            self._out.flush()
            self._at_line_start = True

    def _text(self, line: Json) -> str:
        message: str = line["message"]
        if not line["stream"]:
            level = "" if line["level"] == "info" else f"{line['level'].upper()} "
            message = f"{level}{message.rstrip()}\n"
        if self._times:
            prefix = f"{moments.shown(line['logged_at'])} "
            message = "".join(f"{prefix}{one}\n" for one in message.rstrip("\n").split("\n"))
        return message + (f"{line['exception'].rstrip()}\n" if line["exception"] else "")


def all_lines(rest: Rest, instance_id: int) -> Iterator[Json]:
    """Everything it has written so far."""
    after = -1
    while lines := rest.get(f"/instances/{instance_id}/logs", after=after, limit=LINES_AT_ONCE)["items"]:
        yield from lines
        after = lines[-1]["seq"]


def print_lines(rest: Rest, instance_id: int, printer: Printer) -> bool:
    """Print what has been written since; whether there was anything."""
    news = False
    while True:
        answer = rest.get(f"/instances/{instance_id}/logs", after=printer.after, limit=LINES_AT_ONCE)
        printer.print(answer["items"])
        if len(answer["items"]) < LINES_AT_ONCE:
            return news or bool(answer["items"])
        news = True


def wait(rest: Rest, instance: Json, printer: Printer | None) -> Json:
    """The instance once it has ended; with a printer, its lines as they come."""
    instance_id: int = instance["id"]
    with _until_interrupted(instance_id), _spinner(wanted=printer is None) as spinner:
        delay = FIRST_LOOK_SECONDS
        begin = answered = time.monotonic()
        told = False
        while True:
            try:
                # Looked at before its lines: those of one that has ended are all there.
                current: Json = rest.get(f"/instances/{instance_id}")
                news = printer is not None and print_lines(rest, instance_id, printer)
                answered = time.monotonic()
            except StoreUnavailable:
                if time.monotonic() - answered > OUTAGE_SECONDS:
                    raise
                current, news = instance, False
            if Status(current["status"]).ended:
                if printer is not None:
                    printer.end()
                return current
            delay = FIRST_LOOK_SECONDS if news or _moved(instance, current) else min(delay * 1.5, LAST_LOOK_SECONDS)
            if not told and current["status"] == "pending" and time.monotonic() - begin > UNCLAIMED_SECONDS:
                told = True
                note(_why_not(current))
            if spinner is not None:
                spinner.update(_state(current).replace("[", r"\["))
            elif printer is not None and current["phase"] != instance["phase"]:
                printer.end()
                note(_state(current))
            instance = current
            time.sleep(delay)


def how_it_ended(instance: Json) -> str:
    """One sentence."""
    took = "" if instance["start_time"] is None else f" after {moments.length((instance['duration_ms'] or 0) / 1_000)}"
    said = (instance["error_message"] or "").strip()
    by = said.removeprefix("cancelled ")
    if instance["status"] == "cancelled" and by != said:  # such as "cancelled by ada": the word is there already
        return f"Instance {instance['id']} of task {instance['task_name']!r}: cancelled {by}{took}"
    why = f": {said}" if said else ""
    return f"Instance {instance['id']} of task {instance['task_name']!r}: {instance['status']}{took}{why}"


def print_result(instance: Json) -> None:
    """What it returned, and the end of what it wrote."""
    result: Json = instance["result"] or {}
    told = {name: _tail(result[name]) for name in ("output", "error") if result.get(name)}
    print_facts(told | {name: result[name] for name in ("status_code", "value") if result.get(name) is not None})


def what_it_returned(instance: Json) -> str:
    """What a handler returned, if anything."""
    value = (instance["result"] or {}).get("value")
    return "" if value is None else f"It returned {json.dumps(value, ensure_ascii=False)}"


def _tail(text: object) -> str:
    lines = str(text).rstrip("\n").split("\n")
    return "\n".join(lines if len(lines) <= TAIL_LINES else ["…", *lines[-TAIL_LINES:]])


def _moved(before: Json, after: Json) -> bool:
    return any(before[name] != after[name] for name in ("status", "phase", "progress"))


def _state(instance: Json) -> str:
    phase = f": {instance['phase']}" if instance["phase"] else ""
    progress = f" ({instance['progress']:.0%})" if instance["progress"] is not None else ""
    waits = f" (waits for {instance['blocked_by']})" if instance["blocked_by"] else ""
    return clean(f"instance {instance['id']} is {instance['status']}{waits}{phase}{progress}")


@contextmanager
def _spinner(*, wanted: bool) -> Iterator[Spinner | None]:
    """On a terminal only, and where no lines come between."""
    console = Console(stderr=True, highlight=False)
    if not wanted or not console.is_terminal:
        yield None
        return
    with console.status("") as spinner:
        yield spinner


@contextmanager
def _until_interrupted(instance_id: int) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        note(
            f"Instance {instance_id} goes on. `hourhand instance logs {instance_id} --follow` follows it, "
            f"`hourhand instance cancel {instance_id}` stops it."
        )
        raise typer.Exit(1) from None


def _why_not(instance: Json) -> str:
    """What to look at when nobody seems to execute an instance."""
    if instance["fence"] > 1:
        return f"It was claimed and given back: `hourhand instance logs {instance['id']}` says why."
    return (
        f"Nobody has claimed it yet: `hourhand instance explain {instance['id']}` says why, and `hourhand executors` "
        f"shows who serves the group {instance['group']!r}."
    )
