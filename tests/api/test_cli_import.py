"""`hourhand import crontab` against a real server: what each line becomes, twice, and really fires."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pwd
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
import yaml

from api.cli import Ran, Terminal, run, run_here
from serving import Served

PATIENCE = 150
EVERY_MINUTE = 'GREETING=good morning\n* * * * * echo "$GREETING from $PWD"; cat%first%second\n'
CRONTAB = """\
MAILTO=ops@example.com
# Every night
0 2 * * * /opt/{0}.sh
@reboot /opt/start
0 4 * * 1-5 /opt/{0}.sh weekly
"""


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("cli")) as served:
        terminal = Terminal(served)
        # Imported first, so that its minute has come when the last test asks for it.
        (served.folder / "minutely").write_text(EVERY_MINUTE)
        terminal.done("import", "crontab", "minutely", "--prefix", "minutely-")
        yield terminal


@pytest.fixture
def crontab(hourhand: Terminal, request: pytest.FixtureRequest) -> str:
    """Write a crontab whose commands are this test's own; return its script's name."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:40]
    (hourhand.served.folder / "crontab").write_text(CRONTAB.format(name))
    return str(name)


def tasks(hourhand: Terminal, name: str) -> list[str]:
    return [task["name"] for task in hourhand.done("task", "list", "-q", name, "--json").json["items"]]


def test_every_line_becomes_a_task_or_is_named_with_the_reason(hourhand: Terminal, crontab: str) -> None:
    ran = hourhand("import", "crontab", "crontab", "--timezone", "Asia/Shanghai")
    assert (ran.code, ran.err) == (1, "")
    assert re.search("At 04:00 on Monday to Friday +Asia/Shanghai +20..-..-.. 20:00:00Z +added", ran.out)
    assert "line 1: MAILTO=ops@example.com: no mail is sent" in ran.out
    assert "line 4: @reboot /opt/start\n    fires at the start of a machine" in ran.out
    assert "2 tasks added, 1 line not imported." in ran.out
    assert ran.out.endswith("\n  sed -i.bak '3s/^/#/;5s/^/#/' crontab\n")
    task = hourhand.done("task", "show", crontab, "--json").json
    assert task["payload"] == {"command": f"/opt/{crontab}.sh", "cwd": pwd.getpwuid(os.getuid()).pw_dir}
    assert (task["schedule"], task["timezone"], task["description"]) == ("0 2 * * *", "Asia/Shanghai", "Every night")
    assert (task["overlap_policy"], task["managed_by"]) == ("parallel", None)
    assert tasks(hourhand, crontab) == [crontab, f"{crontab}-weekly"]


def test_a_second_import_changes_nothing(hourhand: Terminal, crontab: str) -> None:
    hourhand("import", "crontab", "crontab")
    hourhand.done("task", "edit", f"{crontab}-weekly", "--schedule", "@weekly")
    ran = hourhand("import", "crontab", "crontab")
    assert "2 already there, 1 line not imported." in ran.out
    assert f"line 5: {crontab}-weekly: is there already, with another schedule: it stays as it is" in ran.out
    assert tasks(hourhand, crontab) == [crontab, f"{crontab}-weekly"]
    assert hourhand.done("task", "show", crontab, "--json").json["version"] == 1
    assert hourhand.done("task", "show", f"{crontab}-weekly", "--json").json["schedule"] == "@weekly"


def test_a_name_that_is_somebody_elses_is_not_touched(hourhand: Terminal, crontab: str) -> None:
    hourhand.done("task", "add", crontab, "--command", "true")
    ran = hourhand("import", "crontab", "crontab", "--json")
    assert ran.code == 1
    assert [one["line"] for one in ran.json["refused"]] == [3, 4]
    assert "give --prefix" in ran.json["refused"][0]["reason"]
    assert [one["task"]["name"] for one in ran.json["tasks"]] == [f"{crontab}-weekly"]
    again = hourhand("import", "crontab", "crontab", "--json", "--prefix", "old-")
    assert [(one["state"], one["task"]["name"]) for one in again.json["tasks"]] == [
        ("added", f"old-{crontab}"),
        ("added", f"old-{crontab}-weekly"),
    ]


def test_a_group_that_there_is_not_is_refused_before_anything_is_made(hourhand: Terminal, crontab: str) -> None:
    assert "there is no group 'nowhere'" in hourhand.refused(
        "import", "crontab", "crontab", "--group", "nowhere", code=1
    )
    assert tasks(hourhand, crontab) == []


def test_who_may_not_write_shell_commands_may_not_import_them(hourhand: Terminal, crontab: str) -> None:
    token = hourhand.done("token", "create", crontab, "--role", "editor", "--json").json["token"]
    ran = hourhand("import", "crontab", "crontab", HOURHAND_TOKEN=token)
    assert (ran.code, ran.out) == (1, "")
    assert "admin" in ran.err
    assert tasks(hourhand, crontab) == []


@contextlib.contextmanager
def between(served: Served, *, before: Callable[[], object] = lambda: None, cut: bool = False) -> Iterator[str]:
    """Stand between the CLI and the server: do something before tasks are made, or cut the answer off."""

    class Between(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(self._asked())

        def do_POST(self) -> None:
            before()
            answer = self._asked()
            if cut:
                self.close_connection = True
            else:
                self._answer(answer)

        def _asked(self) -> httpx.Response:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            with served.client() as client:
                kind = {"Content-Type": "application/json"}
                return client.request(self.command, self.path, content=body, headers=kind)

        def _answer(self, found: httpx.Response) -> None:
            self.send_response(found.status_code)
            self.send_header("Content-Type", found.headers["Content-Type"])
            self.send_header("Content-Length", str(len(found.content)))
            self.end_headers()
            self.wfile.write(found.content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Between) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_when_one_task_is_refused_none_is_made(hourhand: Terminal, crontab: str) -> None:
    def take_the_second_name() -> None:
        hourhand.done("task", "add", f"{crontab}-weekly", "--command", "true")

    with between(hourhand.served, before=take_the_second_name) as address:
        ran = run_here(hourhand.served.folder, "import", "crontab", "crontab", HOURHAND_URL=address)
    assert (ran.code, ran.out) == (1, "")
    assert f"{crontab}-weekly" in ran.err
    assert tasks(hourhand, crontab) == [f"{crontab}-weekly"]


def test_when_the_answer_does_not_come_another_import_finds_what_was_made(hourhand: Terminal, crontab: str) -> None:
    with between(hourhand.served, cut=True) as address:
        ran = run_here(hourhand.served.folder, "import", "crontab", "crontab", HOURHAND_URL=address)
    assert (ran.code, ran.out) == (1, "")
    assert "2 already there, 1 line not imported." in hourhand("import", "crontab", "crontab").out
    assert tasks(hourhand, crontab) == [crontab, f"{crontab}-weekly"]


def test_tasks_can_be_imported_without_firing_yet(hourhand: Terminal, crontab: str) -> None:
    hourhand("import", "crontab", "crontab", "--disabled")
    assert hourhand.done("task", "show", crontab, "--json").json["enabled"] is False


def test_a_dry_run_needs_no_server_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text("@daily /opt/a.sh\n")
    ran = run(tmp_path, "import", "crontab", "crontab", "--dry-run", HOURHAND_URL="http://127.0.0.1:1")
    assert (ran.code, ran.err) == (0, "")
    assert "1 task would be added." in ran.out
    assert list(tmp_path.iterdir()) == [tmp_path / "crontab"]


def from_stdin(folder: Path, text: str, *arguments: str, dry: str = "--dry-run") -> Ran:
    with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()))):
        return run_here(folder, "import", "crontab", "-", *([dry] if dry else []), *arguments)


def test_how_to_switch_cron_off_is_about_the_text_that_was_read(hourhand: Terminal, crontab: str) -> None:
    folder = hourhand.served.folder
    text = f"# mine\n@daily {crontab}\n@weekly {crontab} b\n\n@weekly {crontab} c\n"
    own = from_stdin(folder, text, dry="").out
    assert own.endswith("\n  crontab -l | sed '2,3s/^/#/;5s/^/#/' | crontab -\n")
    somebodys = from_stdin(folder, text, "--user-name", "some body", dry="").out
    command = "\n  crontab -u 'some body' -l | sed '2,3s/^/#/;5s/^/#/' | crontab -u 'some body' -\n"
    assert somebodys.endswith(command)
    text = text.replace("ly ", "ly root ")
    of_all = from_stdin(folder, text, "--system", dry="").out
    assert "Next: comment out what was imported, where cron reads it (lines 2-3, 5)" in of_all
    assert "crontab -" not in of_all
    (folder / "a copy").write_text(text)
    assert hourhand.done("import", "crontab", "a copy").out.endswith("\n  sed -i.bak '2,3s/^/#/;5s/^/#/' 'a copy'\n")


def test_standard_input_can_be_a_crontab(tmp_path: Path) -> None:
    ran = from_stdin(tmp_path, "@daily /opt/a.sh\n", "--json")
    (task,) = ran.json["tasks"]
    assert (task["line"], task["state"], task["task"]["name"]) == (1, "planned", "a")
    assert task["next_fire_at"].endswith("Z")
    assert ran.json["refused"] == ran.json["notes"] == []


def test_a_system_crontab_is_known_by_its_look_or_has_to_be_named(tmp_path: Path) -> None:
    (tmp_path / "system").write_text("17 * * * * root run-parts /etc/cron.hourly\n")
    ran = run_here(tmp_path, "import", "crontab", "system", "--dry-run")
    assert "line 1: cron-hourly: runs as the executor's user, not as root" in ran.out
    doubtful = from_stdin(tmp_path, "17 * * * * backup now\n")
    assert (doubtful.code, doubtful.out) == (2, "")
    assert "say --system or --user" in doubtful.err
    assert json.loads(from_stdin(tmp_path, "17 * * * * backup now\n", "--user", "--json").out)["tasks"][0]["task"][
        "payload"
    ]["command"] == ("backup now")
    named = from_stdin(tmp_path, "17 * * * * backup now\n", "--user", "--user-name", "backup")
    assert "not as backup" in named.out


def test_a_task_file_can_be_written_instead(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text("# Größe: 5 %\n*/5 * * * * /opt/a.sh 5\\%\n@daily b%in\n")
    ran = run_here(tmp_path, "import", "crontab", "crontab", "-o", "tasks.yaml", "--group", "billing")
    assert (ran.code, ran.err) == (0, "")
    assert "2 tasks written to tasks.yaml." in ran.out
    written = yaml.safe_load((tmp_path / "tasks.yaml").read_text())
    assert written["groups"] == ["billing"]
    assert [task["name"] for task in written["tasks"]] == ["a", "b"]
    assert written["tasks"][0]["description"] == "Größe: 5 %"
    assert (written["tasks"][0]["payload"]["command"], written["tasks"][1]["payload"]["stdin"]) == (
        "/opt/a.sh 5%",
        "in\n",
    )
    again = run_here(tmp_path, "import", "crontab", "crontab", "-o", "tasks.yaml")
    assert (again.code, again.out) == (2, "")
    assert "is there already" in again.err


def test_a_task_file_that_was_written_can_be_applied(hourhand: Terminal, crontab: str) -> None:
    folder = hourhand.served.folder
    (folder / "settings").write_text(f"SHELL=/bin/bash\nX=${{Y}}\n@daily {crontab} ${{Z}}%a\n*/5 * * * * {crontab}-b\n")
    hourhand.done("import", "crontab", "settings", "-o", "settings.yaml", "--group", "imported", "--timezone", "UTC")
    assert "2 created" in hourhand.done("apply", "-f", "settings.yaml").out
    task = hourhand.done("task", "show", crontab, "--json").json
    assert task["payload"]["command"] == ["/bin/bash", "-c", f"export X='${{Y}}'; {crontab} ${{Z}}"]
    assert (task["payload"]["stdin"], task["group"], task["overlap_policy"]) == ("a\n", "imported", "parallel")
    # Importing is for those who want no file: it finds them there.
    again = hourhand.done("import", "crontab", "settings", "--group", "imported", "--timezone", "UTC")
    assert "2 already there." in again.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "'nowhere' cannot be read: No such file or directory"),
        (("/",), "'/' cannot be read: Is a directory"),
        (("big",), "that is no crontab"),
        (("crontab", "--timezone", "Europe/Berlinn"), "did you mean Europe/Berlin"),
        (("crontab", "-o", "no/folder/x.yaml"), "cannot be written"),
    ],
)
def test_what_cannot_be_read_or_written_is_wrong_usage(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "crontab").write_text("@daily a\n")
    (tmp_path / "big").write_bytes(b"#" * 2_000_000)
    ran = run_here(tmp_path, "import", "crontab", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_crontab_of_comments_has_nothing_to_import(tmp_path: Path) -> None:
    ran = from_stdin(tmp_path, "# nothing here\n")
    assert ran.code == 0
    assert "Nothing to import." in ran.out


def test_an_imported_line_fires_as_cron_would_fire_it(hourhand: Terminal) -> None:
    deadline = time.monotonic() + PATIENCE
    ended: list[dict[str, object]] = []
    while not ended and time.monotonic() < deadline:
        listed = hourhand.done("instance", "list", "--task", "minutely-cat", "--json").json["items"]
        ended = [one for one in listed if one["status"] in ("success", "failed")]
        time.sleep(0.5)
    assert ended, "it did not fire"
    assert ended[0]["triggered_by"] == "scheduler"
    home = pwd.getpwuid(os.getuid()).pw_dir
    said = hourhand.done("instance", "logs", str(ended[0]["id"])).out
    assert said.splitlines() == [f"good morning from {home}", "first", "second"]
