"""YAML for the CLI: plain values with the line of each, and what is wrong with a file in plain words.

YAML has readings that surprise: `on` is true, `12:30` is 750, `010` is 8, and of two keys of the same name the second
counts. What people may have meant otherwise is refused, with what to write instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hourhand.model.errors import FieldError, InvalidInput, shown

Path = tuple[str | int, ...]
MOST_BYTES = 8 * 1024 * 1024
"""As many as the server takes."""
DEEPEST = 100
"""libyaml's composer knows no bound, and ends the process when its stack does; the server takes less than this."""
MOST_VALUES = 300_000
"""An alias of aliases of aliases is small in a file, and larger than any memory."""
_PREFIX = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_TOO_DEEP = f"is nested more than {DEEPEST} deep: write it flatter"
_NO_NUMBER = '{text} is no number that can be stored: quote it, "{text}"'
_SHORT = 40
_DAMAGED = "is not text: save it as UTF-8"
_C_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_AS_YAML = SafeConstructor()


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """As editors jump to it."""
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(slots=True)
class Document:
    """What a file holds: plain values, and where each of them stands."""

    file: str
    value: Any = None
    spots: dict[Path, Spot] = field(default_factory=dict)

    def spot(self, path: Path) -> Spot:
        """Where a value stands, or the nearest that is around it."""
        while path and path not in self.spots:
            path = path[:-1]
        return self.spots.get(path, Spot(self.file, 1, 1))


def read_yaml(data: bytes, file: str, *, flags: frozenset[str] = frozenset()) -> Document:
    """What a file holds; refused with everything that is wrong, each with its line.

    Under a key of `flags` the words `yes`, `no`, `on` and `off` are what YAML takes them for.
    """
    if len(data) > MOST_BYTES:
        most = MOST_BYTES // 1024 // 1024
        raise InvalidInput.one(file, None, f"is larger than {most} MiB: divide it into several")
    reader = _Reader(file, flags)
    document = Document(file)
    node = _composed(_text(data, file), file)
    if node is not None:
        document.value = reader.read(node, ())
    document.spots = reader.spots
    if reader.errors:
        raise InvalidInput(reader.errors)
    return document


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput.one(f"{file}:{line}", None, _DAMAGED) from None


def _composed(text: str, file: str) -> Node | None:
    try:
        try:
            _refuse_depth(text, file)
            node: Node | None = yaml.compose(text, Loader=_C_LOADER)
        except YAMLError:
            node = yaml.compose(text, Loader=yaml.SafeLoader)  # slower, and tells better what is wrong
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        said = _in_plain_words(error, text.splitlines()[line - 1] if line <= len(text.splitlines()) else "")
        raise InvalidInput.one(f"{file}:{line}:{column}", None, said) from None
    except YAMLError as error:  # a character that YAML does not allow
        position = getattr(error, "position", 0)
        line = text.count("\n", 0, position) + 1
        raise InvalidInput.one(
            f"{file}:{line}", None, f"holds the character {text[position : position + 1]!a}, which YAML does not allow"
        ) from None
    return node


def _refuse_depth(text: str, file: str) -> None:
    """Look at how deep it goes by events, which nest nothing."""
    depth = 0
    for event in yaml.parse(text, Loader=_C_LOADER):
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                mark = event.start_mark
                place = file if mark is None else str(Spot(file, mark.line + 1, mark.column + 1))
                raise InvalidInput.one(place, None, _TOO_DEEP)
        elif isinstance(event, CollectionEndEvent):
            depth -= 1


_SAID = {
    "mapping values are not allowed": (
        "has a colon where none is expected: indent it like the lines around it, or quote a text with ': ' in it"
    ),
    "but found another document": "begins a second document (---): write one per file",
    "while scanning a quoted scalar": "a quoted text is not closed; it begins in line {begun}",
    "expected <block end>": "is indented otherwise than what it belongs to, which begins in line {begun}",
    "could not find expected ':'": "is neither a key with its colon (name: …) nor an item of a list (- …)",
    "expected ',' or": "a list or an object is not closed; it begins in line {begun}",
}
"""What PyYAML says, and how a person would."""


def _in_plain_words(error: MarkedYAMLError, line: str) -> str:
    said = " ".join([error.context or "", error.problem or ""])
    key, _, rest = line.strip().removeprefix("- ").partition(": ")
    quoted = f'{key}: "{rest.strip()}"'
    if "alias" in said:
        what = "the schedule" if key == "schedule" else "it"
        return f"a text that begins with * is an alias to YAML: quote {what}, {quoted}"
    if "'\\t'" in said or "\t" in line[: len(line) - len(line.lstrip())]:
        return "is indented with a tab: YAML wants spaces"
    if "cannot start any token" in said:
        return f"a text cannot begin with {rest.strip()[:1]!r} in YAML: quote it, {quoted}"
    plain = next((ours for theirs, ours in _SAID.items() if theirs in said), "is not YAML: {said}")
    return plain.format(begun=_begun(error), said=" ".join(said.split()))


def _begun(error: MarkedYAMLError) -> int:
    mark = error.context_mark or error.problem_mark
    return 1 if mark is None else mark.line + 1


class _Reader:
    """Makes plain values of the nodes of one file."""

    def __init__(self, file: str, flags: frozenset[str]) -> None:
        self.file = file
        self.flags = flags
        self.spots: dict[Path, Spot] = {}
        self.errors: list[FieldError] = []
        self._within: set[int] = set()
        self._count = 0

    def read(self, node: Node, path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
        self.spots.setdefault(path, self._spot(node))
        self._count += 1
        if len(path) > DEEPEST:  # by aliases
            raise InvalidInput.one(str(self._spot(node)), None, _TOO_DEEP)
        if self._count > MOST_VALUES:
            raise InvalidInput.one(str(self._spot(node)), None, "its aliases hold too much: write fewer of them")
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        if id(node) in self._within:
            self._refuse(node, "is an alias of what it stands in: write it out")
            return None
        if node.tag.removeprefix(_PREFIX) not in ("map", "seq"):
            self._refuse(node, f"has the tag {node.tag}, which is not read here: remove it")
            return None
        self._within.add(id(node))
        try:
            if isinstance(node, SequenceNode):
                return [self.read(one, (*path, number)) for number, one in enumerate(node.value)]
            return dict(self._pairs(node, path))
        finally:
            self._within.discard(id(node))

    def _pairs(self, node: Node, path: Path) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        pairs = node.value if isinstance(node, MappingNode) else []
        for key, value in pairs:
            if not isinstance(key, ScalarNode):
                self._refuse(key, "a key must be a text")
                continue
            name, line = str(key.value), key.start_mark.line + 1
            if key.tag == f"{_PREFIX}merge":
                self._refuse(key, "is a merge key, which is not read here: write the fields out")
            elif name in seen:
                self._refuse(key, f"the key {name!r} is there twice; the first is in line {seen[name]}: remove one")
            else:
                seen[name] = line
                self.spots[*path, name] = self._spot(key)
                yield name, self.read(value, (*path, name))

    def _scalar(self, node: ScalarNode, path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
        try:
            return self._value(node, path)
        except (ValueError, OverflowError, IndexError):  # too long a number, or none at all with the tag of one
            return self._refuse(node, _NO_NUMBER.format(text=_cut(str(node.value))))

    def _value(self, node: ScalarNode, path: Path) -> Any:  # noqa: ANN401, PLR0911 - a line for each kind
        text = str(node.value)
        match node.tag.removeprefix(_PREFIX):
            case "str" | "timestamp" | "value":
                return text
            case "null":
                return None
            case "bool" if text.lower() in ("true", "false") or (path and path[-1] in self.flags):
                return text.lower() in ("true", "yes", "on")
            case "bool":
                read = "true" if text.lower() in ("yes", "on") else "false"
                return self._refuse(node, f'{text} means {read} to YAML: write {read}, or quote it, "{text}"')
            case "int" if _INTEGER.fullmatch(text):
                whole = int(text, 16 if "0x" in text else 10)
                return int(str(whole))  # nobody could write down again what Python finds too long to
            case "float" if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
                return float(text)
            case "int" | "float" as kind:
                number = (_AS_YAML.construct_yaml_int if kind == "int" else _AS_YAML.construct_yaml_float)(node)
                if not math.isfinite(number):
                    return self._refuse(node, _NO_NUMBER.format(text=_cut(text)))
                said = shown(number)
                return self._refuse(node, f'{text} is the number {said} to YAML: write that, or quote it, "{text}"')
        return self._refuse(node, f"has the tag {node.tag}, which is not read here: remove it")

    def _refuse(self, node: Node, message: str) -> None:
        self.errors.append(FieldError(str(self._spot(node)), None, message))

    def _spot(self, node: Node) -> Spot:
        return Spot(self.file, node.start_mark.line + 1, node.start_mark.column + 1)


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def known_keys(document: Document, known: Mapping[str, str]) -> list[FieldError]:
    """What is wrong with the keys at the top of a file, given those that there are and what each holds."""
    if not isinstance(document.value, dict):
        held = "is empty" if document.value is None else f"holds {shown(document.value)}"
        return [FieldError(document.file, None, f"{held}: write the keys {', '.join(known)}")]
    return [
        FieldError(str(document.spot((name,))), None, f"the key {name!r} is not known: there are {', '.join(known)}")
        for name in document.value
        if name not in known
    ]
