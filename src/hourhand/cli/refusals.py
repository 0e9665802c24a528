"""Refusals of the API, in the words of the options that were typed in the CLI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from hourhand.model.errors import InvalidInput

_PLACE = re.compile(r"\.[0-9]+$")


@contextmanager
def in_words_of(options: Mapping[str, str]) -> Iterator[None]:
    """Name the option rather than the field that it became; fields that no option became keep their names."""
    try:
        yield
    except InvalidInput as refused:
        raise InvalidInput(replace(each, field=_option(each.field, options)) for each in refused.errors) from None


def _option(field: str, options: Mapping[str, str]) -> str:
    """That of the field, or of the list that it is a part of."""
    return options.get(field) or options.get(_PLACE.sub("", field)) or field
