"""`hourhand apply` against a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.at_a_terminal import asked
from api.cli import run
from api.shell import Shell, load
from hourhand.api.task_file_schema import task_file_schema
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with Served(tmp_path_factory.mktemp("apply")) as served:
        yield Shell(served)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a set that no other test has."""
    return str(request.node.name).replace("[", "-").replace("]", "")[5:45]


def test_a_file_is_applied_and_again_changes_nothing(hourhand: Shell, name: str) -> None:
    file = hourhand.write(
        f"{name}.yaml",
        f"""
groups: [{name}-group]
tasks:
  - name: {name}-report
    url: http://127.0.0.1:1/
    schedule: "@upstream"
    depends_on: [{name}-load]
    group: {name}-group
  - name: {name}-load
    command: [python3, -c, "print('hi')"]
    schedule: 0 2 * * *
    timezone: Asia/Shanghai
""",
    )
    assert hourhand.done("apply", "-f", file).out.splitlines() == [
        f"+ group {name}-group",
        f"+ create {name}-report",
        f"+ create {name}-load",
        f"file:{name}: 2 created",
    ]
    assert hourhand.done("apply", "-f", file).out == f"file:{name}: 2 unchanged\n"
    made = hourhand.managed(f"file:{name}")
    assert made[f"{name}-load"]["payload"] == {"command": ["python3", "-c", "print('hi')"]}
    assert made[f"{name}-report"]["dependency_ids"] == [made[f"{name}-load"]["id"]]
    assert f"file:{name}" in hourhand.done("task", "list", "-q", name).out
    assert f"file:{name}" in hourhand.done("task", "show", f"{name}-load").out


def test_an_edit_is_shown_field_by_field(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name)))
    file = hourhand.file(name, load(name, priority=1, description="x" * 500))
    for option in ("--dry-run", "--yes"):
        lines = hourhand.done("apply", "-f", file, option).out.splitlines()
        assert lines[0] == f"~ edit {name}-load"
        assert lines[1].startswith('    description: null → "xxx')
        assert lines[1].endswith("…")
        assert lines[2] == "    priority: 5 → 1"
        assert lines[3] == f"file:{name}: 1 edited{' (nothing was changed)' * (option == '--dry-run')}"


def test_check_fails_when_the_store_differs(hourhand: Shell, name: str) -> None:
    file = hourhand.file(name, load(name))
    checked = hourhand("apply", "-f", file, "--check")
    assert (checked.code, checked.err) == (1, "The store is not as the files say.\n")
    assert f"+ create {name}-load" in checked.out
    assert hourhand.managed(f"file:{name}") == {}
    hourhand.done("apply", "-f", file)
    hourhand.done("apply", "-f", file, "--check")
    assert hourhand("apply", "-f", hourhand.file(name), "--check").code == 1


def test_what_is_gone_is_named_and_pruned_when_asked_for(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name)))
    file = hourhand.file(name)
    assert hourhand.done("apply", "-f", file).out.startswith(f"! gone {name}-load: it is no longer in the file")
    assert hourhand.managed(f"file:{name}").keys() == {f"{name}-load"}
    deleted = f"- delete {name}-load: it is no longer in the file\nfile:{name}: 1 deleted"
    named = ("apply", "-f", file, "--prune", "--name", name)
    assert hourhand.done(*named, "--dry-run").out == f"{deleted} (nothing was changed)\n"
    assert hourhand.done(*named, "--yes").out == f"{deleted}\n"
    assert hourhand.managed(f"file:{name}") == {}


def test_what_is_pruned_is_a_set_that_somebody_has_named(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(f"ours/{name}", load(name)))
    theirs = hourhand.file(f"theirs/{name}", load(f"{name}-theirs"))
    for option in ("--yes", "--dry-run"):
        said = hourhand.refused("apply", "-f", theirs, "--prune", option, code=2)
        assert f"'{theirs}' does not say which set it is: write name: {name} at its top, or give --name {name}" in said
    assert hourhand.managed(f"file:{name}").keys() == {f"{name}-load"}


def test_nothing_is_pruned_unasked(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name)))
    said = hourhand.refused("apply", "-f", hourhand.file(name, name=name), "--prune", code=2)
    assert "--prune: deletes tasks, and there is no terminal to ask at: add --yes" in said
    assert hourhand.managed(f"file:{name}").keys() == {f"{name}-load"}
    hourhand.done("apply", "-f", f"{name}.yaml", "--prune", "--yes")


def test_drift_is_shown_and_put_back(hourhand: Shell, name: str) -> None:
    file = hourhand.file(name, load(name))
    hourhand.done("apply", "-f", file)
    edited = hourhand("task", "edit", f"{name}-load", "--priority", "9")
    assert (edited.code, edited.err[:60]) == (0, f"'{name}-load' is managed by file:{name}: the next"[:60])
    assert "puts it back" in hourhand("task", "disable", f"{name}-load").err
    out = hourhand.done("apply", "-f", file).out
    assert "  ! drift: admin changed enabled, priority at 20" in out
    assert "puts it back" in hourhand("task", "delete", f"{name}-load").err
    assert "  ! drift: admin deleted it at 20" in hourhand.done("apply", "-f", file).out


def test_an_adopted_task_is_so_from_then_on(hourhand: Shell, name: str) -> None:
    hourhand.done("task", "add", f"{name}-load", "--command", "true")
    assert hourhand.done("task", "disable", f"{name}-load")
    out = hourhand.done("apply", "-f", hourhand.file(name, load(name))).out
    assert out.startswith(f"~ adopt {name}-load\n    enabled: false → true\n")
    assert hourhand.managed(f"file:{name}")


def test_a_task_of_another_file_is_refused_unless_it_is_taken_over(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name), name=f"{name}-first"))
    file = hourhand.file(name, load(name))
    seen = hourhand("apply", "-f", file, "--dry-run")
    assert (seen.code, seen.out.startswith(f"! refused {name}-load: it is managed by file:{name}-first")) == (1, True)
    assert "take it over (--take-over" in seen.out
    said = hourhand.refused("apply", "-f", file, code=1)
    assert f"nothing was applied: '{name}-load': it is managed by file:{name}-first" in said
    assert f"taken over from file:{name}-first" in hourhand.done("apply", "-f", file, "--take-over").out


def test_a_folder_is_one_set(hourhand: Shell, name: str) -> None:
    hourhand.write(f"{name}/b.yml", f"tasks: [{{name: {name}-b, command: [ls], depends_on: [{name}-a]}}]\n")
    hourhand.write(f"{name}/deeper/a.yaml", f"tasks: [{{name: {name}-a, command: [ls]}}]\n")
    hourhand.write(f"{name}/notes.txt", "nothing\n")
    assert hourhand.done("apply", "-f", name).out.splitlines()[-1] == f"file:{name}: 2 created"
    hourhand.write(f"{name}/c.yaml", f"name: {name}-other\ntasks: []\n")
    assert hourhand.done("apply", "-f", name, "--dry-run", "--take-over").out.endswith("(nothing was changed)\n")
    hourhand.write(f"{name}/d.yaml", "name: third\ntasks: []\n")
    said = hourhand.refused("apply", "-f", name, code=2)
    assert f"{name}/d.yaml:1: name: 'third' is not the name that {name}/c.yaml says" in said


def test_several_files_are_sets_of_their_own_unless_they_say_the_same_name(hourhand: Shell, name: str) -> None:
    first, second = hourhand.file(f"{name}1", load(f"{name}1")), hourhand.file(f"{name}2", load(f"{name}2"))
    answers = hourhand.done("apply", "-f", first, "-f", second, "--json").json
    assert [(one["name"], len(one["changes"])) for one in answers] == [(f"{name}1", 1), (f"{name}2", 1)]
    together = [hourhand.file(f"{name}{n}", load(f"{name}{n}"), name=name) for n in (1, 2)]
    one = hourhand.done("apply", "-f", together[0], "-f", together[1], "--take-over", "--json").json
    assert (one["name"], one["applied"], len(one["changes"])) == (name, True, 2)


def test_files_of_the_same_name_are_not_one_set_unless_they_say_so(hourhand: Shell, name: str) -> None:
    first, second = hourhand.file(f"a/{name}", load(f"{name}1")), hourhand.file(f"b/{name}", load(f"{name}2"))
    both = ("apply", "-f", first, "-f", second)
    said = hourhand.refused(*both, code=2)
    assert f"'{first}' and '{second}' would both be the set '{name}': write a name: into each" in said
    one = hourhand.done(*both, "--name", f"{name}-both", "--json").json
    assert (one["name"], len(one["changes"])) == (f"{name}-both", 2)
    said = hourhand.refused(*both, "-f", hourhand.file(f"{name}3", name="third"), "--name", name, code=2)
    assert f"{name}3.yaml:1: name: 'third' is not the name that --name says ('{name}')" in said


@pytest.mark.parametrize("turned", [False, True])
def test_sets_come_after_those_they_depend_on(hourhand: Shell, name: str, *, turned: bool) -> None:
    group = f"{name}-group"
    first = hourhand.file(f"{name}1", load(f"{name}1"), groups=[group])
    after = load(f"{name}2", depends_on=[f"{name}1-load"], group=group)
    second = hourhand.file(f"{name}2", after, groups=[group])
    third = hourhand.file(f"{name}3", load(f"{name}3", depends_on=[f"{name}2-load"], group=group))
    files = [each for file in sorted([first, second, third], reverse=turned) for each in ("-f", file)]
    seen = hourhand.done("apply", *files, "--dry-run").out.splitlines()
    assert seen == [
        f"+ group {group}",
        f"+ create {name}1-load",
        f"file:{name}1: 1 created (nothing was changed)",
        f"+ create {name}2-load",
        f"file:{name}2: 1 created (nothing was changed)",
        f"+ create {name}3-load",
        f"file:{name}3: 1 created (nothing was changed)",
    ]
    done = hourhand.done("apply", *files).out.splitlines()
    assert done == [line.removesuffix(" (nothing was changed)") for line in seen]


def test_sets_that_depend_on_each_other_are_refused_by_what_is_missing(hourhand: Shell, name: str) -> None:
    first = hourhand.file(f"{name}1", load(f"{name}1", depends_on=[f"{name}2-load"]), load(f"{name}1b"))
    second = hourhand.file(f"{name}2", load(f"{name}2"), load(f"{name}2b", depends_on=[f"{name}1b-load"]))
    for options in ([], ["--dry-run"]):
        said = hourhand.refused("apply", "-f", first, "-f", second, *options, code=2)
        assert f"it depends on '{name}2-load', and there is no task of that name" in said
    assert hourhand.done("apply", "-f", hourhand.file(f"{name}2", load(f"{name}2")))
    assert hourhand.done("apply", "-f", first)
    hourhand.file(f"{name}2", load(f"{name}2"), load(f"{name}2b", depends_on=[f"{name}1b-load"]))
    assert hourhand.done("apply", "-f", first, "-f", second, "--dry-run")


def test_standard_input_is_read_and_needs_a_name(hourhand: Shell, name: str) -> None:
    text = f"tasks: [{{name: {name}-load, command: [ls]}}]\n"
    ran = hourhand.piped(text, "apply", "-f", "-")
    assert (ran.code, ran.err) == (
        2,
        "Error: standard input: name: is missing: what comes by - needs one, there or by --name\n",
    )
    ran = hourhand.piped(f"name: {name}\n{text}", "apply", "-f", "-")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"file:{name}: 1 created")


NO_TYPE = "is required: say what to run by command, url or handler, or give type and payload"
WRONG = [
    (
        "schedule: */5 * * * *",
        '3:16: a text that begins with * is an alias to YAML: quote the schedule, schedule: "*/5',
    ),
    ("schedule: @daily", "3:15: a text cannot begin with '@' in YAML: quote it, schedule: \"@daily\""),
    ("\tschedule: x", "3:1: is indented with a tab: YAML wants spaces"),
    ("command: [echo]", "3:5: the key 'command' is there twice; the first is in line 2: remove one"),
    ("description: on", '3:18: on means true to YAML: write true, or quote it, "on"'),
    ("concurrency_key: 12:30", '3:22: 12:30 is the number 750 to YAML: write that, or quote it, "12:30"'),
    ("description: 'x", "5:1: a quoted text is not closed; it begins in line 3"),
    ("schedule: 61 * * * *", "3: task 'a' schedule: minute: '61' is out of range"),
    ("schedul: x", "3: task 'a' schedul: is not a field of a task; did you mean 'schedule'?"),
    ("priority: 12", "3: task 'a' priority: 12 is out of range: give 0 to 9"),
    ("depends_on: [nobody]", "3: task 'a' depends_on: it depends on 'nobody', and there is no task of that name"),
    ("group: nowhere", "3: task 'a' group: there is no group 'nowhere': list it under groups"),
    ("payload: {env: {A: 1}}", "3: task 'a' payload.env: must be an object of texts"),
    ("url: http://x", "3: task 'a' url: is given together with command"),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[line for line, _ in WRONG])
def test_what_is_wrong_is_told_with_its_file_and_line(hourhand: Shell, line: str, said: str) -> None:
    indent = "" if line.startswith("\t") else "    "
    file = hourhand.write("wrong.yaml", f"tasks:\n  - command: [ls]\n{indent}{line}\n    name: a\n")
    assert f"Error: wrong.yaml:{said}" in hourhand.refused("apply", "-f", file, code=2)


def test_everything_that_is_wrong_in_any_file_is_told_at_once(hourhand: Shell) -> None:
    hourhand.write("bad/a.yaml", "tasks: [{name: x}]\nunknown: 1\n")
    hourhand.write("bad/b.yaml", "- 1\n")
    hourhand.write("bad/c.yaml", "")
    hourhand.write("bad/d.yaml", "name: 7\ngroups: x\ntasks: x\n")
    (hourhand.folder / "bad" / "e.yaml").write_bytes(b"tasks: []\n# \xff\n")
    said = hourhand.refused("apply", "-f", "bad", "-f", "nothing.yaml", code=2).splitlines()
    assert [line.partition(": ")[2][:46] for line in said] == [
        "bad/a.yaml:2:1: the key 'unknown' is not known: there are name, groups, tasks"[:46],
        "bad/b.yaml: holds [1]: write the keys name, groups, tasks"[:46],
        "bad/c.yaml: is empty: write the keys name, groups, tasks"[:46],
        "bad/d.yaml:1: name: 7 is not a text",
        "bad/d.yaml:2: groups: 'x' is not a list of texts"[:46],
        "bad/d.yaml:3: tasks: 'x' is not a list of tasks"[:46],
        "bad/e.yaml:2: is not text: save it as UTF-8",
        "--file: there is no file or folder 'nothing.yaml'"[:46],
    ]


def test_errors_of_several_files_of_a_set_name_their_own(hourhand: Shell, name: str) -> None:
    hourhand.write(f"{name}/a.yaml", f"tasks:\n  - name: {name}-a\n    command: [ls]\n  - name: {name}-b\n")
    hourhand.write(f"{name}/b.yaml", f"tasks:\n  - name: {name}-a\n    command: [ls]\n  - 7\n")
    assert hourhand.refused("apply", "-f", name, code=2).splitlines() == [
        f"Error: {name}/a.yaml:4: task '{name}-b' type: {NO_TYPE}",
        f"Error: {name}/b.yaml:2: task '{name}-a' name: two tasks are named '{name}-a': rename or remove one",
        f"Error: {name}/b.yaml:4: 7 is not an object: give a task's fields, at least its name",
    ]


def test_wrong_usage_says_what_is_missing(hourhand: Shell) -> None:
    assert "--file: is missing: name a task file" in hourhand.refused("apply", code=2)
    (hourhand.folder / "empty").mkdir()
    assert "holds no file that ends with .yaml or .yml" in hourhand.refused("apply", "-f", "empty", code=2)


def test_the_schema_needs_no_server(tmp_path: Path) -> None:
    ran = run(tmp_path, "apply", "--schema", HOURHAND_URL="http://127.0.0.1:1")
    assert (ran.code, ran.json) == (0, json.loads(json.dumps(task_file_schema())))


# At a terminal


def test_at_a_terminal_it_asks_before_something_is_lost(hourhand: Shell, name: str) -> None:
    old = load(f"{name}-old")
    hourhand.done("apply", "-f", hourhand.file(name, load(name), old))
    file = hourhand.file(name, load(name, priority=1), name=name)
    done = asked(hourhand, "apply", "-f", file, answers=[])
    assert (done.code, "1 edited, 1 gone from the file" in done.screen) == (0, True)
    hourhand("task", "edit", f"{name}-load", "--priority", "9")
    question = f"Delete '{name}-old-load' and undo what admin did to '{name}-load'?"
    no = asked(hourhand, "apply", "-f", file, "--prune", answers=[(question, "n")])
    assert (no.code, "Nothing was changed" in no.screen) == (1, True)
    assert len(hourhand.managed(f"file:{name}")) == 2
    yes = asked(hourhand, "apply", "-f", file, "--prune", answers=[(question, "y")])
    assert (yes.code, "1 edited, 1 deleted" in yes.screen) == (0, True)
    assert hourhand.managed(f"file:{name}")[f"{name}-load"]["priority"] == 1


def test_at_a_terminal_what_is_refused_is_shown_and_not_tried(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name), name=f"{name}-first"))
    seen = asked(hourhand, "apply", "-f", hourhand.file(name, load(name)), answers=[])
    assert (seen.code, "1 refused (nothing was changed)" in seen.screen) == (1, True)
