"""What rests just now, for the commands of the CLI that show tasks: pauses in force, and maintenance windows open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hourhand.cli import moments
from hourhand.cli.json_options import Json

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest


@dataclass(frozen=True, slots=True)
class Resting:
    """Pauses and windows, as the API answers them."""

    pauses: tuple[Json, ...] = ()
    windows: tuple[Json, ...] = ()

    def state(self, task: Json) -> str:
        """What there is to say of a task in one word."""
        if not task["enabled"]:
            return "disabled"
        if any(_covers(one, task) for one in self.pauses):
            return "paused"
        return "maintenance" if any(_covers(one, task) for one in self.windows) else "enabled"

    def pauses_of(self, task: Json) -> list[str]:
        """The pauses in force of the task, of its group and of everything."""
        return [f"{until(one)}{_with(one)}" for one in self.pauses if _covers(one, task)]

    def windows_of(self, task: Json) -> list[str]:
        """The same of maintenance windows that are open."""
        return [_open(one) for one in self.windows if _covers(one, task)]

    def notes_on(self, task: Json) -> list[str]:
        """Both, in sentences."""
        paused = [f"it is paused {one}" for one in self.pauses_of(task)]
        return paused + [f"it rests in the maintenance window {one}" for one in self.windows_of(task)]


NOTHING = Resting()


def found(rest: Rest) -> Resting:
    """What rests just now."""
    windows = rest.get("/maintenance-windows")["items"]
    return Resting(tuple(rest.get("/pauses")["items"]), tuple(one for one in windows if one["open"]))


def until(pause: Json) -> str:
    """Until when a pause lasts, whose it is, and why."""
    end = moments.shown(pause["until"]) or "it is resumed,"
    return f"until {end} by {pause['owner']} ({pause['reason']})"


def _covers(rest: Json, task: Json) -> bool:
    match rest["scope"]:
        case "task":
            return bool(rest["task_id"] == task["id"])
        case "group":
            return bool(rest["group"] == task["group"])
    return True


def _with(rest: Json) -> str:
    """What rests together with the task, if it is not the task alone."""
    match rest["scope"]:
        case "task":
            return ""
        case "group":
            return f", as is all of the group {rest['group']!r}"
    return ", as is everything"


def _open(window: Json) -> str:
    end = f" until {moments.shown(window['next'][0]['to'])}" if window["next"] else ""
    return f"{window['name']!r}{end} ({window['reason']}){_with(window)}"
