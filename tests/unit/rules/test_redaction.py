from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.rules.redaction import CHANGED, MASK, redacted, redacted_text, without_password
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


CANARY = "swordfish"


@pytest.mark.parametrize(
    "value",
    [
        {"password": CANARY},
        {"db_password": CANARY},
        {"dbPassword": [CANARY, {"x": CANARY}]},
        {"API-Key": CANARY},
        {"api_key": CANARY},
        {"client.secret": CANARY},
        {"auth": ["me", CANARY]},
        {"a": [{"b": {"accessToken": {"value": CANARY}}}]},
        {"credentials": {"user": "me", "words": CANARY}},
        {"env": {"HARMLESS": CANARY}},
        {"payload": {"command": ["x"], "env": {"A": f"{CANARY}1", "B": CANARY}}},
        {"headers": {"Authorization": f"Bearer {CANARY}", "Cookie": CANARY, "X-Anything": CANARY}},
        {"headers": {"Content-Type": f"text/plain; token={CANARY}"}},
        {"url": f"https://me:{CANARY}@example.com/"},
        {"url": f"https://{CANARY}@example.com/me"},
        {"url": f"http://127.0.0.1:80/?x=a@b,https://me:{CANARY}@example.com"},
        {"url": f"postgresql://me@example.com:{CANARY}@db/x"},
        {"url": f"mysql://me:{CANARY}/@{CANARY}@db/x"},
        {"url": f"https://example.com/?q=1&api_key={CANARY}&x=2"},
        {"url": f"https://example.com/?sig={CANARY}#top"},
        {"command": f"PGPASSWORD={CANARY} psql"},
        {"command": f"export MY_TOKEN='{CANARY} {CANARY}'; run"},
        {"command": f"curl -H 'Authorization: Basic {CANARY}' http://x/"},
        {"command": f'curl -H "X-Api-Key: {CANARY}" http://x/'},
        {"command": f"mysql --password {CANARY} -e 'select 1'"},
        {"command": f"mysql --password={CANARY}"},
        {"command": ["mysql", "--password", CANARY]},
        {"command": ["x", "-token", CANARY]},
        {"command": ["x", f"--secret-key={CANARY}"]},
        {"command": ["curl", "-H", f"Authorization: Bearer {CANARY}"]},
        {"body": f'{{"user": "me", "password": "{CANARY}"}}'},
        {"body": f'{{"password": "a\\"{CANARY}"}}'},
        {"body": f'"{{\\"password\\": \\"{CANARY}\\"}}"'},
        {"body": f'password="{CANARY} without an end'},
        {"body": f"user=me&password={CANARY}&x=1"},
        {"stdin": f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----\n"},
        {"stdin": f"-----BEGIN PRIVATE KEY-----\n{CANARY}"},
        {"note": f"he said bearer {CANARY}"},
        {"note": f"hh_{CANARY}{CANARY}{CANARY}"},
        [f"token: {CANARY}"],
        f"the token={CANARY}",
        (f"secret = {CANARY}",),
    ],
)
def test_a_secret_is_masked_wherever_it_is(value: object) -> None:
    shown = redacted(value)
    assert CANARY not in repr(shown)
    assert MASK in repr(shown)
    assert redacted(shown) == shown  # what is masked stays as it is


@pytest.mark.parametrize(
    "value",
    [
        {"name": "nightly", "concurrency_key": "day-${day}", "key": "a", "tags": ["x"], "declared_hash": "1:ab"},
        {"password": None, "token": "", "secret": {}, "use_token": True, "tokens": []},
        {"token_id": 3, "max_token_count": 1.5},
        {"env": "production", "headers": ["x"]},
        {"headers": {"Content-Type": "application/json", "accept": "*/*"}},
        {"url": "https://example.com:8080/a?b=c@d", "other": "http://[::1]:80/?x=a@b"},
        {"url": "https://example.com/a:b@c", "store": "postgresql://me@db/x"},
        {"command": ["run", "--verbose", "-x", "1"], "cwd": "/srv"},
        {"command": ["run", "--token", "--verbose"], "n": [1, 2.5, None, True]},
        "wrong values: payload.password",
        7,
        None,
    ],
)
def test_what_is_no_secret_is_shown_as_it_is(value: object) -> None:
    assert redacted(value) == value


def test_a_mask_tells_that_what_is_behind_it_has_changed_but_not_how() -> None:
    before = {
        "env": {"A": "one", "B": "two", "gone": "x"},
        "url": "https://me:one@h/",
        "json": [{"password": "one"}, {"password": "two"}],
        "command": ["x", "--token", "one"],
    }
    after = {
        "env": {"A": "other", "B": "two", "new": "x"},
        "url": "https://me:other@h/",
        "json": [{"password": "other"}, {"password": "two"}, {"password": "three"}],
        "command": ["x", "--token", "other"],
    }
    assert redacted(after, before) == {
        "env": {"A": CHANGED, "B": MASK, "new": MASK},
        "url": f"https://me:{CHANGED}@h/",
        "json": [{"password": CHANGED}, {"password": MASK}, {"password": MASK}],
        "command": ["x", "--token", CHANGED],
    }
    assert redacted(before, before) == redacted(before)
    assert redacted({"url": "https://you:other@h/"}, before) == {"url": "https://you:***@h/"}  # seen anyway


@given(st.text(max_size=200), st.text(alphabet="abc%/:@.-_", max_size=20))
@examples(300)
def test_whatever_stands_before_a_secret_it_is_masked(text: str, noise: str) -> None:
    assert CANARY not in redacted_text(f"{text}\n password={noise}{CANARY}{noise}")
    assert CANARY not in redacted_text(f"{text} https://me:{noise}{CANARY}{noise}@example.com/ {text}")


@pytest.mark.parametrize(
    "part", ["://a:", "token", "-", "a.", "--a-token ", 'password="', "-----BEGIN PRIVATE KEY-----"]
)
def test_a_hostile_text_does_not_take_long(part: str) -> None:
    text = part * (256 * 1024 // len(part))
    begin = time.process_time()
    redacted_text(text)
    assert time.process_time() - begin < 20
