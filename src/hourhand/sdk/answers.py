"""SDK: what a Hourhand answers over REST, as the nouns and refusals that it was made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import httpx

from hourhand.model.errors import (
    Conflict,
    FieldError,
    Gone,
    HasDependents,
    HourhandError,
    IllegalEdge,
    InvalidInput,
    NotFound,
    PlanRefused,
    SourceError,
    StoreUnavailable,
)
from hourhand.model.explanation import Code, Explanation, Reason
from hourhand.model.instance import Instance, LogLine
from hourhand.model.task import Task
from hourhand.model.words import Status

T = TypeVar("T")
_NOT_FOUND = re.compile(r"there is no ([a-z ]+) ('.*'|\".*\"|-?\d+)", re.DOTALL)
_ILLEGAL = re.compile(r"(.+) is (\w+) and cannot be (\w+); from .*", re.DOTALL)
_NEEDED = re.compile(r"task ('.*'|\".*\") is needed by .*", re.DOTALL)


def _reader(hint: Any) -> Callable[[Any], Any] | None:  # noqa: ANN401 - a type is a value here
    if get_origin(hint) is tuple:
        return tuple
    for kind in get_args(hint) or (hint,):
        if kind is datetime:
            return datetime.fromisoformat
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return kind
    return None


_READERS: dict[type, dict[str, Callable[[Any], Any]]] = {
    noun: {name: reader for name, hint in get_type_hints(noun).items() if (reader := _reader(hint)) is not None}
    for noun in (Instance, LogLine, Task, Reason)
}


def _noun(kind: type[T], answer: Mapping[str, Any]) -> T:
    """Keys that this release does not know are left out: the server may be newer."""
    readers = _READERS[kind]
    given = {field.name: answer[field.name] for field in fields(kind) if field.name in answer}  # type: ignore[arg-type]
    return kind(
        **{
            name: readers[name](value) if name in readers and value is not None else value
            for name, value in given.items()
        }
    )


def instance_from(answer: Mapping[str, Any]) -> Instance:
    """An instance."""
    return _noun(Instance, answer)


def line_from(answer: Mapping[str, Any]) -> LogLine:
    """A line of the instance log."""
    return _noun(LogLine, answer)


def task_from(answer: Mapping[str, Any]) -> Task:
    """A task; where it stands in its schedule is for the store alone to know."""
    return _noun(Task, {**answer, "anchored_at": answer["created_at"]})


def explanation_from(answer: Mapping[str, Any]) -> Explanation:
    """Why an instance is where it is; of a newer server's reasons those that this release knows."""
    return Explanation(
        instance_id=answer["instance_id"],
        status=Status(answer["status"]),
        summary=answer["summary"],
        reasons=tuple(_noun(Reason, one) for one in answer["reasons"] if one["code"] in set(Code)),
    )


def read(response: httpx.Response, token_from: str = "") -> Any:  # noqa: ANN401 - JSON
    """The JSON of an answer, or the refusal that it is."""
    if response.status_code >= httpx.codes.MULTIPLE_CHOICES:
        raise refusal(response, token_from)
    if response.status_code == httpx.codes.NO_CONTENT:
        return None
    try:
        return response.json()
    except ValueError:
        raise _stranger(response) from None


def refusal(response: httpx.Response, token_from: str = "") -> HourhandError:
    """The error that a problem was made of."""
    if not response.headers.get("content-type", "").startswith("application/problem+json"):
        passing = response.status_code in (502, 503, 504)  # a proxy in between
        return StoreUnavailable(f"{_root(response)} is not available right now") if passing else _stranger(response)
    problem = response.json()
    detail = str(problem.get("detail", problem.get("title", "")))
    error: HourhandError
    match response.status_code:
        case 422:
            listed = problem.get("errors") or [{"field": "body", "message": detail}]
            error = InvalidInput(FieldError(each["field"], None, each["message"]) for each in listed)
        case 404 if found := _NOT_FOUND.fullmatch(detail):
            error = NotFound(found[1], ast.literal_eval(found[2]))
        case 409:
            error = _conflict(problem, detail)
        case 410:
            error = Gone(detail)
        case 401:
            error = HourhandError(_unknown(response, detail, token_from))
        case 424:
            error = SourceError(detail)
        case 429 | 503:
            error = StoreUnavailable(detail)
        case 500:
            error = HourhandError(f"{detail} ({response.headers.get('x-request-id', 'which is missing')})")
        case _:
            error = HourhandError(detail)
    return error


def unreachable(url: str, error: httpx.TransportError) -> StoreUnavailable:
    """Nobody answers."""
    if plain := plain_of(url, error):
        return StoreUnavailable(f"what answers at {url} does not speak https, it speaks http: use {plain}")
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        why = str(error) or type(error).__name__
        return StoreUnavailable(
            f"no Hourhand answers at {url} ({why}): start one with `hourhand serve`, "
            "or set HOURHAND_URL to where one runs"
        )
    said = str(error) or type(error).__name__
    return StoreUnavailable(f"{url} did not answer to the end ({said}): what was asked for may have been done or not")


def plain_of(url: str, error: httpx.TransportError) -> str | None:
    """The address without TLS, if that is what the other side does not speak."""
    spoken = any(reason in str(error).upper() for reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"))
    return f"http://{url.removeprefix('https://')}" if spoken and url.startswith("https://") else None


def _unknown(response: httpx.Response, detail: str, token_from: str) -> str:
    if "authorization" in response.request.headers:
        return f"{_root(response)} refuses the token{f' ({token_from})' if token_from else ''}: {detail}"
    return (
        f"{_root(response)} needs a token: set HOURHAND_TOKEN, or HOURHAND_DATA_DIR to the data folder of that server "
        "(whose token is shown to a server on this machine only)"
    )


def _conflict(problem: Mapping[str, Any], detail: str) -> Conflict:
    if "legal" in problem and (found := _ILLEGAL.fullmatch(detail)):
        return IllegalEdge(found[1], found[2], found[3], problem["legal"])
    if "dependents" in problem and (found := _NEEDED.fullmatch(detail)):
        return HasDependents(ast.literal_eval(found[1]), problem["dependents"])
    if "reasons" in problem:
        return PlanRefused(detail, problem["reasons"], problem.get("plan_hash"))
    return Conflict(detail)


def _stranger(response: httpx.Response) -> HourhandError:
    kind = response.headers.get("content-type", "nothing that has a type")
    return HourhandError(
        f"{_root(response)} answers with {response.status_code} and {kind}, which Hourhand would not: "
        "is HOURHAND_URL right?"
    )


def _root(response: httpx.Response) -> str:
    return str(response.request.url.copy_with(path="/", query=None, userinfo=b"")).rstrip("/")
