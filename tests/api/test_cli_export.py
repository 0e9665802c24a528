"""`hourhand export` against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from api.cli import run_here
from api.shell import Shell, load
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with Served(tmp_path_factory.mktemp("apply")) as served:
        yield Shell(served)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a set that no other test has."""
    return str(request.node.name).replace("[", "-").replace("]", "")[5:45]


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


def test_an_export_is_for_its_owner_alone(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name)))
    written = hourhand.folder / f"{name}-out.yaml"
    ours = ("export", "-o", written.name, "--managed-by", f"file:{name}")
    hourhand.done(*ours)
    assert written.stat().st_mode & 0o777 == 0o600
    written.write_text("x\n")
    written.chmod(0o644)
    hourhand.done(*ours, "--force")
    assert (written.stat().st_mode & 0o777, written.read_text()[:1]) == (0o600, "#")
    assert [one.name for one in hourhand.folder.glob(f".{name}*")] == []


def test_an_export_never_follows_a_link(hourhand: Shell, name: str) -> None:
    hourhand.done("apply", "-f", hourhand.file(name, load(name)))
    link, elsewhere = hourhand.folder / f"{name}-link.yaml", hourhand.folder / f"{name}-elsewhere"
    link.symlink_to(elsewhere)
    ours = ("export", "-o", link.name, "--managed-by", f"file:{name}")
    assert "exists already" in hourhand.refused(*ours, code=1)
    assert not elsewhere.exists()
    elsewhere.write_text("mine\n")
    hourhand.done(*ours, "--force")
    assert (link.is_symlink(), elsewhere.read_text()) == (False, "mine\n")


def test_so_is_an_import_and_it_follows_no_link_either(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text("0 2 * * * true\n")
    asked = ("import", "crontab", "crontab", "--user", "-o")
    assert run_here(tmp_path, *asked, "tasks.yaml").code == 0
    assert (tmp_path / "tasks.yaml").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link.yaml").symlink_to(tmp_path / "elsewhere")
    ran = run_here(tmp_path, *asked, "link.yaml")
    assert (ran.code, "is there already" in ran.err) == (2, True)
    assert not (tmp_path / "elsewhere").exists()
