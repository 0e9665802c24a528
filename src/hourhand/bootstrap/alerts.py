"""Bootstrap: the notifiers of a process, and the key of their targets."""

from __future__ import annotations

from hourhand.bootstrap.secret_key import SecretKey
from hourhand.contracts.store import Store
from hourhand.notifiers.apprise import AppriseNotifier
from hourhand.notifiers.webhook import WebhookNotifier
from hourhand.service.addresses import AddressPolicy, Resolver
from hourhand.service.post import Post
from hourhand.settings import Settings, is_loopback


def build_post(settings: Settings, store: Store, *, serving: bool) -> Post:
    """What brings notices to their targets; whose own API listens on loopback may reach other services there."""
    policy = AddressPolicy.of(settings, Resolver(threads=4), loopback=serving and is_loopback(settings.host))
    return Post([WebhookNotifier(policy), AppriseNotifier(policy)], SecretKey(settings, store).envelope)
