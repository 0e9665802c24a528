"""Fingerprints: what differs from one time to the next is left out, names stay."""

from __future__ import annotations

import pytest

from hourhand.rules.fingerprint import LONGEST, NO_MESSAGE, fingerprint


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (None, NO_MESSAGE),
        ("", NO_MESSAGE),
        ("exit code 3", "exit code 3"),
        ("timed out after 12.5 s", "timed out after 12.5 s"),
        ("order 3f2a9c04-1b2c-4d5e-8f90-a1b2c3d4e5f6 is gone", "order # is gone"),
        ("at 0xDEADbeef and 0X1", "at # and #"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit #"),
        ("no handler named 'report'", "no handler named 'report'"),
        ("no handler named 'report2' in \"app 7\"", "no handler named 'report2' in \"app 7\""),
        ("a cafe added a feed", "a cafe added a feed"),
        ("one\n  two\t\tthree", "one two three"),
        ("任务 42 失败", "任务 42 失败"),
        ("order 1234 of 999", "order # of 999"),
        ("٣ stays", "٣ stays"),
    ],
)
def test_messages_and_their_fingerprints(message: str | None, expected: str) -> None:
    assert fingerprint(message) == expected
    assert fingerprint(expected) == expected, "what has been made one stays as it is"


def test_it_is_short_whatever_the_message() -> None:
    assert fingerprint("x" * 10_000) == "x" * LONGEST
    assert fingerprint("7" * 10_000) == "#"
    assert fingerprint("1234 " * 10_000 + "never read") == ("# " * 100)[:LONGEST]
