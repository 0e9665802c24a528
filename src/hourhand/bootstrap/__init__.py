"""Bootstrap: builds the parts of a process from Settings; the only room that knows all the rooms below the surfaces."""

from __future__ import annotations

from hourhand.bootstrap.opening import open_store, prepare_data_dir, require_current, store_revision, upgrade_store
from hourhand.bootstrap.tokens import (
    AdminToken,
    TokenOrigin,
    create_local_token,
    ensure_admin_token,
    hash_token,
    new_token,
)

__all__ = [
    "AdminToken",
    "TokenOrigin",
    "create_local_token",
    "ensure_admin_token",
    "hash_token",
    "new_token",
    "open_store",
    "prepare_data_dir",
    "require_current",
    "store_revision",
    "upgrade_store",
]
