"""What the API's routes ask of a request: the store, who is calling, which page; and that it says nothing unknown."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Query
from fastapi.dependencies.models import Dependant
from starlette.requests import Request

from hourhand.api.group_names import GroupNames
from hourhand.api.guarding import author_of
from hourhand.api.operation_payloads import OperationPayloads
from hourhand.api.reach import Reach
from hourhand.bootstrap.operations import Operations
from hourhand.contracts.store import Store
from hourhand.model.access import Principal
from hourhand.model.audit import Once
from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.service.post import Post
from hourhand.service.sources import SealedSources

MOST = 200
LONGEST_CURSOR = 4_000
ONCE = "Idempotency-Key"
_KEY = re.compile(r"[!-~]([ -~]{0,198}[!-~])?", re.ASCII)


async def _store(request: Request) -> Store:
    """Return the store, on behalf of whoever is calling."""
    store = cast("Store", request.app.state.store)
    caller = getattr(request.state, "caller", None)
    return store if caller is None else store.on_behalf(author_of(request, caller), once=_once(request, caller))


def _once(request: Request, caller: Principal) -> Once | None:
    """Return what `Idempotency-Key` asks for; only what creates something looks at it."""
    key = request.headers.get(ONCE)
    if key is None or request.method != "POST":
        return None
    if not _KEY.fullmatch(key):
        raise InvalidInput.one(
            ONCE, key, f"{shown(key)} is no key: write 1 to 200 printable ASCII characters, such as a UUID"
        )
    return Once(
        principal=caller.id,
        route=request.url.path,
        key=key,
        request_hash=hashlib.sha256(request.state.body).hexdigest(),
    )


async def _group_names(request: Request) -> GroupNames:
    return cast("GroupNames", request.app.state.group_names)


async def _caller(request: Request) -> Principal:
    return cast("Principal", request.state.caller)  # the gate has put it there, or the request would not be here


async def _reach(request: Request) -> Reach:
    return Reach(request.state.caller, request.app.state.store, request.app.state.group_names)


async def _post(request: Request) -> Post:
    return cast("Post", request.app.state.post)


async def _operations(request: Request) -> Operations:
    return cast("Operations", request.app.state.operations)


async def _operation_payloads(request: Request) -> OperationPayloads:
    return OperationPayloads(request.app.state.operations.desk, request.app.state.store)


async def _sources(request: Request) -> SealedSources:
    return cast("SealedSources", request.app.state.sources)


TheStore = Annotated[Store, Depends(_store)]
TheGroups = Annotated[GroupNames, Depends(_group_names)]
Caller = Annotated[Principal, Depends(_caller)]
TheReach = Annotated[Reach, Depends(_reach)]
ThePost = Annotated[Post, Depends(_post)]
TheSources = Annotated[SealedSources, Depends(_sources)]
TheOperations = Annotated[Operations, Depends(_operations)]
ThePayloads = Annotated[OperationPayloads, Depends(_operation_payloads)]


@dataclass(frozen=True, slots=True)
class Paging:
    """Which part of a list."""

    limit: int
    cursor: str | None


async def _paging(
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many items at most")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=LONGEST_CURSOR, description="`next_cursor` of the page before")
    ] = None,
) -> Paging:
    return Paging(limit, cursor)


ThePage = Annotated[Paging, Depends(_paging)]


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse parameters that the route does not have, that come twice, or that hold what no store keeps.

    A filter with a typing error would otherwise be no filter at all.
    """
    given = request.query_params.multi_items()
    if not given:
        return
    known = list(_parameters(request.scope["route"].dependant))
    right = f"the known ones are: {', '.join(known)}" if known else "there are none here"
    errors = [
        FieldError(name, None, f"is not a known parameter; {right}")
        for name in dict.fromkeys(name for name, _ in given)
        if name not in known
    ]
    times = Counter(name for name, _ in given if name in known)
    errors += [FieldError(name, n, f"is given {n} times: give it once") for name, n in times.items() if n > 1]
    errors += [
        FieldError(name, value, f"{shown(value)} holds a NUL character: remove it")
        for name, value in given
        if name in known and "\0" in value
    ]
    if errors:
        raise InvalidInput(errors)


def _parameters(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for each in dependant.dependencies:
        yield from _parameters(each)
