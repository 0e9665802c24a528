"""What request bodies and parameters have in common: unknown keys are refused, and so is what no store could keep."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from hourhand.rules.definition import LARGEST_ID

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt _]", re.ASCII)
FIRST_YEAR, LAST_YEAR = 1970, 2199  # between these lies every instant of a schedule


def example(**values: Any) -> ConfigDict:  # noqa: ANN401 - whatever the fields are
    """Give a body or an answer its example in the document."""
    return ConfigDict(json_schema_extra={"examples": [values]})


class Input(BaseModel):
    """The parent of every request body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nul(cls, value: object) -> object:
        where = _find(value, _has_nul)
        if where is not None:
            raise PydanticCustomError("nul", "{where} holds a NUL character: remove it", {"where": where or "the body"})
        return value

    @model_validator(mode="after")
    def _of_whole_characters(self) -> Self:
        """Refuse what Pydantic looks for only where a text has a length; after it, for it names the field."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        where = _find(given, _has_half_a_pair)
        if where is not None:
            told = "{where} holds half of a surrogate pair, which is no character: remove it"
            raise PydanticCustomError("half_a_pair", told, {"where": ascii(where)[1:-1]})
        return self


def _has_nul(text: str) -> bool:
    return "\0" in text


def _has_half_a_pair(text: str) -> bool:
    return any("\ud800" <= one <= "\udfff" for one in text)


def _find(value: object, bad: Callable[[str], bool], path: str = "") -> str | None:
    """Return the path of the first bad string, or None; the gate has bounded how deep this can go."""
    match value:
        case str():
            return path if bad(value) else None
        case dict():
            pairs = [(f"{path}.{key}".lstrip("."), key, each) for key, each in value.items()]
            found = (at if bad(str(key)) else _find(each, bad, at) for at, key, each in pairs)
        case list():
            found = (_find(each, bad, f"{path}.{index}") for index, each in enumerate(value))
        case _:
            return None
    return next((at for at in found if at is not None), None)


def _only_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("it is not a time: write one such as 2026-11-15T09:00:00Z")  # noqa: TRY004 - Pydantic's way
    if not _TIME.match(value):  # Pydantic would take seconds since 1970 too
        raise PydanticCustomError("datetime_parsing", "it is not a time")
    return value


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC it lies outside the years 1 to 9999") from None


def _in_range(value: datetime) -> datetime:
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise ValueError(f"the year {value.year} is out of range: give {FIRST_YEAR} to {LAST_YEAR}")
    return value


def _one_line(value: str) -> str:
    bad = next((one for one in value if unicodedata.category(one) in ("Cc", "Cs")), None)
    if bad is not None:
        raise ValueError(f"it contains the control character {bad!a}: remove it")
    if value != value.strip():
        raise ValueError("it begins or ends with a space: remove it")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_only_text), AfterValidator(_in_utc)]
"""A time with an offset, in UTC."""
Instant = Annotated[Moment, AfterValidator(_in_range)]
"""A time that every store can keep and count with."""
Id = Annotated[int, Field(ge=1, le=LARGEST_ID, strict=True)]
"""An id in a body; strict, since JSON has numbers."""
QueryId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
"""An id among a URL's parameters, where everything is text."""
Priority = Annotated[int, Field(ge=0, le=9, strict=True)]
Line = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
"""A short text without control characters, such as a name."""
