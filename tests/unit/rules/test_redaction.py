from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.rules.redaction import without_password
from unit.rules.cron_oracle import examples


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db/hourhand", "postgresql://me:***@db/hourhand"),
        ("postgresql+psycopg://me:secret@db/x", "postgresql+psycopg://me:***@db/x"),
        ("postgresql://me:se@cr/et:x@db:5432/x", "postgresql://me:***@db:5432/x"),
        ("postgresql:/me:secret@db/x", "postgresql:/me:***@db/x"),
        ("me:secret@db/x", "me:***@db/x"),
        ("postgresql://me@db:5432/x?password=a&sslmode=b", "postgresql://me@db:5432/x?password=***&sslmode=b"),
        ("postgresql://me@db/x?password=se@cret", "postgresql://me@db/x?password=***"),
        ("postgresql://me@db:5432/x", "postgresql://me@db:5432/x"),
        ("postgresql://db:5432/x", "postgresql://db:5432/x"),
        ("sqlite:////var/lib/hourhand.db", "sqlite:////var/lib/hourhand.db"),
        ("sqlite:////a/b@c.db", "sqlite:////a/b@c.db"),
        ("", ""),
    ],
)
def test_a_password_is_never_shown_and_the_rest_is(url: str, shown: str) -> None:
    assert without_password(url) == shown


@given(st.sampled_from(["postgresql://", "postgresql+asyncpg://", "postgresql:/", ""]), st.text(max_size=20))
@examples(200)
def test_whatever_the_password_holds_it_is_not_shown(scheme: str, noise: str) -> None:
    assert "swordfish" not in without_password(f"{scheme}me:{noise}swordfish{noise}@127.0.0.1:5432/db")
