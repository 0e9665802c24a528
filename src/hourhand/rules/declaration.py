"""Rules: which of the tasks a program declares are written, and in what order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from typing import Any

from hourhand.model.errors import InvalidInput, shown
from hourhand.model.task import Declaration, Task, TaskDefinition
from hourhand.rules.closest import Closest
from hourhand.rules.definition import definition_from

_NOT_DECLARED = ("managed_by", "declared_hash")


def owner_of(app: str) -> str:
    """Who an app is, where a task says who manages and who last changed it."""
    return f"app:{app}"


def declared_hash(declaration: Declaration, release: int) -> str:
    """`<release>:<digest>`: the digest changes exactly when the declaration does."""
    definition = asdict(declaration.definition)
    values = {name: value for name, value in definition.items() if name not in _NOT_DECLARED}
    values["depends_on"] = sorted(set(declaration.depends_on))
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"{release}:{hashlib.sha256(text.encode()).hexdigest()}"


def declared_definition(values: Mapping[str, Any], depends_on: Sequence[str]) -> TaskDefinition:
    """A definition from plain values, checked as it will be once the tasks that it names have ids."""
    given = values.get("dependency_ids", ())
    if depends_on and isinstance(given, list | tuple):
        highest = max((one for one in given if isinstance(one, int)), default=0)
        stand_ins = [highest + number for number in range(1, len(depends_on) + 1)]
        definition = definition_from({**values, "dependency_ids": [*given, *stand_ins]})
        return replace(definition, dependency_ids=tuple(given))
    return definition_from(values)


class Verdict(Enum):
    """What becomes of one declared task."""

    CREATE = "create"
    CHANGE = "change"
    LEAVE = "leave"
    """It is as declared, or newer and the same."""
    KEEP = "keep"
    """It is different, and not this app's to change."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict; why, for what is kept."""

    verdict: Verdict
    reason: str = ""


def decide(stored: Task | None, new_hash: str, app: str) -> Decision:
    """Whether to write a declared task, given the newest stored one of its name (which may be deleted)."""
    owner = owner_of(app)
    if stored is None or (stored.deleted_at is not None and stored.managed_by != owner):
        return Decision(Verdict.CREATE)
    reason = _not_ours(stored, owner)
    if reason:
        return Decision(Verdict.KEEP, reason)
    if stored.declared_hash == new_hash:
        return Decision(Verdict.LEAVE)
    release, digest = release_and_digest(new_hash)
    stored_release, stored_digest = release_and_digest(stored.declared_hash)
    if stored.updated_by != owner:
        reason = f"{stored.updated_by} has edited it, which no release overwrites: edit it by hand as well"
    elif stored_release > release:
        reason = f"release {stored_release} has declared it already, and this is release {release}"
    else:
        return Decision(Verdict.CHANGE)
    # Nothing new is declared: then there is nothing to tell either.
    return Decision(Verdict.LEAVE) if digest == stored_digest else Decision(Verdict.KEEP, reason)


def _not_ours(stored: Task, owner: str) -> str:
    if stored.deleted_at is not None:
        return "it was deleted: declare it under another name, or create it by hand"
    if stored.managed_by != owner:
        whose = f"is managed by {stored.managed_by}" if stored.managed_by else f"was created by {stored.created_by}"
        return f"the task of this name {whose}: choose another name, or rename or delete that"
    return ""


def release_and_digest(text: str | None) -> tuple[int, str]:
    """Release and digest; of what no app has written, those of the very first."""
    release, _, digest = (text or "").partition(":")
    return (int(release), digest) if release.lstrip("-").isdecimal() else (0, "")


def in_order(declarations: Sequence[Declaration]) -> tuple[Declaration, ...]:
    """Each after those it depends on; refuses a name that is declared twice, and a cycle, naming it."""
    numbers: dict[str, int] = {}
    for number, one in enumerate(declarations):
        name = one.definition.name
        if numbers.setdefault(name, number) != number:
            raise InvalidInput.one("name", name, f"two tasks named {name!r} are declared: rename one")
    cycle = dependency_cycle(declarations)
    if cycle is not None:
        declared = declarations[numbers[cycle[0]]].depends_on
        raise InvalidInput.one("depends_on", list(declared), f"these dependencies form a cycle: {' → '.join(cycle)}")
    return tuple(declarations[number] for number in _sorted(_edges(declarations)))


def dependency_cycle(declarations: Sequence[Declaration]) -> tuple[str, ...] | None:
    """The names of tasks that depend on each other in a circle, the first of them again at the end; None if none do."""
    try:
        TopologicalSorter(_edges(declarations)).prepare()
    except CycleError as error:  # its path leads from what is needed to what needs it, and begins anywhere
        path = error.args[1][:0:-1]
        first = path.index(min(path))
        circle = [*path[first:], *path[: first + 1]]
        return tuple(declarations[number].definition.name for number in circle)
    return None


def _edges(declarations: Sequence[Declaration]) -> dict[int, list[int]]:
    """What each depends on among these, all by their numbers."""
    numbers = {one.definition.name: number for number, one in enumerate(declarations)}
    return {
        number: [numbers[name] for name in dict.fromkeys(one.depends_on) if name in numbers]
        for number, one in enumerate(declarations)
    }


def _sorted(edges: dict[int, list[int]]) -> list[int]:
    """Dependencies first; without recursion, since a chain may be longer than Python's stack."""
    done: dict[int, None] = {}
    for number, first in edges.items():
        path = [(number, iter(first))]
        while path:
            one, needs = path[-1]
            needed = next((each for each in needs if each not in done), None)
            if needed is None:
                done[one] = None
                path.pop()
            else:
                path.append((needed, iter(edges[needed])))
    return list(done)


def missing_dependency(name: str, known: Closest) -> str:
    """Why a task that depends on an unknown one is not written."""
    close = known.to(name)
    hint = "create or declare it first" if close is None else f"did you mean {close!r}?"
    return f"it depends on {shown(name)}, and there is no task of that name: {hint}"
