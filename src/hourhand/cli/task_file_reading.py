"""Task files as they are found: which files make up a set, and where in them each task stands."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hourhand.cli.yaml_reading import MOST_BYTES, Document, known_keys, read_yaml
from hourhand.model.errors import FieldError, HourhandError, InvalidInput, shown
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import TaskType
from hourhand.rules.declaration import dependency_cycle, in_order
from hourhand.rules.definition import FLAGS

STDIN = "-"
ENDINGS = (".yaml", ".yml")
KEYS = {"name": "a text", "groups": "a list of texts", "tasks": "a list of tasks"}
_FIELD = re.compile(r"tasks\.([0-9]+)(?:\.(.*))?", re.DOTALL)


@dataclass(slots=True)
class FileSet:
    """One set of tasks: what its files say, put together."""

    name: str
    paths: list[str]
    said: bool
    """Whether its name was written down, and not only taken from where it was found."""
    groups: list[str] = field(default_factory=list)
    tasks: list[Any] = field(default_factory=list)
    documents: list[tuple[Document, int]] = field(default_factory=list)
    """Where each task of `tasks` comes from: a file, and its number there."""

    @property
    def names(self) -> set[str]:
        """Of its tasks."""
        return {one["name"] for one in self.tasks if isinstance(one, dict) and isinstance(one.get("name"), str)}

    @property
    def needed(self) -> set[str]:
        """What its tasks depend on, by name."""
        lists = [one.get("depends_on") for one in self.tasks if isinstance(one, dict)]
        return {name for each in lists if isinstance(each, list) for name in each if isinstance(name, str)}

    @property
    def used_groups(self) -> set[str]:
        """Those that it lists, and those of its tasks."""
        found = [one.get("group") for one in self.tasks if isinstance(one, dict)]
        return {*self.groups, *[name for name in found if isinstance(name, str)]}

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Name the file, the line and the task of whatever is refused."""
        try:
            yield
        except InvalidInput as refused:
            raise InvalidInput(self._placed(each) for each in refused.errors) from None

    def _placed(self, error: FieldError) -> FieldError:
        found = _FIELD.fullmatch(error.field)
        if found is None or int(found[1]) >= len(self.documents):
            return error
        (document, number), rest = self.documents[int(found[1])], found[2] or ""
        path = [int(one) if one.isdecimal() else one for one in rest.split(".")] if rest else []
        spot = document.spot(("tasks", number, *path))
        task = self.tasks[int(found[1])]
        named = isinstance(task, dict) and isinstance(task.get("name"), str)
        what = " ".join(filter(None, [f"task {task['name']!r}" if named else "", rest]))
        return replace(error, field=f"{spot.file}:{spot.line}{': ' if what else ''}{what}")


def read_sets(paths: Sequence[str], name: str | None = None) -> list[FileSet]:
    """The sets of these files and folders, each after those it depends on; all that is wrong with any of them.

    With a name, that is what all of them are called.
    """
    sets: dict[str, FileSet] = {}
    errors: list[FieldError] = []
    for path in paths:
        try:
            default, documents = _documents(path)
            found = _put_together(path, default, documents, name)
            _merge(sets.setdefault(found.name, found), found)
        except InvalidInput as refused:
            errors += refused.errors
    if errors:
        raise InvalidInput(errors)
    return _in_order(list(sets.values()))


def _merge(there: FileSet, found: FileSet) -> None:
    """Add what another path has of the same set."""
    if there is found:
        return
    if not (there.said and found.said):
        raise InvalidInput.one(
            "--file",
            found.paths[0],
            f"{there.paths[0]!r} and {found.paths[0]!r} would both be the set {found.name!r}: write a name: into each, "
            "the same if they are one set, or give --name",
        )
    there.paths += found.paths
    there.groups += found.groups
    there.tasks += found.tasks
    there.documents += found.documents


def _in_order(sets: list[FileSet]) -> list[FileSet]:
    """Each after those it depends on; as given where they depend on each other, which the server tells."""
    homes = {name: one.name for one in sets for name in one.names}
    declarations = [
        Declaration(
            definition=TaskDefinition(name=one.name, type=TaskType.COMMAND),
            depends_on=tuple(sorted({homes[name] for name in one.needed if name in homes} - {one.name})),
        )
        for one in sets
    ]
    if dependency_cycle(declarations):
        return sets
    by_name = {one.name: one for one in sets}
    return [by_name[one.definition.name] for one in in_order(declarations)]


def _documents(path: str) -> tuple[str | None, list[Document]]:
    """What is found at a path, and how the set is called unless it says so itself."""
    if path == STDIN:
        return None, [_read(STDIN, _piped())]
    place = Path(path)
    if not place.is_dir():
        return place.stem, [_read(path, _bytes(place))]
    files = sorted(one for one in place.rglob("*") if one.suffix in ENDINGS and one.is_file())
    if not files:
        raise InvalidInput.one("--file", path, f"the folder {path!r} holds no file that ends with .yaml or .yml")
    documents: list[Document] = []
    errors: list[FieldError] = []
    for one in files:
        try:
            documents.append(_read(str(one), _bytes(one)))
        except InvalidInput as refused:
            errors += refused.errors
    if errors:
        raise InvalidInput(errors)
    return place.resolve().name, documents


def _piped() -> bytes:
    beyond = MOST_BYTES + 1
    return sys.stdin.buffer.read(beyond) if hasattr(sys.stdin, "buffer") else sys.stdin.read(beyond).encode()


def _bytes(path: Path) -> bytes:
    """What it holds, or so much of it that it is too much."""
    try:
        with path.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InvalidInput.one("--file", str(path), f"there is no file or folder {str(path)!r}") from None
    except OSError as error:
        raise HourhandError(f"{str(path)!r} cannot be read: {error.strerror}") from None


def _read(file: str, data: bytes) -> Document:
    shown_as = "standard input" if file == STDIN else file
    document = read_yaml(data, shown_as, flags=frozenset(FLAGS))
    errors = known_keys(document, KEYS) or list(_wrong(document))
    if errors:
        raise InvalidInput(errors)
    return document


def _wrong(document: Document) -> Iterator[FieldError]:
    """What keeps a file from being put together with others."""
    value = document.value
    name, groups, tasks = (value.get(key, default) for key, default in (("name", "x"), ("groups", []), ("tasks", [])))
    right = {
        "name": isinstance(name, str) and name.strip(),
        "groups": isinstance(groups, list) and all(isinstance(one, str) for one in groups),
        "tasks": isinstance(tasks, list),
    }
    for key, is_right in right.items():
        if not is_right:
            spot = document.spot((key,))
            yield FieldError(f"{spot.file}:{spot.line}: {key}", None, f"{shown(value[key])} is not {KEYS[key]}")
    if "tasks" not in value:
        yield FieldError(f"{document.file}: tasks", None, "is missing: list the tasks under it, or write tasks: []")


def _put_together(path: str, default: str | None, documents: Sequence[Document], name: str | None) -> FileSet:
    said = {one.value["name"]: one for one in documents if "name" in one.value}
    if len(said) > 1:
        first, second = list(said.values())[:2]
        raise InvalidInput.one(
            f"{second.spot(('name',)).file}:{second.spot(('name',)).line}: name",
            second.value["name"],
            f"{second.value['name']!r} is not the name that {first.file} says ({first.value['name']!r}): "
            "the files of a folder are one set",
        )
    for other, document in said.items():
        if name not in (None, other):
            spot = document.spot(("name",))
            message = f"{other!r} is not the name that --name says ({name!r}): leave one of them out"
            raise InvalidInput.one(f"{spot.file}:{spot.line}: name", other, message)
    called = name or next(iter(said), default)
    if called is None:
        raise InvalidInput.one(
            f"{documents[0].file}: name", None, f"is missing: what comes by {path} needs one, there or by --name"
        )
    made = FileSet(called, [path], said=bool(name or said))
    for document in documents:
        made.groups += document.value.get("groups", [])
        made.tasks += document.value["tasks"]
        made.documents += [(document, number) for number in range(len(document.value["tasks"]))]
    return made
