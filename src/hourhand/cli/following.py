"""Waiting for an instance in a terminal: its phase and progress, its lines as they come, and how it ended."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.live import Live, at_a_terminal, in_the_way
from hourhand.cli.printing import clean, note, print_facts, print_json, say
from hourhand.cli.rest import Rest
from hourhand.cli.retries import how_many, next_attempt
from hourhand.cli.watching import LINES_AT_ONCE, OUTAGE_SECONDS, Away, Back, Line, News, State, Watch
from hourhand.model.words import Status

UNCLAIMED_SECONDS = 15.0
TAIL_LINES = 10


class Printer:
    """Prints the lines of an instance log, and remembers where it is."""

    def __init__(self, *, times: bool = False, to_stderr: bool = False) -> None:
        self._times = times
        self._out = sys.stderr if to_stderr else sys.stdout
        self._at_line_start = True
        self._above: Callable[[str], None] | None = None
        self._unended = ""
        self.after = -1

    def print_above(self, live: Live) -> None:
        """Print whole lines above a live display, where both are on the same terminal."""
        if self._out.isatty():
            self._above = live.above

    def print(self, lines: list[Json]) -> None:
        """Print them."""
        for line in lines:
            self.after = line["seq"]
            text = text_of_line(line, times=self._times)
            if text:
                # A stream comes in chunks that may end in the middle of a line; a message is a line of its own.
                begin = "" if self._at_line_start or (line["stream"] and not self._times) else "\n"
                self._write(begin + text)
                self._at_line_start = text.endswith("\n")
        self._out.flush()

    def end(self) -> None:
        """End the last line."""
        if not self._at_line_start:
            self._write("\n")
            self._out.flush()
            self._at_line_start = True

    def _write(self, text: str) -> None:
        if self._above is None:
            self._out.write(clean(text.replace("\r\n", "\n")) if self._out.isatty() else text)
            return
        whole, newline, self._unended = (self._unended + text).rpartition("\n")
        if newline:
            self._above(whole)


def text_of_line(line: Json, *, times: bool = False) -> str:
    """A line of the log as it is printed: what a stream wrote as it is, a message with its level."""
    message: str = line["message"]
    if not line["stream"]:
        level = "" if line["level"] == "info" else f"{line['level'].upper()} "
        message = f"{level}{message.rstrip()}\n"
    if times:
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
    with _until_interrupted(instance["id"]), _display(printer) as live:
        told = _Telling(rest, instance, printer, live)
        lines = printer is not None or live is not None
        for news in Watch(rest, instance["id"], lines=lines).news():
            told.tell(news)
        if printer is not None:
            printer.end()
    return told.instance


def to_the_end(rest: Rest, instance: Json, *, follow: bool, as_json: bool) -> None:
    """Wait for it and say how it ended; exit 1 unless it succeeds. Only what was asked for is on standard output."""
    ended = wait(rest, instance, Printer(to_stderr=as_json) if follow else None)
    if as_json:
        print_json(ended)
    elif follow:
        note(how_it_ended(rest, ended))
        if value := what_it_returned(ended):
            note(value)
    else:
        say(how_it_ended(rest, ended))
        print_result(ended)
    if ended["status"] != "success":
        raise typer.Exit(1)


class _Telling:
    """Says what happens to an instance: plainly, or with a live display."""

    def __init__(self, rest: Rest, instance: Json, printer: Printer | None, live: Live | None) -> None:
        self.instance = instance
        self._rest = rest
        self._printer = printer
        self._live = live
        self._begin = time.monotonic()
        self._hinted = False
        self._phase_since: float | None = None
        if live is not None:
            self._draw(live)

    def tell(self, news: News) -> None:
        match news:
            case State(instance):
                before, self.instance = self.instance, instance
                self._moved(before)
            case Line(line):
                self._line(line)
            case Away(why):
                self._say(f"The connection is lost, and is tried again for {moments.length(OUTAGE_SECONDS)}: {why}")
            case Back():
                self._say("The connection is back.")
        if (
            not self._hinted
            and self.instance["status"] == "pending"
            and time.monotonic() - self._begin > UNCLAIMED_SECONDS
        ):
            self._hinted = True
            self._say(_why_not(self.instance))

    def _line(self, line: Json) -> None:
        if self._printer is not None:
            self._printer.print([line])
        elif self._live is not None:
            self._live.below(text_of_line(line))

    def _moved(self, before: Json) -> None:
        now = self.instance
        ended = Status(now["status"]).ended
        again = None if ended else next_attempt(self._rest, before, now)
        if ended or again or before["phase"] != now["phase"]:
            self._next_phase(before["phase"])
        if again:
            self._say(f"Instance {now['id']}: {again}")
        if self._live is not None:
            if again:
                self._live.begin_again()
            self._draw(self._live)
        elif self._printer is not None and now["phase"] != before["phase"] and not ended:
            self._say(_state(now))

    def _draw(self, live: Live) -> None:
        live.headline(_state(self.instance | {"progress": None}))  # the bar shows that
        live.progress(self.instance["progress"])

    def _next_phase(self, finished: str | None) -> None:
        """Say of a phase that is over how long it took; of one that had begun before anybody looked nobody knows."""
        if self._live is not None and finished:
            took = "" if self._phase_since is None else f": {moments.length(time.monotonic() - self._phase_since)}"
            self._say(f"{finished}{took or ' is over'}")
        self._phase_since = time.monotonic()

    def _say(self, text: str) -> None:
        if self._printer is not None:
            self._printer.end()
        if self._live is not None:
            self._live.above(text, "dim")
        else:
            note(text)


def how_it_ended(rest: Rest, instance: Json) -> str:
    """One sentence."""
    took = "" if instance["start_time"] is None else f" after {_how_long(rest, instance)}"
    said = (instance["error_message"] or "").strip()
    by = said.removeprefix("cancelled ")
    if instance["status"] == "cancelled" and by != said:  # such as "cancelled by ada": the word is there already
        return f"Instance {instance['id']} of task {instance['task_name']!r}: cancelled {by}{took}"
    why = f": {said}" if said else ""
    return f"Instance {instance['id']} of task {instance['task_name']!r}: {instance['status']}{took}{why}"


def _how_long(rest: Rest, instance: Json) -> str:
    took, attempts = moments.length((instance["duration_ms"] or 0) / 1_000), how_many(rest, instance)
    return took if attempts <= 1 else f"{attempts} attempts (the last took {took})"


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


def _state(instance: Json) -> str:
    phase = f": {instance['phase']}" if instance["phase"] else ""
    progress = f" ({instance['progress']:.0%})" if instance["progress"] is not None else ""
    waits = f" (waits for {instance['blocked_by']})" if instance["blocked_by"] else ""
    return clean(f"instance {instance['id']} is {instance['status']}{waits}{phase}{progress}")


@contextmanager
def _display(printer: Printer | None) -> Iterator[Live | None]:
    """At a terminal only, and where nothing else writes to it in between."""
    if not at_a_terminal() or (printer is not None and in_the_way()):
        yield None
        return
    with Live() as live:
        if printer is not None:
            printer.print_above(live)
        yield live


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
