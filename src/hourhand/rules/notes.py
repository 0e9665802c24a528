"""Rules: what is worth knowing about a cron expression's days and about its zone's clock changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from hourhand.rules import zones
from hourhand.rules.describe import clock

if TYPE_CHECKING:
    from hourhand.rules.cron import Cron

_EVERY_HOUR: Final = (1 << 24) - 1
_SECOND: Final = timedelta(seconds=1)
_YEAR: Final = timedelta(days=366)
_MOST: Final = 12


def cron_notes(cron: Cron, zone: str, after: datetime, last: datetime) -> tuple[str, ...]:
    """Explain the either-day rule, and the clock changes between `after` and `last`, looking a year ahead at least."""
    notes = []
    if cron.either_day:
        notes.append(
            f"both day fields restricted (day-of-month {cron.month_days.text}, day-of-week {cron.week_days.text}): "
            "either matches"
        )
    first = (after - zones.EPOCH) // _SECOND
    final = max((last - zones.EPOCH) // _SECOND, first + _YEAR // _SECOND)
    for change in zones.covering(zone, final).transitions(first, final):
        if len(notes) < _MOST and (note := _note(cron, zone, change)):
            notes.append(note)
    return tuple(notes)


def _note(cron: Cron, zone: str, change: zones.Transition) -> str:
    start, end = sorted((change.before, change.after))
    first, final = cron.following(start), cron.preceding(end - 1)
    # An expression of every hour follows elapsed time without anybody noticing.
    if first >= end or (not cron.fixed and cron.hours == _EVERY_HOUR):
        return ""
    times, one = (clock(first), True) if first == final else (f"{clock(first)} to {clock(final)}", False)
    where = f"on {_date(start)} in {zone}"
    if change.before < change.after:
        instead = f"fires at {_moment(change)} instead" if cron.fixed else "does not fire then"
        return f"{times} {'does' if one else 'do'} not exist {where}: {instead}"
    return f"{times} {'occurs' if one else 'occur'} twice {where}: fires {'once' if cron.fixed else 'twice'}"


def _moment(change: zones.Transition) -> str:
    """Say when the gap ends, with its date if the gap crossed midnight."""
    same_day = change.before // 86_400 == change.after // 86_400
    return clock(change.after) if same_day else f"{clock(change.after)} on {_date(change.after)}"


def _date(local: int) -> str:
    return f"{datetime.fromtimestamp(local, UTC):%Y-%m-%d}"
