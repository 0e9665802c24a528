"""Rules: which of the tasks a program declares are written, and in what order."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum

from hourhand.model.errors import InvalidInput
from hourhand.model.task import Declaration, Task
from hourhand.rules.dependency import find_cycle

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
    release, digest = _parts(new_hash)
    stored_release, stored_digest = _parts(stored.declared_hash)
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


def _parts(text: str | None) -> tuple[int, str]:
    """Release and digest; of what no app has written, those of the very first."""
    release, _, digest = (text or "").partition(":")
    return (int(release), digest) if release.lstrip("-").isdecimal() else (0, "")


def in_order(declarations: Sequence[Declaration]) -> tuple[Declaration, ...]:
    """Each after those it depends on; refuses a name that is declared twice, and a cycle, naming it."""
    numbers: dict[str, int] = {}
    for number, one in enumerate(declarations):
        if numbers.setdefault(one.definition.name, number) != number:
            raise InvalidInput.one(
                "name", one.definition.name, f"two tasks named {one.definition.name!r} are declared: rename one"
            )
    edges = {
        number: [numbers[name] for name in dict.fromkeys(one.depends_on) if name in numbers]
        for number, one in enumerate(declarations)
    }
    for number, needed in edges.items():
        cycle = find_cycle(number, needed, edges)
        if cycle is not None:
            path = " → ".join(declarations[one].definition.name for one in cycle)
            raise InvalidInput.one(
                "depends_on", list(declarations[number].depends_on), f"these dependencies form a cycle: {path}"
            )
    return tuple(declarations[number] for number in _sorted(edges))


def _sorted(edges: dict[int, list[int]]) -> list[int]:
    """Dependencies first; without recursion, since a chain may be longer than Python's stack."""
    done: dict[int, None] = {}
    for number in edges:
        path = [number]
        while path:
            needed = [one for one in edges[path[-1]] if one not in done]
            if needed:
                path.append(needed[0])
            else:
                done[path.pop()] = None
    return list(done)


def missing_dependency(name: str, known: Iterable[str]) -> str:
    """Why a task that depends on an unknown one is not written."""
    close = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean {close[0]!r}?" if close else "create or declare it first"
    return f"it depends on {name!r}, and there is no task of that name: {hint}"
