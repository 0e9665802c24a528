"""docs/reference/settings.md: what an operator may choose, read off `hourhand.settings`."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from hourhand.settings import CONFIG_FILE, ENV_PREFIX, Settings
from reference.markdown import code, page, prose, table, value
from reference.schemas import words

INTRODUCTION = f"""
Flags go over the environment, the environment over {code(CONFIG_FILE)} in the current folder, and that over the
defaults. A setting has one name: {code("lease_seconds")} in {code(CONFIG_FILE)} is
{code(f"{ENV_PREFIX}LEASE_SECONDS")} in the environment. Which command takes which flags is in [commands](commands.md).

A setting that is wrong, or that does not exist, keeps a process from starting, with a line that names it.
"""
AS_TEXT = f"""
Networks, programs and labels are lists: in the environment and in {code(CONFIG_FILE)} one text with commas between,
such as {code("10.1.0.0/16,fd00::/8")} or {code("zone=eu,gpu=yes")}.
"""
EXAMPLE = """
```toml title="hourhand.toml"
port = 8421
concurrency = 64
labels = "zone=eu,gpu=yes"
retention_days = 90
```

<!-- first: hourhand serve -->
"""
_LISTS = {"http_allow": "networks", "trusted_proxies": "networks", "command_allow": "programs", "labels": "labels"}


def settings() -> str:
    """Write the page."""
    rows = [(f"{code(name)}<br>{code(f'{ENV_PREFIX}{name.upper()}')}", *_row(name)) for name in Settings.model_fields]
    return page(
        "Settings", INTRODUCTION, table(["setting, environment", "type", "default", "what"], rows), AS_TEXT, EXAMPLE
    )


def _row(name: str) -> tuple[str, str, str]:
    field = Settings.model_fields[name]
    return _type(name), _default(field), prose(field.description or "")


def _type(name: str) -> str:
    if name in _LISTS:
        return _LISTS[name]
    schema: dict[str, Any] = dict(Settings.model_json_schema()["properties"][name])
    shown = words(schema).replace(" or null", "")
    return "path" if "path" in str(schema.get("format") or schema.get("anyOf")) else shown


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    if default in (None, "", (), {}):
        return ""
    plain = TypeAdapter(Any).dump_python(default, mode="json")
    return code(plain) if isinstance(plain, str) else value(plain)
