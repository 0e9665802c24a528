from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.audit import AuditEntry, ChainFault, FaultKind, Seal
from hourhand.model.errors import InvalidInput
from hourhand.rules.audit_chain import (
    BEGINNING,
    canonical,
    follow,
    judge_ends,
    judge_noted,
    name_fault,
    read_seal,
    seal,
)
from unit.rules.cron_oracle import examples

NOW = datetime(2026, 11, 15, 9, 0, 0, 123456, tzinfo=UTC)


def entry(number: int, **changes: Any) -> AuditEntry:
    values: dict[str, Any] = {
        "id": number + 100,
        "action": "edit",
        "resource_type": "task",
        "resource_id": str(number),
        "user_id": "user:3",
        "user_name": "ada",
        "occurred_at": NOW,
        "summary": None,
        "payload": {"b": [1, 2.5], "a": "é"},
        "script": None,
        "before": None,
        "after": None,
        "request_id": None,
        "result": "done",
        "sealed_no": None,
        "hash": None,
        **changes,
    }
    return AuditEntry(**values)


def chain(length: int) -> tuple[list[AuditEntry], Seal]:
    """A whole chain, and its head."""
    head, entries = BEGINNING, []
    for number in range(1, length + 1):
        head = seal(head, entry(number))
        entries.append(entry(number, sealed_no=head.number, hash=head.hash))
    return entries, head


def named(previous: Seal, misfit: AuditEntry, entries: list[AuditEntry], head: Seal) -> ChainFault:
    """What is wrong, as told with all entries at hand."""
    hashes = {each.sealed_no or 0: each.hash or "" for each in entries}
    behind = next((each for each in entries if each.sealed_no == previous.number + 2), None)
    return name_fault(previous, misfit, hashes, behind, head)


def fault(entries: list[AuditEntry], head: Seal) -> tuple[int, FaultKind] | None:
    previous, misfit = follow(BEGINNING, entries)
    if misfit is None:
        return None
    found = named(previous, misfit, entries, head)
    assert str(found.number) in found.detail
    return found.number, found.kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
@examples(300)
def test_a_value_has_one_text_however_its_json_is_written(value: Any) -> None:
    again = json.loads(json.dumps(value, indent=1, sort_keys=True))
    assert canonical(again) == canonical(value)
    assert canonical(value).isascii()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (100, 1e2),
        (10**300, 1e300),
        (15 * 10**21, 1.5e22),
        (0, -0.0),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ((1, 2), [1, 2]),
        (NOW, NOW.astimezone(timezone(timedelta(hours=8)))),
    ],
)
def test_the_same_value_has_the_same_text(one: object, other: object) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (1, "1"),
        (1, -1),
        (10, 1),
        (0.1, 0.01),
        (2**53, 2**53 + 1),
        (None, "null"),
        ([], {}),
        ([[1], 2], [1, [2]]),
        ({"a": "b"}, {"b": "a"}),
        (["a,b"], ["a", "b"]),
        (NOW, NOW + timedelta(microseconds=1)),
    ],
)
def test_different_values_have_different_texts(one: object, other: object) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {1, 2}])
def test_what_is_no_json_has_no_text(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON value"):
        canonical(value)


@pytest.mark.parametrize(
    "name", [name for name in AuditEntry.__dataclass_fields__ if name not in ("sealed_no", "hash")]
)
def test_every_column_is_part_of_the_hash(name: str) -> None:
    new = NOW + timedelta(seconds=1) if name == "occurred_at" else 7 if name == "id" else "other"
    assert seal(BEGINNING, replace(entry(1), **{name: new})) != seal(BEGINNING, entry(1))  # type: ignore[arg-type]


def test_the_hash_covers_the_place_and_everything_before_it() -> None:
    assert seal(Seal(1, BEGINNING.hash), entry(1)).hash != seal(BEGINNING, entry(1)).hash
    assert seal(Seal(0, "1" * 64), entry(1)).hash != seal(BEGINNING, entry(1)).hash
    assert seal(BEGINNING, entry(1, sealed_no=9, hash="x")) == seal(BEGINNING, entry(1))  # where it is now is no matter


def test_the_hash_stays_what_it_was_when_this_was_written() -> None:
    """A release that hashed otherwise would find every chain of its predecessors broken."""
    assert str(seal(BEGINNING, entry(1))) == "1:f6111e903d0a25e2b1ef5ec74cc8e152c87a78829e8fdd399c863935b0e1962d"


def test_a_whole_chain_is_followed_to_its_head() -> None:
    entries, head = chain(5)
    assert follow(BEGINNING, entries) == (head, None)
    assert follow(Seal(2, entries[1].hash or ""), entries[2:]) == (head, None)
    assert follow(BEGINNING, []) == (BEGINNING, None)
    assert judge_ends(head, floor=BEGINNING, head=head, kept=(1, 5)) is None
    assert judge_ends(BEGINNING, floor=BEGINNING, head=BEGINNING, kept=None) is None


@pytest.mark.parametrize("place", range(5))
def test_a_changed_entry_is_found(place: int) -> None:
    entries, head = chain(5)
    entries[place] = replace(entries[place], user_id="user:9")
    assert fault(entries, head) == (place + 1, FaultKind.CHANGED)


@pytest.mark.parametrize("place", range(5))
def test_an_entry_with_a_made_up_hash_is_found(place: int) -> None:
    entries, head = chain(5)
    entries[place] = replace(entries[place], user_id="user:9", hash="f" * 64)
    assert fault(entries, head) == (place + 1, FaultKind.FORGED)
    entries[place] = replace(entries[place], hash=None)
    assert fault(entries, head) == (place + 1, FaultKind.FORGED)


@pytest.mark.parametrize("place", range(4))
def test_an_entry_replaced_together_with_its_hash_is_found_behind_it(place: int) -> None:
    entries, head = chain(5)
    before = BEGINNING if place == 0 else Seal(place, entries[place - 1].hash or "")
    forged = replace(entries[place], user_id="user:9")
    entries[place] = replace(forged, hash=seal(before, forged).hash)
    assert fault(entries, head) == (place + 2, FaultKind.CHANGED)


def test_the_last_entry_replaced_together_with_its_hash_is_not_what_the_head_names() -> None:
    entries, head = chain(5)
    forged = replace(entries[4], user_id="user:9")
    entries[4] = replace(forged, hash=seal(Seal(4, entries[3].hash or ""), forged).hash)
    last, misfit = follow(BEGINNING, entries)
    assert misfit is None
    found = judge_ends(last, floor=BEGINNING, head=head, kept=(1, 5))
    assert found is not None
    assert (found.number, found.kind) == (5, FaultKind.WRONG_HEAD)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 3), (0, 4), (3, 4)])
def test_entries_that_changed_places_are_found(one: int, other: int) -> None:
    entries, head = chain(5)
    a, b = entries[one], entries[other]
    entries[one], entries[other] = replace(b, sealed_no=one + 1), replace(a, sealed_no=other + 1)
    assert fault(entries, head) == (one + 1, FaultKind.REORDERED)
    # The same with the hashes left where they were.
    entries[one], entries[other] = replace(entries[one], hash=a.hash), replace(entries[other], hash=b.hash)
    assert fault(entries, head) == (one + 1, FaultKind.REORDERED)


def test_an_entry_put_in_between_is_found() -> None:
    entries, head = chain(4)
    forged = entry(9, sealed_no=2)
    forged = replace(forged, hash=seal(Seal(1, entries[0].hash or ""), forged).hash)
    moved = [replace(each, sealed_no=(each.sealed_no or 0) + 1) for each in entries[1:]]
    assert fault([entries[0], forged, *moved], head) == (3, FaultKind.REORDERED)


@pytest.mark.parametrize(("gone", "told"), [((2,), "entry 2 is not"), ((2, 3), "entries 2 to 3 are not")])
def test_missing_entries_are_found(gone: tuple[int, ...], told: str) -> None:
    entries, head = chain(5)
    left = [each for each in entries if each.sealed_no not in gone]
    assert fault(left, head) == (2, FaultKind.MISSING)
    previous, misfit = follow(BEGINNING, left)
    assert misfit is not None
    assert told in named(previous, misfit, left, head).detail


def test_an_entry_without_a_number_is_out_of_place() -> None:
    """No database gives such a one when asked for numbers; the rule does not rely on it."""
    entries, head = chain(2)
    lost = [replace(entries[0], user_id="x"), replace(entries[1], sealed_no=None)]
    assert fault(lost, head) == (1, FaultKind.FORGED)


def test_where_the_chain_ends_is_judged() -> None:
    entries, head = chain(5)
    third = Seal(3, entries[2].hash or "")

    def kind(last: Seal, floor: Seal, head: Seal, kept: tuple[int, int] | None) -> tuple[int, FaultKind] | None:
        found = judge_ends(last, floor=floor, head=head, kept=kept)
        return None if found is None else (found.number, found.kind)

    assert kind(third, BEGINNING, head, (1, 3)) == (4, FaultKind.CUT_OFF)
    assert kind(BEGINNING, BEGINNING, head, None) == (1, FaultKind.CUT_OFF)
    assert kind(third, BEGINNING, third, (1, 5)) == (4, FaultKind.BEHIND_HEAD)
    assert kind(BEGINNING, BEGINNING, BEGINNING, (1, 5)) == (1, FaultKind.BEHIND_HEAD)
    assert kind(head, BEGINNING, Seal(5, "0" * 64), (1, 5)) == (5, FaultKind.WRONG_HEAD)
    assert kind(head, third, head, (2, 5)) == (2, FaultKind.BEFORE_FLOOR)
    assert kind(head, third, head, (4, 5)) is None
    assert kind(head, head, head, None) is None  # retention has removed everything


def test_a_head_that_was_noted_is_looked_for() -> None:
    entries, head = chain(5)
    noted = Seal(3, entries[2].hash or "")
    assert judge_noted(noted, noted, head) is None
    for there, told in ((Seal(3, "1" * 64), "made anew"), (None, "made anew")):
        found = judge_noted(noted, there, head)
        assert found is not None
        assert (found.number, found.kind) == (3, FaultKind.NOT_AS_NOTED)
        assert told in found.detail
    found = judge_noted(Seal(9, "1" * 64), None, head)
    assert found is not None
    assert "ends at 5" in found.detail


def test_a_noted_head_is_read() -> None:
    assert read_seal(f"17:{'ab' * 32}") == Seal(17, "ab" * 32)
    for wrong in (
        "",
        "17",
        f"0:{'ab' * 32}",
        f"x:{'ab' * 32}",
        f"17:{'AB' * 32}",
        f"17:{'ab' * 31}",
        f"17:{'ab' * 32}\n",
    ):
        with pytest.raises(InvalidInput, match="is no head"):
            read_seal(wrong)
