"""Settings: what an operator may choose, read from flags, the environment and `hourhand.toml`, in that order.

`load_settings` is the way in: it turns every refusal into one InvalidInput that names the setting as the
operator wrote it (`--port`, `HOURHAND_PORT`, `port in hourhand.toml`), the value, and what would be right.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from hourhand.model.errors import FieldError, InvalidInput
from hourhand.rules.redaction import without_password

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

CONFIG_FILE = "hourhand.toml"
ENV_PREFIX = "HOURHAND_"
STORE_FORMS = "sqlite:///relative/file.db, sqlite:////absolute/file.db or postgresql://user:password@host:port/database"

Network = IPv4Network | IPv6Network


class Settings(BaseSettings):
    """Everything that can be chosen, with its default."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    data_dir: Path = Path("hourhand-data")
    """The folder of what belongs to this installation: the SQLite file, the admin token, the key of secrets."""
    store: str = ""
    """Where everything is kept: `sqlite:///file.db`, or `postgresql://user:password@host:port/database`. By default
    `hourhand.db` in the data folder.
    """
    host: str = "127.0.0.1"
    """The address that the API, and the port of metrics, listen on."""
    port: int = Field(default=8420, ge=0, le=65535)
    """The port of the API; 0 picks a free one."""
    allow_remote: bool = False
    """Let `host` be an address that other machines can reach."""
    metrics_port: int | None = Field(default=None, ge=1, le=65535)
    """A further port for `/metrics`, `/healthz` and `/readyz`, without a token; also of processes without an API."""
    trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = ()
    """Reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."""
    max_streams: int = Field(default=1_000, ge=0)
    """How many event streams may be open in each process."""
    group: str = Field(default="default", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    """The group that an executor serves; with an app, the app's."""
    concurrency: int = Field(default=32, ge=1, le=10_000)
    """How many instances an executor runs at once."""
    heartbeat_seconds: float = Field(default=5, ge=0.1, le=3600, allow_inf_nan=False)
    """How often an executor shows that it is alive; the same for the whole cluster."""
    lease_seconds: float = Field(default=15, ge=0.3, le=86_400, allow_inf_nan=False)
    """How long an executor may be silent before its work is given to others; more than two heartbeats, and the same for
    the whole cluster.
    """
    retention_days: int = Field(default=30, ge=1, le=36_500)
    """How long execution logs, and what belongs to them, are kept."""
    audit_retention_days: int = Field(default=400, ge=1, le=36_500)
    """How long entries of the audit are kept."""
    url: str = Field(default="http://127.0.0.1:8420", pattern=r"^https?://[^\s/]+")
    """The server that the command line and `Client` speak to. By default the one of this machine."""
    token: SecretStr | None = None
    """The token that they show. By default the admin token in the data folder, to this machine only."""
    secret_key: SecretStr | None = None
    """What stored secrets are sealed with: 32 random bytes in base64, the same for the whole cluster. On SQLite it is
    made at first use; on PostgreSQL it is needed once secrets are stored.
    """
    secret_key_file: Path | None = None
    """A file that holds `secret_key`, in place of it."""
    http_allow: Annotated[tuple[Network, ...], NoDecode] = ()
    """Networks that http tasks and webhooks may reach beside global addresses; and beside loopback, in a process whose
    API is bound to it.
    """
    labels: Annotated[dict[str, str], NoDecode] = Field(default_factory=dict)
    """What is special about an executor, for tasks that ask for it by `executor_labels`."""
    grace_seconds: float = Field(default=10, ge=0, le=3600, allow_inf_nan=False)
    """How long what is to be stopped may take to end by itself."""
    command_shell: bool = True
    """Whether command tasks may give a text to a shell."""
    command_allow: Annotated[tuple[str, ...], NoDecode] = ()
    """The only programs that command tasks may run, by name or path. By default any."""
    command_user: str | None = None
    """The user that commands run as; the executor must be root, or that user. By default the executor's own."""
    command_memory_mb: int | None = Field(default=None, ge=16)
    """How much address space each process of a command may have, in MB. By default any."""
    command_processes: int | None = Field(default=None, ge=1)
    """How many processes and threads the user of commands may have. By default any number."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  # the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read flags and the environment only; `load_settings` lays them over the file."""
        return init_settings, env_settings

    @field_validator("http_allow", "trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",") if part.strip()]
        try:
            return tuple(ip_network(part) for part in parts)
        except ValueError as error:
            raise _refusal(f"{error}: use networks with commas between them, such as 10.1.0.0/16,fd00::/8") from None

    @field_validator("command_allow", mode="before")
    @classmethod
    def _programs(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("labels", mode="before")
    @classmethod
    def _labels(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        if any(not name.strip() or not equals for name, equals, _ in pairs):
            raise _refusal("is not a list of labels: write name=value with commas between, such as zone=eu,gpu=yes")
        return {name.strip(): label.strip() for name, _, label in pairs}

    @field_validator("data_dir", "secret_key_file", mode="after")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value and value.expanduser().absolute()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.store:
            object.__setattr__(self, "store", f"sqlite:///{self.data_dir}/hourhand.db")
        elif not re.match(r"^(sqlite:///.|postgresql://.)", self.store):
            raise _refusal(
                f"{without_password(self.store)!r} is not a store this program knows: use {STORE_FORMS}", "store"
            )
        if self.lease_seconds <= 2 * self.heartbeat_seconds:
            raise _refusal(
                f"{self.lease_seconds:g} is too short for a heartbeat of {self.heartbeat_seconds:g} s: one late beat "
                f"would lose the lease; use more than {2 * self.heartbeat_seconds:g}, or a shorter heartbeat_seconds",
                "lease_seconds",
            )
        if self.secret_key is not None and self.secret_key_file is not None:
            raise _refusal("is set together with secret_key: set one of the two", "secret_key_file")
        if not self.allow_remote and not is_loopback(self.host):
            raise _refusal(
                f"{self.host!r} can be reached from other machines: use 127.0.0.1 or ::1, "
                "or allow it with --allow-remote (HOURHAND_ALLOW_REMOTE=true)",
                "host",
            )
        return self

    @property
    def on_sqlite(self) -> bool:
        """Whether the store is the embedded one."""
        return self.store.startswith("sqlite:")

    @property
    def in_data_dir(self) -> bool:
        """Whether the store is a file in the data folder."""
        return self.store.startswith(f"sqlite:///{self.data_dir}/")

    @property
    def shown_store(self) -> str:
        """The store's URL, fit to be shown: without its password."""
        return without_password(self.store)

    @property
    def admin_token_file(self) -> Path:
        """Where the admin token is kept."""
        return self.data_dir / "admin-token"

    @property
    def secret_key_path(self) -> Path:
        """Where the key of secrets is kept that an SQLite store gets of itself."""
        return self.data_dir / "secret-key"


def load_settings(**flags: object) -> Settings:
    """Read the settings: flags that are not None, over the environment, over `hourhand.toml`, over the defaults."""
    given = {name: value for name, value in flags.items() if value is not None}
    from_file = _read_file(Path(CONFIG_FILE))
    below = {name: value for name, value in from_file.items() if not os.environ.get(f"{ENV_PREFIX}{name.upper()}")}
    try:
        return Settings(**(below | given))  # type: ignore[arg-type]  # pydantic checks what mypy cannot
    except ValidationError as error:
        raise InvalidInput(_field_errors(error, given, from_file)) from None


def source_of(setting: str) -> str:
    """What gives a setting that no flag has given: its variable, or the file."""
    variable = f"{ENV_PREFIX}{setting.upper()}"
    return variable if os.environ.get(variable) else f"{setting} in {CONFIG_FILE}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _read_file(path: Path) -> dict[str, object]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput.one(CONFIG_FILE, str(path.absolute()), f"cannot be read: {error}") from None
    unknown = [name for name in found if name not in Settings.model_fields]
    if unknown:
        known = ", ".join(sorted(Settings.model_fields))
        raise InvalidInput(
            FieldError(f"{name} in {CONFIG_FILE}", found[name], f"is not a setting; the settings are: {known}")
            for name in unknown
        )
    return found


def _refusal(message: str, setting: str = "") -> PydanticCustomError:
    return PydanticCustomError("refused", "{message}", {"message": message, "setting": setting})


def _field_errors(error: ValidationError, flags: dict[str, object], from_file: dict[str, object]) -> list[FieldError]:
    return [_field_error(detail, flags, from_file) for detail in error.errors(include_url=False)]


def _field_error(detail: ErrorDetails, flags: dict[str, object], from_file: dict[str, object]) -> FieldError:
    context = detail.get("ctx", {})
    setting = str(context.get("setting") or (detail["loc"][0] if detail["loc"] else ""))
    variable = f"{ENV_PREFIX}{setting.upper()}"
    if setting in flags:
        name, value = f"--{setting.replace('_', '-')}", flags[setting]
    elif os.environ.get(variable):
        name, value = variable, os.environ[variable]
    elif setting in from_file:
        name, value = f"{setting} in {CONFIG_FILE}", from_file[setting]
    else:
        name, value = setting, None
    if setting in ("token", "secret_key"):
        value = "***"  # neither a refusal nor a log may carry a secret
    elif isinstance(value, str):
        value = without_password(value)
    if detail["type"] == "refused":
        return FieldError(name, value, detail["msg"])
    return FieldError(name, value, f"{value!r} is refused: {_reason(detail, setting, value)}")


def _reason(detail: ErrorDetails, setting: str, value: object) -> str:
    """Why, in our words, and what would be right."""
    kind, context = detail["type"], detail.get("ctx", {})
    if setting == "port" and str(value).startswith("tcp://"):
        return "Kubernetes sets it so for a service named hourhand (enableServiceLinks: false, or give --port)"
    if kind in _FORMS:
        default = Settings.model_fields[setting].default
        return _FORMS[kind] + ("" if default in (None, "", True, False) else f", such as {default:g}")
    if kind == "string_pattern_mismatch":
        return _PATTERNS[setting]
    bounds = {"greater_than_equal": "at least", "less_than_equal": "at most"}
    if kind in bounds:
        (bound,) = context.values()
        return f"give {bounds[kind]} {bound:g}"
    return detail["msg"][:1].lower() + detail["msg"][1:]


_FORMS = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "it is not a whole number; give one"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "it is not a number; give one"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "it is neither true nor false; give one of them"),
}
_PATTERNS = {
    "url": "it is no address of a server; give one such as http://127.0.0.1:8420",
    "group": "a group's name is up to 100 letters, digits, dots, dashes and underscores, and begins with one of the "
    "first two",
}


def misspelt_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of ours that are no setting but nearly one, and that one; others may be anybody's."""
    known = [name.upper() for name in Settings.model_fields]
    found = {}
    for variable in environment:
        name = variable.upper().removeprefix(ENV_PREFIX)
        if not variable.startswith(ENV_PREFIX) or name in known or name.startswith(_OTHERS):
            continue
        if close := difflib.get_close_matches(name, known, n=1, cutoff=0.75):
            found[variable] = f"{ENV_PREFIX}{close[0]}"
    return found


_OTHERS = ("DEBUG", "SERVICE_")
"""The command's own, which must hold before any setting can be read, and what Kubernetes sets for a service."""
