"""Errors: everything that Hourhand refuses, by the name that programs use; `hourhand.model.errors` draws the tree."""

from __future__ import annotations

from hourhand.model.errors import (
    Conflict,
    DuplicateName,
    FieldError,
    Forbidden,
    Gone,
    HasDependents,
    HourhandError,
    IllegalEdge,
    InvalidInput,
    NotFound,
    SchemaTooNew,
    SchemaTooOld,
    StaleFence,
    StaleVersion,
    StoreError,
    StoreOwned,
    StoreUnavailable,
    Throttled,
    Unauthenticated,
)

__all__ = [
    "Conflict",
    "DuplicateName",
    "FieldError",
    "Forbidden",
    "Gone",
    "HasDependents",
    "HourhandError",
    "IllegalEdge",
    "InvalidInput",
    "NotFound",
    "SchemaTooNew",
    "SchemaTooOld",
    "StaleFence",
    "StaleVersion",
    "StoreError",
    "StoreOwned",
    "StoreUnavailable",
    "Throttled",
    "Unauthenticated",
]
