"""Rules: `hourhand doctor`: what is wrong with a set-up, in words; each check is one function over what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hourhand.model.checkup import Seen
from hourhand.model.diagnosis import Finding
from hourhand.rules import doctor_engine, doctor_machine, doctor_server, doctor_settings, doctor_store
from hourhand.rules.doctor_words import warning

Check = Callable[[Seen], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    doctor_settings.refused,
    doctor_settings.sources,
    doctor_settings.unknown,
    doctor_settings.ignored,
    doctor_settings.kept_secret,
    doctor_server.reachable,
    doctor_server.versions,
    doctor_server.token,
    doctor_server.ready,
    doctor_server.exposure,
    doctor_store.reach,
    doctor_store.schema,
    doctor_store.database_version,
    doctor_store.durability,
    doctor_store.privileges,
    doctor_store.sessions,
    doctor_store.vacuum,
    doctor_store.file,
    doctor_store.damage,
    doctor_store.disk,
    doctor_engine.partitions,
    doctor_engine.retention,
    doctor_engine.schedulers,
    doctor_engine.executors,
    doctor_engine.demands,
    doctor_engine.backlog,
    doctor_engine.rests,
    doctor_engine.alerts,
    doctor_engine.audit,
    doctor_engine.secrets,
    doctor_server.clocks,
    doctor_machine.zones,
    doctor_machine.synchronised,
    doctor_store.folder,
    doctor_machine.tools,
    doctor_machine.backup_tools,
    doctor_machine.python,
    doctor_machine.account,
    doctor_machine.limits,
    doctor_machine.room,
)
"""In the order in which they are told."""

AREAS: Mapping[str, str] = {
    "settings": "Settings",
    "server": "Server",
    "store": "Store",
    "logs": "Execution logs",
    "schedulers": "Schedulers",
    "executors": "Executors",
    "engine": "Pauses",
    "alerts": "Alerts",
    "audit": "Audit",
    "secrets": "Secrets",
    "clock": "Clocks",
    "files": "Files",
    "tools": "Programs",
    "machine": "This machine",
}
"""What the first word of a check's name stands for."""


def examine(seen: Seen) -> list[Finding]:
    """Judge all that was seen, area by area."""
    found = [finding for check in CHECKS for finding in check(seen)]
    found += [
        warning(f"{area}.unread", f"this could not be looked at: {why}", "The checks that need it were left out.")
        for area, why in seen.unread
    ]
    order = list(AREAS)
    return sorted(found, key=lambda one: order.index(one.check.partition(".")[0]))
