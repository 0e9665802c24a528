"""Somebody who follows a page: saves its files, types its commands, leaves its servers running in other terminals."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import yaml

from docs.blocks import ROOT, Block
from docs.expected import Shown, agrees, shown_in
from postgres import free_port

BIN = Path(sys.executable).parent
STAYS = re.compile(
    r"^(\w+=\S+ )*(hourhand (serve|scheduler|executor|api)\b|make serve|uvicorn "
    r"|python (manage.py runserver|receiver.py))"
)
"""What goes on until it is stopped: a reader starts it in a terminal of its own."""
READS = re.compile(
    r"^(hourhand (\w+ )?(list|show|logs|explain|attempts|upcoming|executors|stats|audit|doctor|status|graph)\b"
    r"|curl -s(?![\s\S]*\s-[dX]\b)|cat )"  # but a curl that writes is asked once
)
"""What may be asked again until it answers as shown: work takes its time."""
READY = re.compile(r"Ctrl-C stops it|Uvicorn running on|Starting development server")
STATIC = frozenset({"text", "mermaid", "js", "nginx", "ini", "promql", "sql", "html", "dockerfile"})
"""What is only to be read."""
PARSED: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "toml": tomllib.loads,
}
COMMAND_SECONDS, PATIENCE_SECONDS, START_SECONDS = 90, 40, 40
_PORT = re.compile(
    r"(?P<before>127\.0\.0\.1:|127\.0\.0\.1\", |localhost:|--port[ =]|--metrics-port[ =]|PORT=|port = )"
    r"(?P<port>[0-9]{4})\b"
)
_DATABASE = re.compile(r"postgresql(?P<driver>\+\w+)?://[^\s\"'`)]+")
_PGREP = re.compile(r"""\$\(pgrep -f ["']?(?P<what>[^"')]+)["']?\)""")
_PIP = re.compile(r"^pip install (?P<names>.+)$")


class Mistaken(AssertionError):
    """The page says something that is not so."""


class Reader:
    """One reader of one page, in a folder of its own."""

    def __init__(self, folder: Path, database: Callable[[], str], *, start: Path | None = None) -> None:
        self.folder = folder
        self._database = database
        self._url: str | None = None
        self._ports: dict[str, int] = {}
        self._running: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}
        if start is not None:  # an example: what its folder holds is there already
            shutil.copytree(start, folder, dirs_exist_ok=True)
        self._state = folder / ".state"
        self._state.write_text("")

    def follow(self, block: Block) -> None:
        """Do what one block says."""
        if block.not_run is not None:
            return
        if block.title is not None:
            self._save(block)
        elif block.language in ("sh", "console"):
            shown = shown_in(block.text) if block.language == "console" else map(Shown, commands_in(block.text))
            for one in shown:
                self._type(block, one)
        elif block.language == "python":
            script = self._here_now() / f"block_{block.line}.py"
            script.write_text(self._here(block.text))
            self._succeed(block, Shown(f"python -W error {script.name}"))
        else:
            self._read(block)

    def leave(self) -> None:
        """Stop what was started."""
        for name in list(self._running):
            self._stop(name, signal.SIGTERM)

    def _save(self, block: Block) -> None:
        path = self._here_now() / str(block.title)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._here(block.text))
        self._check(block)

    def _read(self, block: Block) -> None:
        if block.language in PARSED:
            self._check(block)
        elif block.language not in STATIC:
            raise Mistaken(f"{block.place}: a block of {block.language!r} is neither run nor known as one to be read")
        elif re.search(r"^(\$ |hourhand |pip |curl )", block.text, re.MULTILINE):
            raise Mistaken(f"{block.place}: these are commands: say sh or console, so that they are run")

    def _check(self, block: Block) -> None:
        language = block.language
        if language == "python":
            compile(block.text, block.place, "exec")
        elif language in PARSED:
            try:
                PARSED[language](block.text)
            except ValueError as error:
                raise Mistaken(f"{block.place}: this is not {language}: {error}") from error
            except yaml.YAMLError as error:
                raise Mistaken(f"{block.place}: this is not YAML: {error}") from error

    def _type(self, block: Block, shown: Shown) -> None:
        command = self._here(shown.command)
        installed = _PIP.match(command)
        if installed:
            for name in re.findall(r"[\w-]+(?=\[|\s|\"|'|$)", installed["names"]):
                version(name)  # it is what the development environment has
        elif STAYS.match(command):
            self._start(block, command)
        else:
            self._succeed(block, Shown(command, shown.output, shown.fails))

    def _succeed(self, block: Block, shown: Shown) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            code, printed = self._run(shown.command)
            right = (code != 0) == shown.fails
            if right and (shown.output is None or agrees(shown.output, printed)):
                return
            if "Traceback" in printed or not READS.match(shown.command) or time.monotonic() > deadline:
                said = "" if shown.output is None else f"\n--- the page shows\n{shown.output}"
                raise Mistaken(
                    f"{block.place}: `{shown.command}` ended with {code}{said}\n--- it printed\n{printed}"
                    f"--- servers\n{self._said()}"
                )
            time.sleep(0.3)

    def _run(self, command: str) -> tuple[int, str]:
        # What a command sets, and where it goes, is there for the next one, as in one terminal.
        state = self._state
        script = (
            f'set -a; . {state}; cd "${{HERE:-.}}"\n{command}\n'
            f"code=$?; {{ export -p | grep -v ' HERE='; echo \"declare -x HERE='$PWD'\"; }} > {state}; exit $code"
        )
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def _start(self, block: Block, command: str) -> None:
        kind = " ".join(word for word in command.split()[:2] if "=" not in word)
        alone = kind == "hourhand serve" or not kind.startswith("hourhand")
        name = kind if alone else f"{command} #{len(self._running)}"
        if name in self._running:
            self._stop(name, signal.SIGINT)
        output = self.folder / f".output-{len(list(self.folder.glob('.output-*')))}"
        with output.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-c", f". {self._state}; exec env {command.replace('make serve', 'hourhand serve')}"],
                cwd=self._here_now(),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self._running[name] = (process, output)
        deadline = time.monotonic() + START_SECONDS
        while not READY.search(output.read_text("utf-8", "replace")):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Mistaken(f"{block.place}: `{command}` did not start:\n{self._said()}")
            time.sleep(0.1)

    def _stop(self, name: str, number: int) -> None:
        process, _ = self._running.pop(name)
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _said(self) -> str:
        return "".join(
            f"{name}:\n{output.read_text('utf-8', 'replace')}" for name, (_, output) in self._running.items()
        )

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("TMPDIR", "USER", "LOGNAME") if name in os.environ}
        return kept | {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "COLUMNS": "110",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": ".",
            "HOURHAND_PORT": str(self._port("8420")),
        }

    def _here(self, text: str) -> str:
        """The same text for this machine: a free port for each port, a real database for each that is named."""
        text = _PORT.sub(lambda match: f"{match['before']}{self._port(match['port'])}", text)
        text = _DATABASE.sub(lambda match: self._a_database(match["driver"] or ""), text)
        return _PGREP.sub(lambda match: str(self._pid(match["what"])), text)

    def _here_now(self) -> Path:
        """Where the last `cd` went."""
        here = re.search(r"HERE='([^']*)'", self._state.read_text())
        return Path(here[1]) if here else self.folder

    def _port(self, shown: str) -> int:
        if shown not in self._ports:
            self._ports[shown] = free_port()
        return self._ports[shown]

    def _a_database(self, driver: str) -> str:
        if self._url is None:
            self._url = self._database()
        return self._url.replace("postgresql", f"postgresql{driver}", 1)

    def _pid(self, what: str) -> int:
        """Never somebody else's process, whatever pgrep would find."""
        for name, (process, _) in self._running.items():
            if what in name or what.startswith(name):
                return process.pid
        raise Mistaken(f"nothing like {what!r} was started: {', '.join(self._running)}")


def commands_in(text: str) -> list[str]:
    """The commands of a block; one may go over several lines."""
    found: list[str] = []
    waiting: list[str] = []
    for line in text.splitlines():
        if not waiting and (not line.strip() or line.startswith("#")):
            continue
        waiting.append(line)
        if not _goes_on("\n".join(waiting)):
            found.append("\n".join(waiting))
            waiting = []
    return found + (["\n".join(waiting)] if waiting else [])


def _goes_on(command: str) -> bool:
    if command.endswith("\\"):
        return True
    checked = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
    return (
        "unexpected end of file" in checked.stderr
        or "unexpected EOF" in checked.stderr
        or ("here-document" in checked.stderr)
    )


def started_in(page: str) -> Path | None:
    """The folder of an example; other pages begin with nothing."""
    return (ROOT / page).parent if page.startswith("examples/") else None
