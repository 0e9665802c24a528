"""Where everything in the three source schemas went: names as data, each with what carries it here.

A name is carried by references and, where that alone would not be understood, by words:

    table.column        a column of `hourhand.store.schema`
    ix_… uq_… pk_…      an index, unique or primary key of it
    pending             a state of the lifecycle
    planned→pending     an edge of the lifecycle
    claim()             a verb of the store
    anything with a space in it is words

`python tests/architecture/source_schemas.py` writes docs/reference/schema-mapping.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schema-mapping.md"

Carriers = str | tuple[str, ...]
UNMAPPED: Carriers = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One list of names of a source schema; `count` is how many it has, so that none is dropped unnoticed."""

    title: str
    count: int
    names: Mapping[str, Carriers]

    def carriers(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each name with its references and words."""
        for name, carriers in self.names.items():
            yield name, (carriers,) if isinstance(carriers, str) else carriers


@dataclass(frozen=True, slots=True)
class Source:
    """One source schema."""

    title: str
    introduction: str
    sections: tuple[Section, ...]


def is_words(carrier: str) -> bool:
    """Tell words from references, which have no spaces."""
    return " " in carrier


def document(sources: tuple[Source, ...]) -> str:
    """Return the reference page."""
    lines = [
        "# Where the fields of the source schemas went",
        "",
        "Hourhand unifies three designs: the collections of a task scheduler, XXL-JOB's database, and BackgroundTask.",
        "This page says for every field, index, state and query of theirs what carries it here. It is generated from",
        "the lists in `tests/architecture`, and a test checks that every column, index, state, edge and verb it names",
        "exists.",
    ]
    for source in sources:
        lines += ["", f"## {source.title}", "", source.introduction]
        for section in source.sections:
            lines += ["", f"### {section.title}", "", f"| {source.title} | Hourhand |", "| --- | --- |"]
            lines += [f"| {_cell(name)} | {_carried(carriers)} |" for name, carriers in section.carriers()]
    return "\n".join(lines) + "\n"


def _carried(carriers: tuple[str, ...]) -> str:
    references = ", ".join(f"`{one}`" for one in carriers if not is_words(one))
    words = "; ".join(one for one in carriers if is_words(one))
    return ": ".join(part for part in (references, words) if part)


def _cell(name: str) -> str:
    return name if " " in name and "(" not in name else f"`{name}`"


def all_sources() -> tuple[Source, ...]:
    """Return the three source schemas."""
    from architecture.source_background_task import BACKGROUND_TASK  # noqa: PLC0415 - they import this module
    from architecture.source_task_scheduler import TASK_SCHEDULER  # noqa: PLC0415 - the same
    from architecture.source_xxl_job import XXL_JOB  # noqa: PLC0415 - the same

    return TASK_SCHEDULER, XXL_JOB, BACKGROUND_TASK


if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    DOCUMENT.write_text(document(all_sources()), "utf-8")
