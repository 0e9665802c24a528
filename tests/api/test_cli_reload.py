"""`hourhand serve MODULE:APP --reload`: what is changed is served, and what is broken is said and waited for."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli import Terminal, run_here
from serving import FromTheStart

GOOD = """
import time
from pathlib import Path
from hourhand import App

app = App()

@app.task
def answer() -> int:
    return {value}

@app.task
def slow() -> str:
    Path("begun").write_text("")
    while not Path("gate").exists():
        time.sleep(0.02)
    return "done"
"""


def until(happened: Callable[[], bool], said: Callable[[], str]) -> None:
    deadline = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < deadline, said()
        time.sleep(0.05)


class Reloaded(FromTheStart):
    """A process that has more to say after its start."""

    def hear(self) -> None:
        while not self._arriving.empty():
            line = self._arriving.get()
            self.lines += [line] if line else []


def heard(served: Reloaded, words: str, count: int = 1) -> None:
    def happened() -> bool:
        served.hear()
        return served.output.count(words) >= count

    until(happened, lambda: f"{words!r} was not said {count} times: {served.output}")


def test_a_change_is_served_and_a_syntax_error_is_waited_out(tmp_path: Path) -> None:
    program = tmp_path / "billing.py"
    program.write_text(GOOD.format(value=1))
    with Reloaded(tmp_path, "billing:app", "--reload") as served:
        hourhand = Terminal(served)
        assert hourhand.done("task", "run", "answer", "--wait", "--json").json["result"]["value"] == 1
        slow = str(hourhand.done("task", "run", "slow", "--json").json["id"])
        until((tmp_path / "begun").exists, lambda: "it never began")

        program.write_text(GOOD.format(value=2))
        heard(served, "billing.py changed: Hourhand is started again.")
        (tmp_path / "gate").write_text("")  # only now, so that the old process has to wait for what it has in hand
        heard(served, " is serving http", 2)
        ended = hourhand("instance", "follow", slow, "--json").json
        assert (ended["status"], ended["fence"]) == ("success", 1), "it was drained, not cut off"
        assert hourhand.done("task", "run", "answer", "--wait", "--json").json["result"]["value"] == 2

        program.write_text("app = (\n")
        heard(served, "billing cannot be imported: SyntaxError")
        heard(served, "it is started again when a .py file changes")
        assert served.process.poll() is None

        program.write_text(GOOD.format(value=3))
        heard(served, " is serving http", 3)
        assert hourhand.done("task", "run", "answer", "--wait", "--json").json["result"]["value"] == 3
        assert served.stop(signal.SIGINT) == 0
        assert served.output.count("Hourhand has stopped.") == 3
        assert "Traceback" not in served.output


def server_of(folder: Path) -> int:
    """The process that has the store open."""
    return int((folder / "hourhand-data" / "hourhand.db.lock").read_text().rpartition("(pid ")[2].rstrip(")"))


def is_gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_server_is_stopped_in_good_order_when_its_terminal_is_closed(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "billing.py").write_text(GOOD.format(value=1))
    with Reloaded(tmp_path, "billing:app", "--reload") as served:
        server = server_of(tmp_path)
        assert server != served.process.pid
        assert served.stop(number) == 0
        served.hear()
        assert "Hourhand has stopped." in served.output
        assert is_gone(server)


def test_a_server_does_not_outlive_whoever_looks_after_it(tmp_path: Path) -> None:
    (tmp_path / "billing.py").write_text(GOOD.format(value=1))
    with Reloaded(tmp_path, "billing:app", "--reload") as served:
        server = server_of(tmp_path)
        served.process.kill()
        until(lambda: is_gone(server), lambda: "it was left behind")
        served.process.wait()


def test_without_an_app_there_is_nothing_to_reload(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "serve", "--reload")
    assert (ran.code, ran.out) == (2, "")
    assert "--reload: is given without an app" in ran.err
