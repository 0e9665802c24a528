"""Configurations of operations in the CLI: from a file, from standard input, and from --set."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hourhand.cli.json_options import Json
from hourhand.cli.yaml_reading import MOST_BYTES, Document, read_yaml
from hourhand.model.errors import FieldError, HourhandError, InvalidInput, shown

STDIN = "-"
_CONFIG = "config."


@dataclass(slots=True)
class Configuration:
    """What was given, and where each part of it stands."""

    values: Json
    document: Document | None = None
    set_by_hand: frozenset[str] = field(default_factory=frozenset)

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Name the file and the line, or the option, of whatever is refused."""
        try:
            yield
        except InvalidInput as refused:
            raise InvalidInput(self._placed(each) for each in refused.errors) from None

    def _placed(self, error: FieldError) -> FieldError:
        name = error.field.removeprefix(_CONFIG)
        if name == error.field:
            return error
        first = name.split(".")[0]
        if first in self.set_by_hand:
            return replace(error, field=f"--set {name}")
        if self.document is None:
            return replace(error, field=name)
        path = [int(one) if one.isdecimal() else one for one in name.split(".")]
        spot = self.document.spot(tuple(path))
        return replace(error, field=f"{spot.file}:{spot.line}: {name}")


def read_config(file: str | None, pairs: Sequence[str], more: Mapping[str, Any]) -> Configuration:
    """The fields of a configuration: those of the file, over them those of --set, over them those of other options."""
    document = None if file is None else _document(file)
    values: Json = {} if document is None else dict(document.value or {})
    by_hand = dict(map(_pair, pairs))
    given = {name: value for name, value in more.items() if value is not None}
    if document is None and not by_hand and not given:
        raise InvalidInput.one("--file", None, "is missing: name a YAML file, - for standard input, or give --set")
    return Configuration({**values, **by_hand, **given}, document, frozenset(by_hand))


def _document(file: str) -> Document:
    document = read_yaml(_bytes(file), "standard input" if file == STDIN else file)
    if document.value is not None and not isinstance(document.value, dict):
        raise InvalidInput.one(
            document.file, None, f"holds {shown(document.value)}: write the fields of a configuration, name: value"
        )
    return document


def _bytes(file: str) -> bytes:
    beyond = MOST_BYTES + 1
    if file == STDIN:
        return sys.stdin.buffer.read(beyond) if hasattr(sys.stdin, "buffer") else sys.stdin.read(beyond).encode()
    try:
        with Path(file).open("rb") as opened:
            return opened.read(beyond)
    except FileNotFoundError:
        raise InvalidInput.one("--file", file, f"there is no file {file!r}") from None
    except OSError as error:
        raise HourhandError(f"{file!r} cannot be read: {error.strerror}") from None


def _pair(text: str) -> tuple[str, Any]:
    """What looks like JSON is read as such; everything else is a text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidInput.one("--set", text, f"{text!r} is no NAME=VALUE: write one such as table=orders")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
