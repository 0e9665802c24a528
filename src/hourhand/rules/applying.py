"""Rules: what applying a set of tasks does to those that are stored: the plan, which is carried out as it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hourhand.model.errors import FieldError
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.task_file import ApplyAction, Drift, FieldChange, FileTask, TaskChange, TaskSet
from hourhand.rules.closest import Closest
from hourhand.rules.declaration import dependency_cycle, missing_dependency, release_and_digest
from hourhand.rules.definition import FIELDS
from hourhand.rules.redaction import redacted

_APART = frozenset({"name", "payload", "dependency_ids", "managed_by", "declared_hash"})
_COMPARED = tuple(name for name in FIELDS if name not in _APART)
_MISSING = object()


def file_owner(name: str) -> str:
    """Who a set is, where a task says who manages it."""
    return f"file:{name}"


def applied_version(task: Task) -> int:
    """The version of a task that was last applied; 0 if none was."""
    return release_and_digest(task.declared_hash)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a set is compared with."""

    living: Mapping[str, Task]
    """By name: those that the set names, depends on or manages."""
    names: Mapping[int, str]
    """Of everything that any of those depends on; a deleted one says so."""
    groups: Collection[str]
    applied: Mapping[int, TaskDefinition] = field(default_factory=dict)
    """By id: what was last applied of those that have been edited since."""
    deleted: Mapping[str, Drift] = field(default_factory=dict)
    """Tasks of the set that somebody deleted since, and nobody made again."""
    dependents: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """By id, of those that the set manages and no longer has: who depends on them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do with one task, and the values to do it with."""

    change: TaskChange
    task: FileTask | None = None
    """As the set has it; None for one that it no longer has."""
    stored: Task | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What applying a set does, in the order of its file."""

    steps: tuple[Step, ...]
    groups: tuple[str, ...]
    """Those to be made."""
    hash: str

    @property
    def changes(self) -> tuple[TaskChange, ...]:
        """What people are told."""
        return tuple(step.change for step in self.steps)

    @property
    def refused(self) -> tuple[TaskChange, ...]:
        """What keeps it from being carried out."""
        return tuple(one for one in self.changes if one.action is ApplyAction.REFUSED)


def errors_of(wanted: TaskSet, stored: Stored, known: Collection[str]) -> Iterator[FieldError]:
    """What is wrong with a set, given the names of tasks that it may depend on and that there are."""
    groups = {*stored.groups, *wanted.groups, *wanted.expected_groups}
    names = {*_names(wanted), *wanted.expected_tasks, *stored.living}
    close_groups, close_names = Closest(sorted(groups)), Closest(sorted({*names, *known}))
    for one in wanted.tasks:
        group = one.declaration.definition.group
        if group not in groups:
            close = close_groups.to(group)
            hint = "list" if close is None else f"did you mean {close!r}? Else list"
            message = f"there is no group {group!r}: {hint} it under groups, and it will be made"
            yield FieldError(f"{one.place}.group", group, message)
        for name in one.declaration.depends_on:
            if name not in names:
                yield FieldError(f"{one.place}.depends_on", name, missing_dependency(name, close_names))


def _names(wanted: TaskSet) -> set[str]:
    """Of all its tasks, those that are wrong included."""
    return {*[one.declaration.definition.name for one in wanted.tasks], *wanted.unread}


def cycle_of(wanted: TaskSet, others: Sequence[FileTask], hidden: Collection[str]) -> FieldError | None:
    """The circle in which tasks would depend on each other, those of the store included; some may not be named."""
    cycle = dependency_cycle([one.declaration for one in (*wanted.tasks, *others)])
    if cycle is None:
        return None
    places = {one.declaration.definition.name: one.place for one in wanted.tasks}
    first = next(name for name in cycle if name in places)  # without the set there was none
    path = " → ".join("a task of another group" if name in hidden else name for name in cycle)
    return FieldError(f"{places[first]}.depends_on", None, f"these dependencies form a cycle: {path}")


def plan(wanted: TaskSet, stored: Stored, *, prune: bool, take_over: bool) -> Plan:
    """What becomes of each task of a set, and of those that it no longer has."""
    owner = file_owner(wanted.name)
    steps = [_step(one, stored, owner, take_over=take_over) for one in wanted.tasks]
    named = _names(wanted)
    gone = [task for name, task in sorted(stored.living.items()) if task.managed_by == owner and name not in named]
    leaving = {task.name for task in gone} if prune else set()
    written = {one.declaration.definition.name for one in wanted.tasks}
    needed_by: dict[str, list[str]] = {}
    for one in wanted.tasks:
        for name in one.declaration.depends_on:
            needed_by.setdefault(name, []).append(one.declaration.definition.name)
    for task in gone:
        still = [name for name in stored.dependents.get(task.id, ()) if name not in leaving and name not in written]
        steps.append(_gone(task, stored, [*still, *needed_by.get(task.name, ())], prune=prune))
    groups = tuple(sorted({*wanted.groups} - {*stored.groups, *wanted.expected_groups}))
    return Plan(steps=tuple(steps), groups=groups, hash=_hash(owner, steps, groups))


def _step(one: FileTask, stored: Stored, owner: str, *, take_over: bool) -> Step:
    definition = one.declaration.definition
    task = stored.living.get(definition.name)
    if task is None:
        deleted = stored.deleted.get(definition.name)
        return Step(task=one, change=TaskChange(name=definition.name, action=ApplyAction.CREATE, drift=deleted))
    found = tuple(_differences(task, one, stored))
    action, reason, drift = ApplyAction.EDIT if found else ApplyAction.UNCHANGED, None, None
    if task.managed_by == owner:
        drift = _drift(task, [each.field for each in found], stored)
    elif task.managed_by is None:
        action = ApplyAction.ADOPT
    elif take_over:
        action, reason = ApplyAction.EDIT, f"taken over from {task.managed_by}"
    else:
        action, found = ApplyAction.REFUSED, ()
        reason = (
            f"it is managed by {task.managed_by}: take it over (--take-over, or take_over in REST), "
            "or remove it from the file"
        )
    change = TaskChange(name=task.name, action=action, fields=found, drift=drift, reason=reason)
    return Step(task=one, stored=task, change=change)


def _gone(task: Task, stored: Stored, needed_by: Sequence[str], *, prune: bool) -> Step:
    was = stored.applied.get(task.id)
    action, reason = ApplyAction.GONE, "it is no longer in the file"
    if was is not None and was.name != task.name:
        reason = f"{task.updated_by} has renamed it from {was.name!r}; under this name it is not in the file"
    if not prune:
        reason += ", and stays as it is unless it is pruned"
    elif needed_by:
        action = ApplyAction.REFUSED
        reason += f", but {', '.join(needed_by)} depends on it: remove that dependency first"
    else:
        action = ApplyAction.DELETE
    return Step(stored=task, change=TaskChange(name=task.name, action=action, reason=reason))


def _differences(task: Task, one: FileTask, stored: Stored) -> Iterator[FieldChange]:
    wanted = one.declaration.definition
    yield from _of_definitions(task, wanted)
    there = {stored.living[name].id if name in stored.living else 0 for name in one.declaration.depends_on}
    if set(task.dependency_ids) != there:
        before = [stored.names.get(number, f"#{number}") for number in task.dependency_ids]
        yield FieldChange(field="depends_on", before=sorted(before), after=sorted(one.declaration.depends_on))


def _of_definitions(before: TaskDefinition, after: TaskDefinition) -> Iterator[FieldChange]:
    """Field by field, payloads key by key; without what looks like a secret, for plans end up in the logs of others."""
    for name in _COMPARED:
        was, will = _plain(getattr(before, name)), _plain(getattr(after, name))
        if not _same(was, will):
            yield FieldChange(field=name, before=was, after=will)
    old, new = _plain(before.payload), _plain(after.payload)
    if not _same(old, new):
        shown_old, shown_new = redacted(old), redacted(new, old)
        for key in dict.fromkeys([*old, *new]):
            if not _same(old.get(key, _MISSING), new.get(key, _MISSING)):
                yield FieldChange(field=f"payload.{key}", before=shown_old.get(key), after=shown_new.get(key))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field's
    """As JSON has it: the store knows no tuples."""
    match value:
        case Mapping():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
    return value


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 - any field's
    """As JSON has it: `true` is no number, though Python takes it for 1; 1.0 and 1 are one, as they are to jsonb."""
    match one, other:
        case (bool(), _) | (_, bool()):
            return one is other
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _drift(task: Task, differing: Sequence[str], stored: Stored) -> Drift | None:
    """What somebody else changed since it was last applied, as far as it is not what the set wants now."""
    was = stored.applied.get(task.id)
    if was is None:
        return None
    touched = {each.field for each in _of_definitions(was, task)}
    touched |= {"depends_on"} if set(was.dependency_ids) != set(task.dependency_ids) else set()
    undone = tuple(name for name in differing if name in touched)
    return Drift(by=task.updated_by, at=task.updated_at, fields=undone) if undone else None


def _hash(owner: str, steps: Sequence[Step], groups: Sequence[str]) -> str:
    """Over what would be done, and to which version of what."""
    parts: list[Any] = [owner, groups]
    for step in steps:
        parts.append([step.change.name, step.change.action])
        if step.change.action is not ApplyAction.UNCHANGED:
            stored = None if step.stored is None else [step.stored.id, step.stored.version]
            parts.append([stored, None if step.task is None else asdict(step.task.declaration)])
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


_WORDS = {
    ApplyAction.CREATE: "created",
    ApplyAction.EDIT: "edited",
    ApplyAction.ADOPT: "adopted",
    ApplyAction.DELETE: "deleted",
    ApplyAction.REFUSED: "refused",
    ApplyAction.GONE: "gone from the file",
    ApplyAction.UNCHANGED: "unchanged",
}


def summary(actions: Sequence[str]) -> str:
    """How many of each, in a few words: `2 created, 1 edited, 5 unchanged`."""
    counted = {word: actions.count(action) for action, word in _WORDS.items()}
    return ", ".join(f"{count} {word}" for word, count in counted.items() if count) or "no tasks"
