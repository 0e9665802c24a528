"""Roles include those below them; a limited principal reaches its groups and no other."""

from __future__ import annotations

import pytest

from hourhand.model.access import Principal
from hourhand.model.words import Role


def test_each_role_includes_itself_and_those_before_it() -> None:
    order = [Role.VIEWER, Role.OPERATOR, Role.EDITOR, Role.ADMIN]
    for place, role in enumerate(order):
        assert [role.includes(other) for other in order] == [at <= place for at in range(len(order))]


@pytest.mark.parametrize(("groups", "reached"), [(None, True), (frozenset({"a"}), True), (frozenset(), False)])
def test_who_is_limited_reaches_its_groups_alone(groups: frozenset[str] | None, *, reached: bool) -> None:
    principal = Principal(id="token:1", name="t", role=Role.ADMIN, groups=groups)
    assert principal.reaches("a") is reached
    assert principal.reaches("b") is (groups is None)
