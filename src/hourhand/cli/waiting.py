"""Waiting for several instances at once in the CLI: how many have ended, and how."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext

import typer

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.live import Live, at_a_terminal
from hourhand.cli.printing import note, plural, print_json
from hourhand.cli.rest import MOST_AT_ONCE, Rest
from hourhand.cli.watching import FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS, OUTAGE_SECONDS
from hourhand.model.errors import StoreUnavailable
from hourhand.model.words import Status
from hourhand.sdk.waiting import Patience

LIVING_AT_ONCE = 20
"""Instances end roughly in the order in which they were made: beyond so many that live, the others can wait."""


class Several:
    """Instances that are waited for."""

    def __init__(self, rest: Rest, ids: Sequence[int]) -> None:
        self._rest = rest
        self._waiting = sorted(set(ids))
        self._all = len(self._waiting)
        self._patience = Patience(FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS, OUTAGE_SECONDS)
        self._away = False
        self.ended: list[Json] = []
        self.counts = {status.value: 0 for status in (Status.SUCCESS, Status.FAILED, Status.CANCELLED)}
        """How many ended how."""

    def wait(self) -> None:
        """Return once all have ended."""
        try:
            with Live() if at_a_terminal() else nullcontext() as live:
                while self._waiting:
                    before = len(self.ended)
                    self._ask(live)
                    if self._waiting:
                        time.sleep(self._patience.rest(news=len(self.ended) > before))
        except KeyboardInterrupt:
            note(f"Of {plural(self._all, 'instance')} {len(self._waiting)} go on: `hourhand instance list` shows them.")
            raise typer.Exit(1) from None
        self.ended.sort(key=lambda one: int(one["id"]))

    @property
    def good(self) -> bool:
        """Whether all have succeeded."""
        return self.counts[Status.SUCCESS] == self._all

    @property
    def sentence(self) -> str:
        """How many ended how, in words."""
        return f"{plural(self._all, 'instance')} ended{self._told()}."

    def _told(self) -> str:
        told = ", ".join(f"{count} {word}" for word, count in self.counts.items() if count)
        return told and f": {told}"

    def _ask(self, live: Live | None) -> None:
        try:
            self._look(live)
        except StoreUnavailable as error:
            self._patience.bear(error)
            if not self._away:
                self._away = True
                limit = moments.length(OUTAGE_SECONDS)
                _say(live, f"The connection is lost, and is tried again for {limit}: {error}")
        else:
            self._patience.answered()
            if self._away:
                self._away = False
                _say(live, "The connection is back.")

    def _look(self, live: Live | None) -> None:
        living = 0
        for instance_id in tuple(self._waiting):
            instance: Json = self._rest.get(f"/instances/{instance_id}")
            if Status(instance["status"]).ended:
                self.ended.append(instance)
                self.counts[instance["status"]] += 1
                self._waiting.remove(instance_id)
            else:
                living += 1
            if live is not None:
                live.headline(f"{len(self.ended)} of {plural(self._all, 'instance')} ended{self._told()}")
                live.progress(len(self.ended) / self._all)
            if living >= LIVING_AT_ONCE:
                return


def _say(live: Live | None, text: str) -> None:
    if live is None:
        note(text)
    else:
        live.above(text, "dim")


def wait_for(rest: Rest, ids: Sequence[int], answer: Json, *, as_json: bool) -> None:
    """Wait for all of them and say how they ended; exit 1 unless all succeed."""
    several = Several(rest, ids)
    several.wait()
    if as_json:
        print_json({**answer, **several.counts, "items": several.ended})
    elif ids:
        typer.echo(several.sentence)
    if not several.good:
        raise typer.Exit(1)


def newest_of_backfill(rest: Rest, task_id: int, made: int) -> list[int]:
    """The ids of what a backfill has just made: it answers with the number of instants, and nothing like them is newer.

    The living are listed first and after them what ended last, so that all of them are among the first.
    """
    instants: dict[int, str] = {}
    ended: set[str] = set()
    cursor: str | None = None
    while len(ended) < made:
        page = rest.get("/instances", task_id=task_id, triggered_by="backfill", limit=MOST_AT_ONCE, cursor=cursor)
        instants |= {one["id"]: one["scheduled_time"] for one in page["items"]}
        ended |= {one["scheduled_time"] for one in page["items"] if Status(one["status"]).ended}
        cursor = page["next_cursor"]
        if cursor is None:
            break
    newest = set(list(dict.fromkeys(instants[one] for one in sorted(instants, reverse=True)))[:made])
    return [one for one, instant in instants.items() if instant in newest]
