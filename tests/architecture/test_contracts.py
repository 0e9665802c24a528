"""Who says it keeps a contract keeps all of it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from hourhand.contracts import store as contract
from hourhand.store import Store

if TYPE_CHECKING:
    # For mypy: the types fit as well as the names.
    KEPT: type[contract.Store] = Store

VERBS = sorted(
    name
    for protocol in inspect.getmro(contract.Store)
    if protocol.__module__.startswith("hourhand.contracts.")
    for name, member in vars(protocol).items()
    if inspect.isfunction(member) and not name.startswith("_")
)


@pytest.mark.parametrize("verb", VERBS)
def test_the_store_has_every_verb_of_its_contract_with_the_same_parameters(verb: str) -> None:
    promised = inspect.signature(getattr(contract.Store, verb))
    assert inspect.signature(getattr(Store, verb)) == promised


def test_the_store_has_no_verb_that_its_contract_does_not_describe() -> None:
    public = {name for name, _ in inspect.getmembers(Store, inspect.isfunction) if not name.startswith("_")}
    assert public == set(VERBS)
