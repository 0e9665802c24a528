"""Rules: what is wrong with the settings."""

from __future__ import annotations

from collections.abc import Iterator

from hourhand.model.checkup import Seen
from hourhand.model.diagnosis import Finding
from hourhand.rules.doctor_words import fine, plural, problem, warning


def refused(seen: Seen) -> Iterator[Finding]:
    """Whether the settings can be used at all."""
    for wrong in seen.settings.refused:
        yield problem(
            "settings.refused",
            wrong,
            "With such a setting no command starts; nothing else could be looked at but this machine.",
            "correct the setting that is named, then: hourhand doctor",
        )


def sources(seen: Seen) -> Iterator[Finding]:
    """Which settings are not the defaults, and where each comes from."""
    given = seen.settings.given
    if not given:
        yield fine("settings.sources", "all settings are the defaults")
        return
    lines = [f"{one.name} = {one.shown}  ({one.source}{f', over {one.over}' if one.over else ''})" for one in given]
    yield fine("settings.sources", f"{plural(len(given), 'setting')} chosen: {'; '.join(lines)}")


def unknown(seen: Seen) -> Iterator[Finding]:
    """Variables that look like settings and are none."""
    for variable, meant in seen.settings.unknown:
        right = f"did you mean {meant}?" if meant else "no setting has such a name."
        yield warning(
            "settings.unknown",
            f"{variable} is no setting: {right}",
            "It is set in the environment and has no effect.",
            f"unset {variable}" if meant is None else f'export {meant}="${variable}"; unset {variable}',
        )


def ignored(seen: Seen) -> Iterator[Finding]:
    """Settings that have no effect beside others."""
    for words in seen.settings.ignored:
        yield warning("settings.conflict", words, "", "leave one of the two out")


def kept_secret(seen: Seen) -> Iterator[Finding]:
    """Whether what is secret among them stays so."""
    if seen.settings.open_file is not None:
        yield warning(
            "settings.secrets",
            f"{seen.settings.open_file} holds secrets, and others on this machine can read it",
            "A token, a key or the store's password stands in it.",
            f"chmod 600 {seen.settings.open_file}",
        )
    if seen.settings.plain_token:
        yield warning(
            "settings.secrets",
            "the token goes over the network in plain text: the URL is http:// and another machine's",
            "Whoever can listen on the way can use it.",
            "put TLS in front of the server, and set HOURHAND_URL to its https:// address",
        )
