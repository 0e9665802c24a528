"""Say how much of the documentation is executed: `PYTHONPATH=tests python -m docs.count`."""

from __future__ import annotations

from collections import Counter

from docs.blocks import blocks_of, pages
from docs.expected import shown_in
from docs.reader import PARSED, commands_in


def main() -> None:
    """Count the blocks of every page by what becomes of them."""
    counts: Counter[str] = Counter()
    for page in pages():
        for block in blocks_of(page):
            if block.not_run is not None:
                counts["blocks not run, each with its reason"] += 1
            elif block.title is not None:
                counts["files saved and used"] += 1
            elif block.language == "sh":
                counts["commands run"] += len(commands_in(block.text))
            elif block.language == "console":
                counts["commands run, their output compared"] += len(shown_in(block.text))
            elif block.language == "python":
                counts["programs run"] += 1
            elif block.language in PARSED:
                counts["data parsed"] += 1
            else:
                counts["blocks only read (pictures, text)"] += 1
    for what, number in counts.most_common():
        print(f"{number:>5}  {what}")  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
