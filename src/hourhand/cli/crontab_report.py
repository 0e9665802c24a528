"""What came of importing a crontab: what each line became, what it could not become, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hourhand.cli import crontab_source, moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import Column, plural, print_table, say

if TYPE_CHECKING:
    from hourhand.rules.crontab_tasks import Plan, Planned

COLUMNS = (
    Column("LINE", right=True),
    Column("TASK"),
    Column("SCHEDULE", 8),
    Column("TIMEZONE", 2),
    Column("NEXT", 6),
    Column("STATE", 7),
)
_STATES = {
    "added": "added",
    "unchanged": "already there",
    "changed": "already there",
    "written": "written",
    "planned": "to be added",
    "taken": "not imported",
}


@dataclass
class Line:
    """A line, and what was done with it."""

    planned: Planned
    state: str
    """new, added, unchanged, changed, taken; or planned, written when no server was asked."""
    task: Json = field(default_factory=dict)


@dataclass
class Report:
    """All of it."""

    file: str
    plan: Plan
    zone: str | None
    system: bool = False
    """Whether each line names a user."""
    lines: list[Line] = field(default_factory=list)
    written: str | None = None

    @property
    def refused(self) -> list[tuple[int, str, str]]:
        """Number, text and reason of what was not imported."""
        found = [(one.number, one.text, one.reason) for one in self.plan.refused]
        found += [
            (line.planned.entry.number, _text(line), _taken(line)) for line in self.lines if line.state == "taken"
        ]
        return sorted(found)

    def as_json(self) -> Json:
        """For programs."""
        return {
            "tasks": [
                {
                    "line": line.planned.entry.number,
                    "state": line.state,
                    "task": line.task or dict(line.planned.fields),
                    "description": _in_words(line.planned)[0],
                    "next_fire_at": _in_words(line.planned)[1],
                    "notes": _notes(line),
                }
                for line in self.lines
                if line.state != "taken"
            ],
            "refused": [{"line": number, "text": text, "reason": reason} for number, text, reason in self.refused],
            "notes": [{"line": one.number, "text": one.text, "note": one.reason} for one in self.plan.remarks],
        }

    def show(self) -> None:
        """For people."""
        if self.lines:
            print_table(COLUMNS, [_row(line) for line in self.lines])
        else:
            say(f"There is no line in {_named(self.file)} that could become a task.")
        self._notes()
        if self.refused:
            say("\nNot imported:")
            for number, text, reason in self.refused:
                say(f"  line {number}: {text}\n    {reason}")
        say(f"\n{self._summary()}")
        self._next()

    def _notes(self) -> None:
        found = [(one.number, f"{one.text}: {one.reason}") for one in self.plan.remarks]
        found += [(line.planned.entry.number, f"{_name(line)}: {note}") for line in self.lines for note in _notes(line)]
        if self.zone is None:
            found.append((0, "the zone of this machine's clock has no name, so UTC is taken: --timezone says another"))
        if found:
            say("\nTo know:")
        for number, note in sorted(found):
            say(f"  line {number}: {note}" if number else f"  {note}")

    def _summary(self) -> str:
        def count(*states: str) -> int:
            return sum(line.state in states for line in self.lines)

        parts = [
            f"{plural(count('added'), 'task')} added" if count("added") else "",
            f"{plural(count('written'), 'task')} written to {self.written}" if count("written") else "",
            f"{plural(count('planned'), 'task')} would be added" if count("planned") else "",
            f"{count('unchanged', 'changed')} already there" if count("unchanged", "changed") else "",
            f"{plural(len(self.refused), 'line')} not imported" if self.refused else "",
        ]
        return f"{', '.join(filter(None, parts)) or 'Nothing to import'}."

    def _next(self) -> None:
        if self.written is not None and self.lines:
            say(f"Next: `hourhand apply -f {shlex.quote(self.written)}` adds them.")
        numbers = [line.planned.entry.number for line in self.lines if line.state in ("added", "unchanged", "changed")]
        if numbers:
            say(f"Next: {self._commented_out(_spans(numbers))}")

    def _commented_out(self, spans: list[str]) -> str:
        """How to switch cron's lines off: they are known by their numbers, so only in the very text that was read."""
        edits = ";".join(f"{span}s/^/#/" for span in spans)
        why = "or cron goes on firing them too"
        if crontab_source.is_of_the_system(self.file):  # without a backup beside it, which some crons would read too
            return f"comment these lines out, {why}:\n  sed -i '{edits}' {shlex.quote(self.file)}"
        if self.file != crontab_source.STDIN:
            command = f"sed -i.bak '{edits}' {shlex.quote(self.file)}"
            return f"comment these lines out, {why}; if it reads another copy, there:\n  {command}"
        if self.system:
            return f"comment out what was imported, where cron reads it ({_in_text(spans)}), {why}."
        users = {line.planned.entry.user for line in self.lines} - {None}
        whose = f" -u {shlex.quote(str(users.pop()))}" if users else ""
        command = f"crontab{whose} -l | sed '{edits}' | crontab{whose} -"
        return f"comment these lines of `crontab{whose} -l` out, {why}:\n  {command}"


def _row(line: Line) -> tuple[str, ...]:
    words, due = _in_words(line.planned)
    zone = str(line.planned.fields["timezone"])
    words = words.removesuffix(f", {zone} time")  # it has a column of its own
    return str(line.planned.entry.number), _name(line), words, zone, moments.shown(due), _STATES[line.state]


def _in_words(planned: Planned) -> tuple[str, str | None]:
    """The schedule as a sentence, and when it fires next."""
    from hourhand.rules.schedule import parse, preview

    seen = preview(parse(planned.fields["schedule"], planned.fields["timezone"]), datetime.now(UTC), 1)
    return seen.description, seen.instants[0].isoformat().replace("+00:00", "Z") if seen.instants else None


def _name(line: Line) -> str:
    return str(line.planned.fields["name"])


def _notes(line: Line) -> list[str]:
    from hourhand.rules.crontab_tasks import differences

    found = list(line.planned.notes)
    if line.state == "changed":
        changed = ", ".join(differences(line.planned, line.task))
        found.append(f"is there already, with another {changed}: it stays as it is")
    return found


def _taken(line: Line) -> str:
    return f"there is a task {_name(line)!r} already that runs something else: give --prefix, or rename that task"


def _text(line: Line) -> str:
    entry = line.planned.entry
    return " ".join(word for word in (entry.schedule, entry.user, entry.command) if word)


def _spans(numbers: Iterable[int]) -> list[str]:
    """Line numbers as sed takes them: 3 and 5,9."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return [str(span[0]) if len(span) == 1 else f"{span[0]},{span[-1]}" for span in spans]


def _in_text(spans: list[str]) -> str:
    one = len(spans) == 1 and "," not in spans[0]
    return f"{'line' if one else 'lines'} {', '.join(span.replace(',', '-') for span in spans)}"


def _named(file: str) -> str:
    return "standard input" if file == crontab_source.STDIN else file
