"""The reader of pages notices what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.blocks import Block, parse
from docs.expected import Shown, agrees, shown_in
from docs.reader import Mistaken, Reader, commands_in


def block(language: str, text: str, **more: str | None) -> Block:
    title, not_run = more.get("title"), more.get("not_run")
    return Block(page="page.md", line=1, language=language, text=text, title=title, not_run=not_run)


def no_database() -> str:
    raise AssertionError("nobody named a database")


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path, no_database)


def test_blocks_are_found_with_their_titles_also_inside_lists() -> None:
    text = 'a\n\n```python title="app.py"\nx = 1\n```\n\n- b\n\n    ```sh\n    true\n    ```\n'
    first, second = parse("p.md", text)
    assert (first.language, first.title, first.text, first.line) == ("python", "app.py", "x = 1\n", 3)
    assert (second.language, second.title, second.text) == ("sh", None, "true\n")


def test_what_is_to_be_done_first_is_a_block_that_nobody_sees() -> None:
    first, second = parse("p.md", "<!-- first: hourhand serve -->\n\n```sh\ntrue\n```\n")
    assert (first.language, first.text, second.text) == ("sh", "hourhand serve", "true\n")


def test_a_block_that_is_not_run_says_why() -> None:
    (found,) = parse("p.md", "<!-- not run: needs a cloud -->\n```sh\ntrue\n```\n")
    assert found.not_run == "needs a cloud"


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("Instance 1 took 0.1 s", "Instance 17  took 2.5 s\n"),
        ("a\n…\nz", "a\nb\nc\nz\n"),
        ("a\n…", "a\n"),
        ("key … end", "key of mine to the end"),
        ("a … b", "a b"),
        ("a …", "a"),
        ("a …b", "a xb"),
        ("one\n\ntwo", "one\ntwo\n\n"),
        ("Instance 7 is pending again", "Instance 7 is running again"),
    ],
)
def test_what_may_differ_may_differ(shown: str, printed: str) -> None:
    assert agrees(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("success", "failed"),
        ("a\nb", "a"),
        ("a", "a\nb"),
        ("a\n…\nz", "a\nb\n"),
        ("", "something"),
        ("1", "one"),
        ("a … b", "ab"),
        ("a … b", "a cb"),
        ("a …", "ab"),
    ],
)
def test_what_must_not_differ_must_not(shown: str, printed: str) -> None:
    assert not agrees(shown, printed)


def test_a_console_block_is_taken_apart() -> None:
    assert shown_in("$ false  # fails\n$ cat <<X\n> hi\n> X\nhi\n") == [
        Shown("false", None, fails=True),
        Shown("cat <<X\nhi\nX", "hi"),
    ]
    with pytest.raises(ValueError, match="begins with"):
        shown_in("true\n")


def test_commands_may_go_over_several_lines() -> None:
    assert commands_in("# first\na \\\n  b\n\ncat <<X\nhi\nX\nfor i in 1; do\n  c\ndone\nd") == [
        "a \\\n  b",
        "cat <<X\nhi\nX",
        "for i in 1; do\n  c\ndone",
        "d",
    ]


def test_a_command_sets_the_stage_for_the_next(reader: Reader) -> None:
    reader.follow(block("text", "nothing"))
    reader.follow(block("sh", "mkdir below && cd below\nNAME='a b'\n"))
    reader.follow(block("console", '$ echo "$NAME" "${PWD##*/}"\na b below\n'))


def test_files_are_saved_and_programs_run(reader: Reader) -> None:
    reader.follow(block("python", "value = 3\n", title="of_mine.py"))
    reader.follow(block("python", "import of_mine\nassert of_mine.value == 3\n"))
    reader.follow(block("json", '{"a": 1}'))


@pytest.mark.parametrize(
    "wrong",
    [
        block("sh", "false"),
        block("console", "$ echo a\nb\n"),
        block("console", "$ true  # fails\n"),
        block("python", "raise SystemExit(1)"),
        block("json", "{"),
        block("yaml", "a: [", title="a.yaml"),
        block("text", "hourhand task list"),
        block("brainfuck", "+"),
        block("sh", "hourhand serve --no-such-option"),
    ],
    ids=lambda one: f"{one.language} {one.text[:20]!r}",
)
def test_a_mistaken_page_is_noticed(reader: Reader, wrong: Block) -> None:
    try:
        with pytest.raises(Mistaken):
            reader.follow(wrong)
    finally:
        reader.leave()
