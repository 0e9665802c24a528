"""What every request body has in common: unknown keys are refused, and so are NUL characters, which no store keeps."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


class Input(BaseModel):
    """The parent of every request body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nul(cls, value: object) -> object:
        where = _find_nul(value)
        if where is not None:
            raise PydanticCustomError("nul", "{where} holds a NUL character: remove it", {"where": where or "the body"})
        return value


def _find_nul(value: object, path: str = "") -> str | None:
    """Return the path of the first string with a NUL, or None; the gate has bounded how deep this can go."""
    match value:
        case str():
            return path if "\0" in value else None
        case dict():
            pairs = [(f"{path}.{key}".lstrip("."), key, each) for key, each in value.items()]
            found = (at if "\0" in str(key) else _find_nul(each, at) for at, key, each in pairs)
        case list():
            found = (_find_nul(each, f"{path}.{index}") for index, each in enumerate(value))
        case _:
            return None
    return next((at for at in found if at is not None), None)
