"""Rules: the chain of the audit: each entry's hash covers the entry and the hash before it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from typing import Any

from hourhand.model.audit import AuditEntry, ChainFault, FaultKind, Seal
from hourhand.model.errors import InvalidInput, shown

BEGINNING = Seal(0, "0" * 64)
"""What stands before the first entry."""
_SEALED = tuple(field.name for field in fields(AuditEntry) if field.name not in ("hash", "sealed_no"))
_SEAL = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


def canonical(value: Any) -> str:  # noqa: ANN401, PLR0911 - any JSON value, and a line for each kind
    """The one text of a JSON value, the same however a database has written it.

    jsonb orders keys in its own way and writes 1e2 as 100; so keys are sorted, and a number is its digits and exponent.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return _number(f"{value:d}", 0)
        case float():
            return _decimal(Decimal(repr(value)))
        case str():
            return encode_basestring_ascii(value)
        case datetime():
            return f'"{value.astimezone(UTC).isoformat(timespec="microseconds")}"'
        case Mapping():
            return f"{{{','.join(f'{canonical(name)}:{canonical(value[name])}' for name in sorted(value))}}}"
        case list() | tuple():
            return f"[{','.join(map(canonical, value))}]"
    raise TypeError(f"{shown(value)} is no JSON value")


def _decimal(value: Decimal) -> str:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise TypeError(f"{value} is no JSON value")
    return _number(f"{'-' if sign else ''}{''.join(map(str, digits))}", exponent)


def _number(digits: str, exponent: int) -> str:
    """Without the zeros at its end, of which the exponent tells; zero has no sign: no database keeps it."""
    short = digits.rstrip("0")
    if short in ("", "-"):
        return "0"
    return f"{short}e{exponent + len(digits) - len(short)}"


def seal(previous: Seal, entry: AuditEntry) -> Seal:
    """The place of an entry right behind `previous`.

    What is None is left out: a column that a later release adds must not change what was sealed before.
    """
    return _seal(previous.hash, previous.number + 1, entry)


def _seal(previous: str, number: int, entry: AuditEntry) -> Seal:
    return _seal_text(previous, number, _text_of(entry))


def _text_of(entry: AuditEntry) -> str:
    return canonical({name: value for name in _SEALED if (value := getattr(entry, name)) is not None})


def _seal_text(previous: str, number: int, text: str) -> Seal:
    return Seal(number, hashlib.sha256(f"{previous}\n{number}\n{text}".encode()).hexdigest())


def read_seal(text: str) -> Seal:
    """A head that somebody has noted."""
    found = _SEAL.fullmatch(text)
    if found is None:
        raise InvalidInput.one(
            "head", text, f"{shown(text)} is no head: write its number and its hash, as `head` of a verification has it"
        )
    return Seal(int(found[1]), found[2])


def follow(previous: Seal, entries: Sequence[AuditEntry]) -> tuple[Seal, AuditEntry | None]:
    """Go along the entries, by number, as far as they fit; the last that does, and the first that does not."""
    for entry in entries:
        right = seal(previous, entry)
        if (entry.sealed_no, entry.hash) != (right.number, right.hash):
            return previous, entry
        previous = right
    return previous, None


def name_fault(
    previous: Seal, misfit: AuditEntry, hashes: Mapping[int, str], behind: AuditEntry | None, head: Seal
) -> ChainFault:
    """What is wrong with the entry that does not fit behind `previous`.

    Judging by the hashes of the entries around it, by number, and by the entry with the next number.
    """
    number = previous.number + 1
    found = misfit.sealed_no or 0
    if found != number:
        gone = f"entry {number} is" if found == number + 1 else f"entries {number} to {found - 1} are"
        return ChainFault(
            number=number,
            kind=FaultKind.MISSING,
            detail=f"{gone} not there, and entry {found} is: what was sealed has been removed",
        )
    place = _sealed_at(misfit, hashes)
    if place is not None:
        kind, detail = FaultKind.REORDERED, f"what stands as entry {number} was sealed as entry {place}"
    elif _continues(misfit, behind, head):
        kind = FaultKind.CHANGED
        detail = f"entry {number} is not what was sealed: it was changed afterwards" + (
            "" if number == 1 else f", or entry {number - 1} was replaced together with its hash"
        )
    else:
        kind = FaultKind.FORGED
        detail = f"the hash of entry {number} fits neither what stands before it nor what stands behind it"
    return ChainFault(number=number, kind=kind, detail=detail, entry_id=misfit.id)


def _sealed_at(misfit: AuditEntry, hashes: Mapping[int, str]) -> int | None:
    """Where an entry was sealed, if that was at another place nearby.

    Either the whole row stands at another place, with its hash, or all of it but its hash does.
    """
    text = _text_of(misfit)
    for number, hash_ in hashes.items():
        if number == misfit.sealed_no:
            continue
        before = BEGINNING.hash if number == 1 else hashes.get(number - 1)
        for previous in {hash_, before} - {None}:
            if _seal_text(str(previous), number, text).hash in (misfit.hash, hash_):
                return number
    return None


def _continues(entry: AuditEntry, following: AuditEntry | None, head: Seal) -> bool:
    """Whether what stands behind an entry was sealed behind the hash that it has now."""
    if following is None:
        return Seal(entry.sealed_no or 0, entry.hash or "") == head
    return _seal(entry.hash or "", following.sealed_no or 0, following).hash == following.hash


def judge_ends(last: Seal, *, floor: Seal, head: Seal, kept: tuple[int, int] | None) -> ChainFault | None:
    """Whether the chain ends where its head says, and begins behind its floor.

    `last` is the last entry that fits, `kept` the smallest and the largest number of all entries.
    """
    if kept is not None and kept[0] <= floor.number:
        return ChainFault(
            number=kept[0],
            kind=FaultKind.BEFORE_FLOOR,
            detail=f"entry {kept[0]} is there, although retention is said to have removed all up to {floor.number}",
        )
    if last.number < head.number:
        return ChainFault(
            number=last.number + 1,
            kind=FaultKind.CUT_OFF,
            detail=f"the head is entry {head.number}, but the last that is there is {last.number}: "
            "the newest entries have been removed",
        )
    if kept is not None and kept[1] > head.number:
        return ChainFault(
            number=head.number + 1,
            kind=FaultKind.BEHIND_HEAD,
            detail=f"there are entries up to {kept[1]} behind the head, which is {head.number}: "
            "they were added by hand, or the head was set back",
        )
    if last != head:
        return ChainFault(
            number=head.number,
            kind=FaultKind.WRONG_HEAD,
            detail=f"the head names another entry {head.number} than the one that is there",
        )
    return None


def judge_noted(noted: Seal, there: Seal | None, head: Seal) -> ChainFault | None:
    """Whether a head that was noted earlier is still part of the chain; `there` is what has its number now."""
    if there == noted:
        return None
    if noted.number > head.number:
        detail = f"entry {noted.number} was noted as the head, but the chain ends at {head.number}"
    else:
        detail = f"entry {noted.number} is another than the one that was noted: the chain was made anew"
    return ChainFault(number=noted.number, kind=FaultKind.NOT_AS_NOTED, detail=f"{detail}; what was noted is gone")
