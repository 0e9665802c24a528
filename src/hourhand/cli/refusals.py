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
        raise InvalidInput(
            replace(each, field=options.get(each.field, each.field)) for each in refused.errors
        ) from None
