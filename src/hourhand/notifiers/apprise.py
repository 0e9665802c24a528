"""Notifiers: everything that Apprise knows: mail, Slack, DingTalk, Feishu, WeCom and some 200 more, each by its URL."""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote

from hourhand.contracts.notifier import NotSent
from hourhand.service.addresses import AddressPolicy, AddressRefused

if TYPE_CHECKING:
    from apprise import Apprise, AppriseAsset, NotifyBase

SECONDS = 30.0
THREADS = 8
_LOCAL = frozenset({"syslog", "dbus", "qt", "glib", "kde", "gnome", "macosx", "windows"})
"""These speak to whoever sits at the machine on which a scheduler runs."""
_ANYWHERE = frozenset({"json", "jsons", "xml", "xmls", "form", "forms", "apprise", "apprises"})
"""These call any address over HTTP, and so obey the policy of http tasks. Mail relays are in private networks."""
_TYPES = {"recovered": "success", "firing": "failure", "reminder": "warning"}
_said: ContextVar[list[str] | None] = ContextVar("hourhand_apprise_said", default=None)


class AppriseNotifier:
    """Sends by Apprise, which waits: so in threads of its own."""

    kind: ClassVar[str] = "apprise"
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "string",
        "format": "uri",
        "writeOnly": True,
        "description": "An Apprise URL: mailto://, slack://, dingtalk://, feishu://, wecombot:// and a hundred more",
    }
    example: ClassVar[Any] = "mailto://user:password@example.com"

    def __init__(self, policy: AddressPolicy, *, seconds: float = SECONDS) -> None:
        self._policy = policy
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="hourhand-apprise")

    def takes(self, target: object) -> bool:
        """Whether it is a text."""
        return isinstance(target, str)

    def check(self, target: str) -> str:
        """Apprise's own masked form of it."""
        return _shown(_instance(target))

    async def send(self, target: str, event: Mapping[str, Any]) -> None:
        """Send it once."""
        loop = asyncio.get_running_loop()
        try:
            instance = await loop.run_in_executor(self._threads, _instance, target)
        except ValueError as error:
            raise NotSent(str(error)) from None
        shown = _shown(instance)
        if _schema(target) in _ANYWHERE:
            await self._refuse(instance, shown)
        said: list[str] = []
        _said.set(said)
        context = copy_context()
        work = loop.run_in_executor(self._threads, lambda: context.run(_notify, instance, event))
        try:
            async with asyncio.timeout(self._seconds):
                done = await work
        except TimeoutError:
            raise NotSent(f"{shown} did not take it within {self._seconds:g} s") from None
        except Exception as error:  # noqa: BLE001 - hundreds of services, each with its own faults; none may end ours
            raise NotSent(f"{shown} failed: {_without(target, f'{type(error).__name__}: {error}')}") from None
        if not done:
            why = _without(target, said[-1]) if said else "Apprise does not say why"
            raise NotSent(f"{shown} did not take it: {why}")

    async def _refuse(self, instance: NotifyBase, shown: str) -> None:
        host, port = str(getattr(instance, "host", "") or ""), getattr(instance, "port", None)
        try:
            async with asyncio.timeout(self._seconds):
                await self._policy.permitted(host, port or 80)
        except AddressRefused as error:
            raise NotSent(f"{shown} is refused: {error}") from None
        except (OSError, TimeoutError):
            raise NotSent(f"{shown}: the address of its host could not be found") from None

    async def close(self) -> None:
        """Start nothing more; what is under way ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _notify(instance: NotifyBase, event: Mapping[str, Any]) -> bool:
    return bool(
        instance.notify(
            title=str(event["title"]),
            body=f"{event['text']}\n\n[{event['notice']}]",
            notify_type=_TYPES.get(str(event["kind"]), "info"),
            body_format="text",
        )
    )


def _schema(target: str) -> str:
    return target.partition(":")[0].strip().lower()


def _instance(target: str) -> NotifyBase:
    if _schema(target) in _LOCAL:
        raise ValueError(f"{_schema(target)}:// speaks to the machine itself: give a target that reaches people")
    library, asset = _loaded()
    instance = library.instantiate(target, asset=asset, suppress_exceptions=True)
    if instance is None:
        raise ValueError(
            "is no URL that Apprise knows: give one such as mailto://user:password@example.com or "
            "slack://tokenA/tokenB/tokenC (https://appriseit.com lists them)"
        )
    return instance


@cache
def _loaded() -> tuple[type[Apprise], AppriseAsset]:
    """Load Apprise and all it knows, which takes a second: only where something is sent, and never on the loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for libraries by importing them, old ones too
        from apprise import Apprise, AppriseAsset  # noqa: PLC0415 - see above

        _quieten()
        asset = AppriseAsset(
            app_id="Hourhand",
            app_desc="Hourhand",
            app_url="",
            async_mode=False,
            secure_logging=True,
            http_redirects=False,  # where it leads nobody has checked
            storage_mode="memory",
            allow_templates=False,  # they are read from this machine's files
        )
        Apprise.instantiate("json://localhost", asset=asset)
    return Apprise, asset


def _quieten() -> None:
    """What Apprise logs may hold secrets: it goes to whoever is sending, and nowhere else."""
    logging.getLogger("apprise").addFilter(_Listener())


class _Listener(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        said = _said.get()
        if said is not None and record.levelno >= logging.WARNING:
            said.append(record.getMessage())
        return False


def _shown(instance: NotifyBase) -> str:
    masked: Callable[..., object] = instance.url  # it ships half its types
    url = str(masked(privacy=True)).partition("?")[0]
    schema, _, rest = url.partition("://")
    if schema in _ANYWHERE:
        rest = rest.rpartition("@")[2].partition("/")[0]  # their paths and users may be secrets as well
    return f"{schema}://{rest}"


def _without(target: str, text: str) -> str:
    """What Apprise said, with everything masked that is part of the target's URL but its host."""
    for piece in sorted(set(re.split(r"[/:@?&=+,; ]+", target)), key=len, reverse=True):
        for form in {piece, unquote(piece)}:
            if len(form) > 3 and "." not in form:  # noqa: PLR2004 - shorter ones are words
                text = text.replace(form, "***")
    return text[:300]
