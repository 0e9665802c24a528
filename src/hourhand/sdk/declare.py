"""SDK: the tasks of an app, written to the store when an executor starts to serve it."""

from __future__ import annotations

import logging

from hourhand.contracts.store import Definitions
from hourhand.model.answers import Declared
from hourhand.sdk.app import App

logger = logging.getLogger("hourhand")


async def declare(app: App, store: Definitions) -> Declared:
    """Declare the app's tasks, and tell what came of it."""
    declared = await store.declare(app.declarations(), app=app.name, release=app.release)
    for done, names in (("created", declared.created), ("changed", declared.changed)):
        if names:
            logger.info("app %s: %s %s", app.name, done, ", ".join(names))
    for name, reason in declared.kept:
        logger.warning("app %s: the task %r is not as declared: %s", app.name, name, reason)
    return declared
