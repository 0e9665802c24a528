"""Rules: the fingerprint of a failure: its message without what differs from one time to the next.

PostgreSQL computes it itself, from the same patterns (`store/stats_sql.py`), so these use only what it and Python
understand alike: ASCII classes, greedy, and of the alternatives that match at a place the first is the longest.
"""

from __future__ import annotations

import re

READ = 500
"""Characters of a message that are looked at."""
LONGEST = 120
NO_MESSAGE = "no message"
OTHER = "other"
"""What is rarer than those that are kept apart."""

VARYING = (
    "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    "|0[xX][0-9a-fA-F]+"
    "|[0-9a-fA-F]{8,}"
    "|[0-9]{4,}"
)
"""UUIDs, hexadecimal numbers, long runs of hexadecimal digits, numbers of four digits and more.

Smaller numbers tell reasons apart (`exit code 137`, `status 503`); names, quoted or not, stay too."""
BLANK = "[ \t\r\n]+"
_VARYING = re.compile(VARYING)
_BLANK = re.compile(BLANK)


def fingerprint(message: str | None) -> str:
    """What failures of the same reason have in common."""
    if not message:
        return NO_MESSAGE
    return _BLANK.sub(" ", _VARYING.sub("#", message[:READ]))[:LONGEST]
