"""Task files as they are found: which files make up a set, and where in them each task stands."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hourhand.cli.yaml_reading import Document, known_keys, read_yaml
from hourhand.model.errors import FieldError, HourhandError, InvalidInput, shown
from hourhand.rules.definition import FLAGS

STDIN = "-"
ENDINGS = (".yaml", ".yml")
KEYS = {"name": "a text", "groups": "a list of texts", "tasks": "a list of tasks"}
_FIELD = re.compile(r"tasks\.([0-9]+)(?:\.(.*))?", re.DOTALL)


@dataclass(slots=True)
class FileSet:
    """One set of tasks: what its files say, put together."""

    name: str
    groups: list[str] = field(default_factory=list)
    tasks: list[Any] = field(default_factory=list)
    documents: list[tuple[Document, int]] = field(default_factory=list)
    """Where each task of `tasks` comes from: a file, and its number there."""

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


def read_sets(paths: Sequence[str]) -> list[FileSet]:
    """The sets of these files and folders; all that is wrong with any of them."""
    sets: dict[str, FileSet] = {}
    errors: list[FieldError] = []
    for path in paths:
        try:
            default, documents = _documents(path)
            found = _put_together(path, default, documents)
        except InvalidInput as refused:
            errors += refused.errors
            continue
        if found.name in sets:
            there = sets[found.name]
            there.groups += found.groups
            there.tasks += found.tasks
            there.documents += found.documents
        else:
            sets[found.name] = found
    if errors:
        raise InvalidInput(errors)
    return list(sets.values())


def _documents(path: str) -> tuple[str | None, list[Document]]:
    """What is found at a path, and how the set is called unless it says so itself."""
    if path == STDIN:
        return None, [_read(STDIN, sys.stdin.buffer.read() if hasattr(sys.stdin, "buffer") else _typed())]
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


def _typed() -> bytes:
    return sys.stdin.read().encode()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
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


def _put_together(path: str, default: str | None, documents: Sequence[Document]) -> FileSet:
    said = {one.value["name"]: one for one in documents if "name" in one.value}
    if len(said) > 1:
        first, second = list(said.values())[:2]
        raise InvalidInput.one(
            f"{second.spot(('name',)).file}:{second.spot(('name',)).line}: name",
            second.value["name"],
            f"{second.value['name']!r} is not the name that {first.file} says ({first.value['name']!r}): "
            "the files of a folder are one set",
        )
    name = next(iter(said), default)
    if name is None:
        raise InvalidInput.one(f"{documents[0].file}: name", None, f"is missing: what comes by {path} needs one")
    made = FileSet(name)
    for document in documents:
        made.groups += document.value.get("groups", [])
        made.tasks += document.value["tasks"]
        made.documents += [(document, number) for number in range(len(document.value["tasks"]))]
    return made
