"""`hourhand apply` and `hourhand export` against a real server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from api.at_a_terminal import asked
from api.cli import Ran, Terminal, run
from hourhand.api.task_file_schema import task_file_schema
from serving import Served


class Shell(Terminal):
    """Somebody with a folder of files."""

    @property
    def folder(self) -> Path:
        return self.served.folder

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return name

    def file(self, stem: str, /, *tasks: dict[str, Any], **more: Any) -> str:
        return self.write(f"{stem}.yaml", yaml.safe_dump({**more, "tasks": list(tasks)}))

    def piped(self, text: str, *arguments: str) -> Ran:
        with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()))):
            return self(*arguments)

    def managed(self, owner: str) -> dict[str, Any]:
        found = self.done("task", "list", "--json").json["items"]
        return {one["name"]: one for one in found if one["managed_by"] == owner}


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with Served(tmp_path_factory.mktemp("apply")) as served:
        yield Shell(served)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a set that no other test has."""
    return str(request.node.name).replace("[", "-").replace("]", "")[5:45]


def load(name: str, **more: Any) -> dict[str, Any]:
    return {"name": f"{name}-load", "command": ["true"], **more}


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
    assert hourhand.done("apply", "-f", file, "--prune").out == f"- delete {name}-load\nfile:{name}: 1 deleted\n"
    assert hourhand.managed(f"file:{name}") == {}


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


def test_standard_input_is_read_and_needs_a_name(hourhand: Shell, name: str) -> None:
    text = f"tasks: [{{name: {name}-load, command: [ls]}}]\n"
    ran = hourhand.piped(text, "apply", "-f", "-")
    assert (ran.code, ran.err) == (2, "Error: standard input: name: is missing: what comes by - needs one\n")
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
    file = hourhand.file(name, load(name, priority=1))
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


# Export


def test_what_is_exported_is_applied_without_a_change(hourhand: Shell, name: str) -> None:
    hourhand("group", "add", f"{name}-group")
    tasks = [
        load(name, description="line\nline", tags=["on", "12:30"], payload={"env": {"A": "no"}}),
        {"name": f"{name}-shell", "command": "ls | wc", "schedule": "*/5 * * * *", "group": f"{name}-group"},
        {"name": f"{name}-call", "url": "http://127.0.0.1:1/", "depends_on": [f"{name}-load"], "enabled": False},
        {"name": f"{name}-xxl", "type": "xxl", "payload": {"handler": "h"}},
    ]
    hourhand.done("apply", "-f", hourhand.file(name, *tasks))
    ran = hourhand("export", "--managed-by", f"file:{name}")
    assert ran.err == f"What looks like a secret is written as it is, of: '{name}-load'\n"
    head, _, _ = ran.out.partition("\n")
    assert head == f"# yaml-language-server: $schema={hourhand.served.address}/api/v1/task-file.schema.json"
    read = yaml.safe_load(ran.out)
    assert (read["name"], read["groups"]) == (name, [f"{name}-group"])
    assert {one["name"]: one for one in read["tasks"]} == {one["name"]: one for one in tasks}
    file = hourhand.write(f"{name}-exported.yaml", ran.out)
    assert hourhand.done("apply", "-f", file).out == f"file:{name}: 4 unchanged\n"


def test_a_folder_gets_a_file_for_each_group(hourhand: Shell, name: str) -> None:
    group = f"{name} group/1"
    hourhand.done("apply", "-f", hourhand.file(name, load(name), load(f"{name}2", group=group), groups=[group]))
    out = hourhand.done("export", "-o", f"{name}-out/", "--managed-by", f"file:{name}").out
    fit = group.replace(" ", "-").replace("/", "-")
    assert out == f"{name}-out/{fit}.yaml is written.\n{name}-out/default.yaml is written.\n"
    assert hourhand.done("apply", "-f", f"{name}-out").out == f"file:{name}: 2 unchanged\n"
    said = hourhand.refused("export", "-o", f"{name}-out", "--managed-by", f"file:{name}", code=1)
    assert "exists already: choose another place, or overwrite it (--force)" in said
    hourhand.done("export", "-o", f"{name}-out", "--managed-by", f"file:{name}", "--force")


def test_by_default_those_are_exported_that_nobody_else_manages(hourhand: Shell, name: str) -> None:
    group = f"{name}-group"
    hourhand.done("apply", "-f", hourhand.file(name, load(name, group=group), groups=[group]))
    hourhand.done("task", "add", f"{name}-mine", "--command", "true", "--group", group)

    def exported(*options: str) -> list[str]:
        return [one["name"] for one in yaml.safe_load(hourhand("export", "--group", group, *options).out)["tasks"]]

    assert exported() == [f"{name}-mine"]
    assert f"1 task of file:{name} left out: --managed-by OWNER, or --all" in hourhand("export", "--group", group).err
    assert exported("--all") == exported("--name", name) == [f"{name}-load", f"{name}-mine"]
    assert hourhand("export", "--managed-by", "file:nobody").err == "There are no such tasks.\n"
    assert "--all: is given together with --managed-by" in hourhand.refused(
        "export", "--all", "--managed-by", "x", code=2
    )


def test_dependencies_out_of_the_group_are_named_and_deleted_ones_left_out(hourhand: Shell, name: str) -> None:
    group = f"{name}-group"
    hourhand("group", "add", group)
    for each in ("up", "lost"):
        hourhand.done("task", "add", f"{name}-{each}", "--command", "true")
    both = ("--depends-on", f"{name}-up", "--depends-on", f"{name}-lost")
    hourhand.done("task", "add", f"{name}-load", "--command", "true", "--group", group, *both)
    hourhand.done("task", "delete", f"{name}-lost", "--force")
    ran = hourhand("export", "--group", group)
    assert yaml.safe_load(ran.out)["tasks"][0]["depends_on"] == [f"{name}-up"]
    assert "which is left out: there is no task" in ran.err


def test_masks_are_never_written_into_a_file(hourhand: Shell, name: str) -> None:
    secret = load(name, payload={"env": {"API_KEY": "canary"}})
    hourhand.done("apply", "-f", hourhand.file(name, secret))
    token = hourhand("token", "create", name, "--role", "viewer", "--json").json["token"]
    ran = hourhand("export", "--managed-by", f"file:{name}", HOURHAND_TOKEN=token)
    assert (ran.code, ran.out) == (1, "")
    assert "has values that are hidden from the role viewer" in ran.err
    assert "canary" not in ran.err


def test_what_cannot_be_written_is_said(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name)))
    hourhand.write(f"{name}-file", "x\n")
    said = hourhand.refused("export", "-o", f"{name}-file/x.yaml", "--managed-by", f"file:{name}", code=1)
    assert "cannot be written" in said
