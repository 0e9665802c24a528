"""Rules: what is wrong with the server, as seen from here; and with clocks."""

from __future__ import annotations

from collections.abc import Iterator

from hourhand.model.checkup import ReadyCheck, Seen
from hourhand.model.diagnosis import Finding
from hourhand.rules.doctor_words import fine, length, problem, warning

SKEW_NOTED, SKEW_WRONG = 1.0, 5.0
_READY = {
    "store": "The server runs, and its store does not answer it. Nothing is accepted or executed until it does.",
    "scheduler": "No task fires until a scheduler runs; what is submitted by hand is still executed.",
    "partitions": "Without a partition for the day nothing that ends on it can be kept.",
}
_STARTED = {
    "store": "look into the log of the server, and at the findings about the store below",
    "scheduler": "hourhand scheduler",
    "partitions": "look into the logs of the processes: each tries every hour, and says why it cannot",
}


def reachable(seen: Seen) -> Iterator[Finding]:
    """Whether anybody answers."""
    server, store = seen.server, seen.store
    if server is None:
        return
    if server.error is None:
        yield fine("server.reachable", f"a server answers at {server.url}")
        return
    if store is not None and store.sqlite and not server.named and store.file is None:
        yield warning(
            "server.reachable",
            "nothing here yet: `hourhand serve` starts one",
            f"No server answers at {server.url}, and there is no store at {store.shown}. If you expected both, you "
            "may be in another folder than usual: the data folder is looked for in the current one.",
            "hourhand serve",
        )
    elif store is not None and store.owner is not None:
        yield problem(
            "server.reachable",
            f"{store.owner} owns the store, and does not answer at {server.url}",
            f"{server.error}. The process may hang, or it listens elsewhere than this folder's settings say.",
            "look into its log; if it hangs, stop it and start `hourhand serve` again",
        )
    elif store is not None and not store.sqlite and not server.named:
        yield warning(
            "server.reachable",
            f"no server answers at {server.url}",
            "The store was looked at directly. Commands such as `hourhand task list` need a server.",
            "set HOURHAND_URL to where one runs, or start one: hourhand api",
        )
    else:
        yield problem(
            "server.reachable",
            f"no server answers at {server.url}",
            f"{server.error}. Nothing is scheduled or executed by a server that does not run.",
            "hourhand serve" if not server.named else "start the server there, or correct HOURHAND_URL",
        )


def versions(seen: Seen) -> Iterator[Finding]:
    """Whether everybody runs the same release."""
    server, examined = seen.server, seen.examined
    if server is not None and server.version is not None:
        if server.version == seen.version:
            yield fine("server.version", f"the server and this command are both {seen.version}")
        else:
            yield warning(
                "server.version",
                f"the server is {server.version}, and this command is {seen.version}",
                "Most commands work across releases; some answers may lack what this one expects.",
                f"pip install hourhand=={server.version}",
            )
    mine = seen.version if server is None or server.version is None else server.version
    others = sorted({one.version for one in examined.executors if one.version != mine}) if examined else []
    if others:
        yield warning(
            "executors.version",
            f"there are executors of release {', '.join(others)} beside {mine}",
            "That is as it should be while a cluster is upgraded, and not for long.",
            "hourhand executors --json",
        )


def token(seen: Seen) -> Iterator[Finding]:
    """Whether the server knows who is asking, and may tell."""
    server = seen.server
    if server is None or server.error is not None:
        return
    if server.token_error is not None:
        yield problem(
            "server.token",
            server.token_error,
            "The server runs, and does not let this command in.",
            "set HOURHAND_TOKEN, or HOURHAND_DATA_DIR to the data folder of that server; a lost admin token is "
            "replaced by: hourhand token create --local",
        )
        return
    within = ", limited to groups" if server.limited else ""
    yield fine("server.token", f"the token is {server.name!r}, with the role {server.role}{within}")
    if server.diagnosis_error is not None:
        yield warning(
            "server.diagnosis",
            f"the server does not tell this token how it is: {server.diagnosis_error}",
            "What only the server knows was not looked at: its executors, schedulers, alerts and audit.",
            "HOURHAND_TOKEN=… hourhand doctor   (with the token of an operator or an admin of all groups)",
        )


def ready(seen: Seen) -> Iterator[Finding]:
    """What `/readyz` says, in words."""
    checks = () if seen.server is None else seen.server.ready
    for one in checks:
        yield from _ready(one)


def _ready(one: ReadyCheck) -> Iterator[Finding]:
    if one.ok:
        yield fine("server.ready", f"{one.name}: {one.detail}")
    else:
        yield problem("server.ready", f"{one.name}: {one.detail}", _READY.get(one.name, ""), _STARTED.get(one.name, ""))


def exposure(seen: Seen) -> Iterator[Finding]:
    """Whether others reach the server, and what they could read on the way."""
    told = seen.told
    if told is None:
        return
    process = told.process
    if process.loopback:
        yield fine("server.exposure", "only the machine it runs on reaches the server")
    elif process.proxies:
        yield fine("server.exposure", "other machines reach the server, and it expects a proxy in front of it")
    else:
        yield warning(
            "server.exposure",
            "other machines reach the server, and no proxy with TLS is known in front of it",
            "Tokens and passwords go over the network in plain text.",
            "serve on loopback behind a proxy with TLS, and name that in HOURHAND_TRUSTED_PROXIES",
        )
    if process.root:
        yield warning(
            "server.root",
            "the server runs as root",
            "So does every command task that its executor starts.",
            "run it as a user of its own, or set HOURHAND_COMMAND_USER for the commands",
        )


def clocks(seen: Seen) -> Iterator[Finding]:
    """Whether this machine, the server and the store agree on the time."""
    if seen.server is not None and seen.server.skew_seconds is not None:
        yield _skew("clock.server", "the server's machine", seen.server.skew_seconds, _SERVER)
    store = seen.store
    if store is not None and not store.sqlite and store.skew_seconds is not None:
        yield _skew("clock.store", "the store", store.skew_seconds, _STORE)


_SERVER = (
    "It affects the times in instance logs, and what commands here call `ago`. What fires when, and which lease has "
    "run out, is decided by the store's clock alone."
)
_STORE = (
    "What fires when is decided by the store's clock: if that one is wrong, tasks fire early or late by as much. "
    "If this machine's is wrong, only what is shown here is. Leases and timeouts are right either way."
)


def _skew(check: str, whose: str, seconds: float, means: str) -> Finding:
    off = abs(seconds)
    if off <= SKEW_NOTED:
        return fine(check, f"{whose} and this machine agree on the time, to within {max(off, 0.05):.1f} s")
    way = "ahead of" if seconds > 0 else "behind"
    say = problem if off > SKEW_WRONG else warning
    return say(check, f"the clock of {whose} is {length(off)} {way} this machine's", means, "timedatectl set-ntp true")
