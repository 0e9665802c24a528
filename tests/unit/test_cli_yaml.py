"""YAML as the CLI reads and writes it: whatever is written is read as it was."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hourhand.cli import yaml_reading
from hourhand.cli.task_file_reading import read_sets
from hourhand.cli.yaml_reading import read_yaml
from hourhand.cli.yaml_writing import write_yaml
from hourhand.model.errors import InvalidInput
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import (
    DependencyMode,
    ExecutorLossPolicy,
    MisfirePolicy,
    OverlapPolicy,
    RetryBackoff,
    TaskType,
    UpstreamFailurePolicy,
)
from hourhand.rules.task_files import declaration_from, written

SURPRISING = [
    "on",
    "yes",
    "No",
    "null",
    "~",
    "",
    "12:30",
    "010",
    "1_000",
    "1e3",
    "0x1f",
    "2026-11-15",
    "=",
    "<<",
    "*/5",
]
SURPRISING += [
    "@daily",
    "- a",
    "a: b",
    "a #b",
    "#b",
    "'",
    '"',
    "\t",
    " a ",
    "a\n",
    "\na",
    "a\n b\n\n",
    "\u2028",
    "\x85",
]
SURPRISING += [
    "%",
    "`",
    "!x",
    "&x",
    "|",
    ">",
    "{a}",
    "[a]",
    "? a",
    "---",
    "...",
    "\ufeff",
    "🕐",
    ".inf",
    "-",
    "1.",
    "+1",
]
texts = st.one_of(
    st.sampled_from(SURPRISING), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


@given(values)
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    assert read_yaml(write_yaml({"x": value}).encode(), "f.yaml").value == {"x": value}


lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).map(str.strip).filter(bool)
objects = st.dictionaries(texts, values, max_size=3)
definitions = st.builds(
    TaskDefinition,
    name=lines,
    type=st.just(TaskType.PYTHON),
    schedule=st.sampled_from(["*/5 * * * *", "@daily", "@manual", "0 0 2 L * ?", "@every 30s"]),
    payload=st.fixed_dictionaries({"handler": lines}, optional={"args": objects}),
    description=st.none() | lines | st.just("two\nlines"),
    enabled=st.booleans(),
    group=lines,
    timezone=st.sampled_from(["UTC", "Asia/Shanghai"]),
    priority=st.integers(0, 9),
    timeout_seconds=st.none() | st.integers(1, 100),
    max_retries=st.none() | st.integers(0, 100),
    retry_delay_seconds=st.integers(0, 100),
    retry_backoff=st.sampled_from(RetryBackoff),
    misfire_policy=st.sampled_from(MisfirePolicy),
    misfire_grace_seconds=st.integers(0, 100),
    catch_up_limit=st.integers(1, 200),
    overlap_policy=st.sampled_from(OverlapPolicy),
    dependency_mode=st.sampled_from(DependencyMode),
    upstream_failure_policy=st.sampled_from(UpstreamFailurePolicy),
    dependency_timeout_seconds=st.integers(1, 100_000),
    executor_loss_policy=st.sampled_from(ExecutorLossPolicy),
    broadcast=st.booleans(),
    concurrency_key=st.none() | st.sampled_from(["k", "on", "7"]),
    concurrency_limit=st.integers(1, 5),
    executor_labels=st.dictionaries(texts, texts, max_size=2),
    args_schema=st.none() | objects,
    owner=st.none() | lines,
    tags=st.lists(lines, max_size=3).map(tuple),
)


@given(definitions, st.lists(lines, unique=True, max_size=3))
@settings(max_examples=50, deadline=None)
def test_a_task_is_the_same_once_it_is_exported_and_read(definition: TaskDefinition, depends_on: list[str]) -> None:
    plain = asdict(definition) | {"tags": list(definition.tags)}
    # As the API answers: words, not members of enums.
    answered = {name: getattr(value, "value", value) for name, value in plain.items()}
    text = write_yaml({"tasks": [written(answered, depends_on)]})
    (entry,) = read_yaml(text.encode(), "f.yaml").value["tasks"]
    assert declaration_from(entry) == Declaration(definition=definition, depends_on=tuple(depends_on))


def test_short_lists_are_written_in_one_line_and_texts_in_theirs() -> None:
    value = {"tasks": [{"name": "a", "command": ["echo", "x y"], "schedule": "*/5 * * * *", "description": "a\nb\n"}]}
    assert write_yaml(value).splitlines() == [
        "tasks:",
        "  - name: a",
        "    command: [echo, x y]",
        "    schedule: '*/5 * * * *'",
        "    description: |",
        "      a",
        "      b",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2026-11-15", "2026-11-15"),
        ("a: 0x1f", 31),
        ("a: -7", -7),
        ("a: 1.5e+3", 1500.0),
        ("a: TRUE", True),
        ("a: !!str 7", "7"),
        ("a: &x [1]", [1]),
        ("b: &x [1]\na: *x", [1]),
        ("enabled: on\na: 1", 1),
        ("\ufeffa: 1", 1),
    ],
)
def test_what_is_clear_is_read(text: str, value: object) -> None:
    assert read_yaml(text.encode(), "f.yaml", flags=frozenset({"enabled"})).value["a"] == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: .inf", "f.yaml:1:4: .inf is no number that can be stored: quote it"),
        ("a: 1.0e+400", "f.yaml:1:4: 1.0e+400 is no number that can be stored"),
        ("a: !!binary x", "f.yaml:1:4: has the tag tag:yaml.org,2002:binary"),
        ("a: !mine {b: 1}", "f.yaml:1:4: has the tag !mine"),
        ("a: &x [*x]", "f.yaml:1:4: is an alias of what it stands in"),
        ("<<: {a: 1}", "f.yaml:1:1: is a merge key"),
        ("? [a]\n: 1", "f.yaml:1:3: a key must be a text"),
        ("a: 1\n---\nb: 1", "f.yaml:2:1: begins a second document"),
        ("a: [1\nb: 2", "f.yaml:2:2: a list or an object is not closed; it begins in line 1"),
        ("a: b: c", "f.yaml:1:5: has a colon where none is expected"),
        ("x: ? y", "f.yaml:1:4: is not YAML: mapping keys are not allowed here"),
        ("a: *nope", 'f.yaml:1:4: a text that begins with * is an alias to YAML: quote it, a: "*nope"'),
        ("a: \x01", "f.yaml:1: holds the character '\\x01', which YAML does not allow"),
        ("a: " + "[" * 1_000 + "]" * 1_000, "f.yaml:1:103: is nested more than 100 deep: write it flatter"),
        ("[" * 200_000, "f.yaml:1:101: is nested more than 100 deep"),
        ("{a: " * 200_000, "f.yaml:1:401: is nested more than 100 deep"),
        ("- " * 200_000, "f.yaml:1:201: is nested more than 100 deep"),
        ('a: !!float "' + "[" * 200_000 + '"', f"f.yaml:1:4: {'[' * 40}… is no number that can be stored"),
        ("a: " + "9" * 5_000, f"f.yaml:1:4: {'9' * 40}… is no number that can be stored: quote it"),
        ("a: 0x" + "f" * 5_000, "f.yaml:1:4: 0xffff"),
        ("a: 0b" + "1" * 20_000, "f.yaml:1:4: 0b1111"),
        ("a: " + "1:" * 3_000 + "1.5", "f.yaml:1:4: 1:1:1:1"),
        ("a: !!int x", "f.yaml:1:4: x is no number that can be stored"),
        ("a: !!int ''", "f.yaml:1:4:  is no number that can be stored"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_yaml(text.encode(), "f.yaml")
    assert str(refused.value).startswith(said)


def test_aliases_may_not_nest_without_end_either() -> None:
    nested = "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 2_000))
    with pytest.raises(InvalidInput, match="is nested more than 100 deep"):
        read_yaml(f"a0: &a0 [1]\n{nested}".encode(), "f.yaml")


def test_what_never_ends_is_not_read_to_its_end() -> None:
    with pytest.raises(InvalidInput, match="/dev/zero: is larger than 8 MiB: divide it into several"):
        read_sets(["/dev/zero"])


def test_aliases_of_aliases_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert yaml_reading.MOST_VALUES >= 100_000
    monkeypatch.setattr(yaml_reading, "MOST_VALUES", 1_000)
    doubled = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12))
    with pytest.raises(InvalidInput, match="its aliases hold too much"):
        read_yaml(f"a0: &a0 [1, 2]\n{doubled}".encode(), "f.yaml")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Any) -> None:
    with pytest.raises(InvalidInput, match="there is no file or folder"):
        read_sets([str(tmp_path / "none.yaml")])
