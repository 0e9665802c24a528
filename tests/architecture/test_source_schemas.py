"""Nothing of the three source schemas was forgotten, and what carries it exists."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import UniqueConstraint

import hourhand.store.schema_access  # noqa: F401 - completes the metadata
from architecture.source_schemas import DOCUMENT, UNMAPPED, Section, Source, all_sources, document, is_words
from hourhand.model.words import Status
from hourhand.rules.lifecycle import EDGES
from hourhand.store import Store
from hourhand.store.schema import metadata

SECTIONS = [(source, section) for source in all_sources() for section in source.sections]
COLUMNS = {f"{table.name}.{column.name}" for table in metadata.tables.values() for column in table.columns}
INDEXES = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
KEYS = {f"pk_{table.name}" for table in metadata.tables.values()} | {
    f"uq_{table.name}_{'_'.join(column.name for column in constraint.columns)}"
    for table in metadata.tables.values()
    for constraint in table.constraints
    if isinstance(constraint, UniqueConstraint)
}


def exists(reference: str) -> bool:
    """Tell whether there is such a column, index, state, edge or verb."""
    if "→" in reference:
        state, _, to = reference.partition("→")
        return any(one.value == state and to in EDGES[one] for one in Status)
    if reference.endswith("()"):
        return callable(getattr(Store, reference.removesuffix("()"), None))
    return reference in COLUMNS | INDEXES | KEYS | {status.value for status in Status}


def faults(section: Section) -> list[str]:
    """Return what is wrong with a section."""
    found = [f"{name} is carried by nothing" for name, carriers in section.carriers() if not carriers]
    found += [
        f"{name} is carried by {carrier}, which does not exist"
        for name, carriers in section.carriers()
        for carrier in carriers
        if not is_words(carrier) and not exists(carrier)
    ]
    if len(section.names) != section.count:
        found.append(f"{section.title} has {section.count} names, of which {len(section.names)} are listed")
    return found


@pytest.mark.parametrize(
    ("source", "section"), SECTIONS, ids=[f"{source.title}: {section.title}" for source, section in SECTIONS]
)
def test_every_name_is_carried_by_something_that_exists(source: Source, section: Section) -> None:
    assert not faults(section), source.title


@pytest.mark.parametrize(
    ("carriers", "fault"),
    [
        (UNMAPPED, "x is carried by nothing"),
        ("tasks.nonsense", "x is carried by tasks.nonsense, which does not exist"),
        ("ix_nonsense", "x is carried by ix_nonsense, which does not exist"),
        ("success→pending", "x is carried by success→pending, which does not exist"),
        ("sleeping", "x is carried by sleeping, which does not exist"),
        (("in words", "sleep()"), "x is carried by sleep(), which does not exist"),
    ],
)
def test_a_name_without_a_carrier_is_noticed(carriers: str | tuple[str, ...], fault: str) -> None:
    assert faults(Section("s", 1, {"x": carriers})) == [fault]


def test_a_dropped_name_is_noticed() -> None:
    assert faults(Section("s", 2, {"x": "tasks.name"})) == ["s has 2 names, of which 1 are listed"]


def test_every_state_and_every_edge_of_the_sources_is_one_of_ours() -> None:
    carriers = {one for _, section in SECTIONS for _, carriers in section.carriers() for one in carriers}
    assert {status.value for status in Status} <= carriers
    assert {one for one in carriers if "→" in one} >= {"planned→pending", "running→cancelled", "failed→pending"}


def test_the_page_is_fresh() -> None:
    told = "run: python tests/architecture/source_schemas.py"
    assert DOCUMENT.read_text("utf-8") == document(all_sources()), told


def test_the_page_has_one_row_per_name() -> None:
    rows = re.findall(r"^\| (?!---).* \|$", document(all_sources()), re.MULTILINE)
    assert len(rows) == sum(section.count + 1 for _, section in SECTIONS)
