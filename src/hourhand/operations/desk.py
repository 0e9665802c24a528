"""Operations: from a configuration to a plan that can be shown and approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hourhand.model.data_source import Dialect
from hourhand.model.errors import Conflict, FieldError, InvalidInput, PlanRefused, shown
from hourhand.model.operation import Blocker, Plan, Preview, Side, Support
from hourhand.operations.blockers import in_the_way
from hourhand.operations.catalogue import Catalogue
from hourhand.operations.config import Config
from hourhand.operations.failures import OperationFailure, Refused
from hourhand.operations.kind import Kind
from hourhand.operations.looking import Addresses, LiveLook, looking
from hourhand.rules.operations import impact, marked, plan_hash, script


class Desk:
    """Reads configurations, plans and previews."""

    def __init__(self, addresses: Addresses, catalogue: Catalogue | None = None) -> None:
        self.addresses = addresses
        self.catalogue = catalogue or Catalogue()

    def read(self, kind: str, config: Mapping[str, Any]) -> tuple[Kind[Any, Any], Config]:
        """The kind and its configuration; InvalidInput names every field that is wrong."""
        found = self.catalogue.get(kind)
        try:
            return found, found.config.model_validate(dict(config))
        except ValidationError as error:
            wrong = error.errors()
            raise InvalidInput(
                FieldError(_place(each["loc"]), None, _message(found, each))
                for each in wrong
                if not _follows(each, wrong)
            ) from None

    async def preview(self, kind: str, config: Mapping[str, Any]) -> Preview:
        """What it would do; InvalidInput if it cannot be planned, SourceUnreachable if nobody can look."""
        found, read = self.read(kind, config)
        try:
            address = await self.addresses(read.data_source)
            if address.dialect is Dialect.SQLSERVER:
                return _shown(self._script(found, read))
            async with looking(self.addresses, read.data_source) as look:
                plan = await self.planned(found, read, look)
                plan = await found.estimate(look, plan)
                return _shown(plan, await in_the_way(look.source, plan))
        except Refused as error:
            raise InvalidInput.one(_field(error), None, str(error)) from error

    async def planned(self, kind: Kind[Any, Any], config: Config, look: LiveLook) -> Plan:
        """Look and decide."""
        require_support(kind, look.source.dialect)
        _require_seen(config, look.source.dialect)
        try:
            plan = kind.plan(config, await kind.inspect(config, look))
        except Refused as error:
            raise InvalidInput.one(_field(error), None, str(error)) from error
        return marked(plan, kind_marks=kind.marks_destructive)

    def _script(self, kind: Kind[Any, Any], config: Config) -> Plan:
        require_support(kind, Dialect.SQLSERVER)
        try:
            plan = replace(kind.plan(config, kind.script_state(config)), script_only=True)
        except Refused as error:
            raise InvalidInput.one(_field(error), None, str(error)) from error
        return marked(plan, kind_marks=kind.marks_destructive)


def require_support(kind: Kind[Any, Any], dialect: Dialect) -> None:
    """Refuse what a kind does not do there."""
    support, why = kind.support(dialect)
    if support is Support.REFUSED:
        raise InvalidInput.one("config.data_source", None, f"{kind.kind} is not done on {dialect.value}: {why}")


def _require_seen(config: Config, dialect: Dialect) -> None:
    """Refuse to be careful of what cannot be seen, rather than not to be."""
    if config.max_replica_lag_seconds is not None and dialect is not Dialect.POSTGRESQL:
        raise InvalidInput.one(
            "config.max_replica_lag_seconds",
            None,
            f"cannot be kept to on {dialect.value}, which does not tell how far its replicas are behind: leave it out",
        )


def require_met(plan: Plan, *, elsewhere: bool = False) -> None:
    """Refuse a plan whose preconditions are not all met, with each that is not.

    `elsewhere`: it is executed on another machine than this one, whose folders and programs do not count.
    """
    if plan.script_only:
        raise Conflict(f"{plan.kind} on {plan.dialect.value} is a script to read and run by hand: see its preview")
    unmet = [one for one in plan.unmet if not (elsewhere and one.side is Side.EXECUTOR)]
    if unmet:
        reasons = [f"{one.name}: {one.detail}" for one in unmet]
        raise PlanRefused("; ".join(reasons), reasons, plan_hash(plan))


def _shown(plan: Plan, blockers: Sequence[Blocker] = ()) -> Preview:
    costs = replace(impact(plan), blockers=tuple(blockers))
    return Preview(plan=plan, plan_hash=plan_hash(plan), impact=costs, script=script(plan))


def _field(error: OperationFailure) -> str:
    field = getattr(error, "field", "config")
    return field if field == "config" else f"config.{field}"


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(["config", *map(str, location)])


def _follows(error: Mapping[str, Any], wrong: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a list is too short only because what is in it is wrong."""
    here = error["loc"]
    return error["type"] == "too_short" and any(one["loc"][: len(here)] == here != one["loc"] for one in wrong)


def _message(kind: Kind[Any, Any], error: Mapping[str, Any]) -> str:
    """What is wrong, in words; an unknown key names those there are."""
    location = error["loc"]
    fields = _fields(kind.config, location[:-1])
    match error["type"]:
        case "missing":
            return f"is required for {kind.kind}"
        case "extra_forbidden":
            whose = kind.kind if len(location) == 1 else f"{location[0]} of {kind.kind}"
            known = [one.alias or name for name, one in fields.items()]
            return f"is not a field of {whose}; known are: {', '.join(known)}"
        case "tuple_type":
            return f"{shown(error['input'])} is no list: give one in brackets, also of one thing"
        case "string_pattern_mismatch":
            meant = next((one.description for name, one in fields.items() if (one.alias or name) == location[-1]), None)
            return f"{shown(error['input'])} has not the form that it should have" + (
                f": {' '.join(meant.split())}" if meant else ""
            )
    return str(error["msg"]).removeprefix("Value error, ")


def _fields(model: type[BaseModel], location: Sequence[int | str]) -> Mapping[str, FieldInfo]:
    """The fields at a place of a configuration, or of what a list there holds."""
    for name in location:
        inner = next((one for key, one in model.model_fields.items() if (one.alias or key) == name), None)
        model = (_model_in(inner.annotation) if inner is not None else None) or model
    return model.model_fields


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _model_in(each)) is not None), None)
