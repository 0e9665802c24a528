"""The choke point behind the gate: no route answers before the caller's role and groups allow it.

A route that the table of permissions does not list cannot be made. What is refused here, and every change that is
refused further in, is kept in the audit.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from hourhand.api.gate import SAFE
from hourhand.api.permissions import PERMISSIONS, Extent, Needs
from hourhand.api.reach import Reach
from hourhand.model.audit import Author, Change
from hourhand.model.errors import FieldError, Forbidden, HourhandError, InvalidInput, StoreError, shown

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from hourhand.api.refusals import Refusals
    from hourhand.model.access import Principal

API = "/api/v1"
_ID = re.compile(r"-?[0-9]{1,100}", re.ASCII)
_DONE = {"GET": "read", "POST": "create", "PATCH": "edit", "DELETE": "delete"}

log = logging.getLogger(__name__)
Answer = Callable[["Request"], Awaitable["Response"]]


def guarded_router(*, prefix: str = "", tags: list[str] | None = None) -> APIRouter:
    """Make a router whose routes are guarded."""
    return APIRouter(prefix=prefix, tags=list(tags or []), route_class=Guarded)


def needed(method: str, path: str) -> Needs:
    """Return what a route asks of its caller; one that is not in the table is a fault of the program."""
    name = f"{method} {path.removeprefix(API)}"
    try:
        return PERMISSIONS[name]
    except KeyError:
        raise LookupError(f"{name} is in no row of hourhand.api.permissions: say who may call it") from None


class Guarded(APIRoute):
    """A route that answers only to whom it may."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Put the check before everything else, the reading of the body included."""
        answer = cast("Answer", super().get_route_handler())
        needs = {method: needed(method, self.path) for method in self.methods or ()}
        # A preview changes nothing, and is asked for while somebody still types.
        only_asks = SAFE.issuperset(needs) or self.path.endswith("/preview")

        async def guarded(request: Request) -> Response:
            caller = cast("Principal", request.state.caller)  # the gate has put it there
            try:
                await _refuse(request, caller, needs[request.method])
                return await answer(request)
            except (HourhandError, HTTPException, RequestValidationError) as error:
                if isinstance(error, Forbidden) or not only_asks:
                    await _keep(request, caller, error)
                raise

        return guarded


def author_of(request: Request, caller: Principal) -> Author:
    """Return on whose behalf a request is answered."""
    return Author(id=caller.id, name=caller.name, request_id=request.state.request_id, groups=caller.groups)


async def _refuse(request: Request, caller: Principal, needs: Needs) -> None:
    if not caller.role.includes(needs.role):
        raise Forbidden(
            f"this needs the role {needs.role.value} or a higher one: the role of {caller.name!r} is {caller.role}"
        )
    _refuse_strange_ids(request.path_params)
    if caller.groups is None or needs.extent is Extent.ANY:
        return
    state = request.app.state
    reach = Reach(caller, state.store, state.group_names)
    if needs.extent is Extent.WHOLE:
        reach.whole("this")
    checks: Mapping[str, Callable[[int], Awaitable[None]]] = {
        "task_id": reach.task,
        "instance_id": reach.instance,
        "group_id": reach.group_id,
        "window_id": reach.window,
    }
    for name, value in request.path_params.items():
        if name in checks:
            await checks[name](int(value))


def _refuse_strange_ids(params: Mapping[str, str]) -> None:
    """Refuse what is no id in plain digits.

    Else `+7`, ` 7` or `7.0` would be a number to whoever parses it later, and none to whoever checks the reach here.
    """
    errors = [
        FieldError(name, value, f"{shown(value)} is not an id: give a whole number, such as 7")
        for name, value in params.items()
        if name.endswith("_id") and not _ID.fullmatch(value)
    ]
    if errors:
        raise InvalidInput(errors)


async def _keep(request: Request, caller: Principal, error: Exception) -> None:
    """Put a refusal into the audit; that this fails must not turn one refusal into another."""
    if isinstance(error, StoreError):
        return
    state, author = request.app.state, author_of(request, caller)
    refusals = cast("Refusals", state.refusals)
    try:
        for somebody, count in refusals.left_out():
            await state.store.on_behalf(somebody).record(_more_refused(count))
        if refusals.keep(author):
            await state.store.on_behalf(author).record(_refusal(request, error))
    except HourhandError as failure:
        log.warning("request %s: its refusal is not in the audit: %s", request.state.request_id, failure)


def _more_refused(count: int) -> Change:
    return Change(
        action="refuse",
        resource_type="request",
        resource_id=None,
        summary=f"and {count} more were refused",
        payload={"count": count},
        result="refused",
    )


def _refusal(request: Request, error: Exception) -> Change:
    path: str = request.scope["route"].path.removeprefix(API)
    words = [word for word in path.split("/") if word]
    named: list[Any] = list(request.path_params.values())
    last = words[-1] if not words[-1].startswith("{") else ""
    action = last if len(words) > 1 and last else _DONE.get(request.method, request.method.lower())
    return Change(
        action=action,
        resource_type=words[0].removesuffix("s"),
        resource_id=str(named[0])[:200] if named else None,
        summary=_reason(error),
        payload={"request": f"{request.method} {path}"},
        result="refused",
    )


def _reason(error: Exception) -> str:
    """Say why, without the values of wrong fields: a password may be among them."""
    match error:
        case InvalidInput():
            return f"wrong values: {', '.join(each.field for each in error.errors)}"
        case RequestValidationError():
            if any(each["type"] == "json_invalid" for each in error.errors()):
                return "the body is not JSON"
            fields = (".".join(map(str, each["loc"][1:])) for each in error.errors())
            return f"wrong values: {', '.join(fields)}"[:1_000]
        case HTTPException():
            return str(error.detail)[:1_000]
    return str(error)[:1_000]
