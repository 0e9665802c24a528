"""Passwords: which ones are taken, how they are hashed, and bodies that hold one without ever telling it."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from typing import TYPE_CHECKING, Annotated, Any, Self

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from pydantic import (
    AfterValidator,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from starlette.requests import Request

from hourhand.api.inputs import Input
from hourhand.api.wording import field_error
from hourhand.model.errors import FieldError, InvalidInput

if TYPE_CHECKING:
    from hourhand.model.access import Credential

SHORTEST, LONGEST = 12, 1_000
AT_ONCE = 2
_HIDDEN = "***"
# Of those that people choose most, the ones that are long enough to be taken otherwise.
_COMMONEST = frozenset(
    """
    123456789012 1234567890123 1234567890ab 111111111111 000000000000 123123123123 1q2w3e4r5t6y 1qaz2wsx3edc
    qwertyuiop12 qwertyuiop123 qwertyuiopasdfgh qwerty123456 qwerty1234567 asdfghjkl123 zaq12wsxcde3 abcdefghijkl
    abcdefghijklm abcd1234abcd abc123abc123 password1234 password12345 password123456 passwordpassword mypassword123
    passw0rd1234 p@ssw0rd1234 p@ssword1234 changeme1234 changemechangeme letmeinletmein letmein12345 welcome12345
    welcome123456 administrator administrator1 admin1234567 adminadminadmin adminadmin123 iloveyou1234
    iloveyouiloveyou correcthorsebatterystaple hourhandhourhand hourhand1234
    """.split()  # noqa: SIM905 - a list of fifty lines says no more
)


class Passwords:
    """Argon2id, in threads, and few at a time: each takes memory and a core, and anybody may ask for one."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self.turn = asyncio.Semaphore(AT_ONCE)
        """Held around whatever hashes."""
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        """Return what is kept of a password."""
        async with self.turn:
            return await asyncio.to_thread(self._hasher.hash, _normal(password))

    async def is_right(self, credential: Credential | None, password: str) -> bool:
        """Tell whether it is the password of the credential; to be asked while holding `turn`.

        Without one it takes as long and is wrong: how long an answer takes does not tell who has an account.
        """
        if credential is None:
            if self._nobody is None:
                self._nobody = await asyncio.to_thread(self._hasher.hash, secrets.token_urlsafe())
            await asyncio.to_thread(self._verify, self._nobody, password)
            return False
        return await asyncio.to_thread(self._verify, credential.password_hash, password)

    async def renewed(self, credential: Credential, password: str) -> str | None:
        """Return a hash of today's strength, when the one that is kept is of another."""
        if not self._hasher.check_needs_rehash(credential.password_hash):
            return None
        return await self.hash(password)

    def _verify(self, kept: str, password: str) -> bool:
        try:
            return self._hasher.verify(kept, _normal(password))
        except (VerificationError, InvalidHashError):
            return False


async def the_passwords(request: Request) -> Passwords:
    """Return the application's own."""
    passwords: Passwords = request.app.state.passwords
    return passwords


def refuse_weak(password: str, name: str, *, field: str = "password") -> None:
    """Refuse a password that would be guessed; there are no rules of what characters it is made of."""
    wrong = None
    if len(password) < SHORTEST:
        wrong = f"it has {len(password)} characters: give at least {SHORTEST}"
    elif len(password) > LONGEST:
        wrong = f"it has {len(password)} characters: give at most {LONGEST}"
    elif password.casefold() == name.casefold():
        wrong = "it is the user's name: choose another"
    elif password.casefold() in _COMMONEST or len(set(password)) == 1:
        wrong = "it is one of the commonest: choose one that nobody would guess"
    if wrong is not None:
        raise InvalidInput.one(field, _HIDDEN, wrong)


def _normal(password: str) -> bytes:
    """Return the same bytes for what looks the same, whatever keyboard it was typed on."""
    return unicodedata.normalize("NFC", password).encode()


class Confidential(Input):
    """The parent of bodies that hold a secret: what is refused about one is told without any of its values.

    A model validator of a child would be around this one, and tell everything: let the route check instead.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _without_values(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401 - a body
        try:
            return handler(value)
        except ValidationError as error:
            found = (field_error({**each, "loc": ("body", *each["loc"]), "input": _HIDDEN}) for each in error.errors())
            raise InvalidInput(FieldError(each["field"], _HIDDEN, each["message"]) for each in found) from None


def _encodable(value: SecretStr) -> SecretStr:
    try:
        value.get_secret_value().encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair: remove it") from None
    return value


Secret = Annotated[
    SecretStr,
    AfterValidator(_encodable),
    WithJsonSchema({"type": "string", "format": "password", "writeOnly": True}),
]
