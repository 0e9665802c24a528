"""Rules: the time part of a crontab's line as a schedule that fires at the same minutes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hourhand.rules.cron_fields import VIXIE, Kind

_STEP = re.compile(r"(\*|[^-/]+-[^-/]+)/([0-9]{1,9})")
_STEP_WITHOUT_RANGE = re.compile(r"([^-/*]+)/([^/]*)")
_AT_WORDS: Mapping[str, str] = {
    **{f"@{word}": f"@{word}" for word in ("yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly")},
    "@every_minute": "* * * * *",
}
_INSTEAD: Mapping[str, str] = {
    "@reboot": "fires at the start of a machine, which no task does: let systemd start it (a unit with "
    "`WantedBy=multi-user.target`), or put it into `ExecStartPost=` of the executor's unit",
    "@every_second": "fires every second, which no crontab of Linux knows: add a task with the schedule `@every 1s`",
}


def as_schedule(when: str) -> str:
    """Five fields or an @word, in the form that `schedule.parse` takes.

    Raises:
        ValueError: it has no such form; the message says what to do instead.
    """
    if when.startswith("@"):
        word = when.lower()
        if word in _INSTEAD:
            raise ValueError(_INSTEAD[word])
        if word not in _AT_WORDS:
            raise ValueError(f"{when!r} is not a word that crontabs have; they have {', '.join(_AT_WORDS)} and @reboot")
        return _AT_WORDS[word]
    fields = when.split()
    for kind, text in zip(VIXIE, fields, strict=True):
        if "~" in text:
            raise ValueError(
                f"{kind.name}: {text!r} lets cron pick a number anew each time it starts, while a task fires at the "
                "same one: write the number that you like best instead"
            )
    return " ".join(_field(kind, text) for kind, text in zip(VIXIE, fields, strict=True))


def _field(kind: Kind, text: str) -> str:
    return ",".join(_part(kind, part) for part in text.split(","))


def _part(kind: Kind, part: str) -> str:
    """Cron takes a step that leads out of the field, and matches the first value alone; a schedule refuses it."""
    if lone := _STEP_WITHOUT_RANGE.fullmatch(part):
        raise ValueError(
            f"{kind.name}: {part!r} has a step without a range, which crons take differently: Debian's and cronie "
            f"refuse it, older ones fire at {lone[1]} alone, BSD's from there on: "
            f"write {lone[1]}-{kind.high}/{lone[2]} or {lone[1]}"
        )
    found = _STEP.fullmatch(part)
    if found is None or int(found[2]) <= kind.high:
        return part
    if found[1] != "*":
        return found[1].partition("-")[0]
    # A day field keeps its star, which decides whether a day has to match both fields or either one.
    return f"*/{kind.high}" if kind.name.startswith("day") else str(kind.low)
