"""A real PostgreSQL server in a temporary folder, for tests, benchmarks and fault runs.

Durable as in production (`fsync = on`) unless told otherwise, listening on 127.0.0.1 and on a Unix socket, trusting
local connections. PostgreSQL refuses to run as root, so root hands it to the system user `postgres`.

    cluster = Cluster()
    cluster.start()
    url = cluster.create_database()
    ...
    cluster.stop()      # and removes the folder
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

RUN_AS = "postgres"
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "listen_addresses": "127.0.0.1",
    "log_line_prefix": "%m [%p] %d ",
}


class PostgresMissing(RuntimeError):
    """There is no PostgreSQL server on this machine."""


def binaries() -> Path:
    """Return the folder of the newest installed server, or refuse, saying how to install one."""
    folders = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if folders:
        return max(folders, key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    raise PostgresMissing(
        "PostgreSQL's server programs were not found (looked for /usr/lib/postgresql/*/bin/initdb and for initdb on "
        "PATH). The suite needs them and does not skip: run scripts/system-packages, or apt-get install postgresql."
    )


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Cluster:
    """One PostgreSQL server and its temporary folder; it can be stopped, crashed and started again."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.bin = binaries()
        self.settings = SETTINGS | (settings or {})
        self.folder = Path(tempfile.mkdtemp(prefix="hourhand-pg-"))
        self.port = free_port()
        self._numbers = itertools.count(1)
        if os.geteuid() == 0:
            shutil.chown(self.folder, RUN_AS, RUN_AS)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "server.log"

    @property
    def pid(self) -> int | None:
        """The postmaster's process id, or None when it does not run."""
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return None

    def start(self) -> None:
        """Start the server, making its folder the first time, and wait until it accepts connections."""
        if not self.data.exists():
            self._initialise()
        try:
            self._run("pg_ctl", "start", "-w", "-t", "60", "-D", str(self.data), "-l", str(self.log))
        except subprocess.CalledProcessError as error:
            log = self.log.read_text(errors="replace")[-2000:] if self.log.exists() else "(no log)"
            raise RuntimeError(f"PostgreSQL did not start on port {self.port}; its log ends:\n{log}") from error

    def stop(self, *, remove: bool = True) -> None:
        """Stop the server and remove its folder, flushing nothing; or, to start again, cut its sessions and flush."""
        self._halt("immediate" if remove else "fast")
        if remove:
            shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self) -> None:
        """Stop cleanly and start again on the same port."""
        self._halt("fast")
        self.start()

    def crash(self) -> None:
        """Stop at once without flushing, as a power cut would; `start` then recovers from the log."""
        self._halt("immediate")

    def url(self, database: str = "postgres") -> str:
        """Return the store URL of a database."""
        return f"postgresql://{RUN_AS}@127.0.0.1:{self.port}/{database}"

    def create_database(self, template: str = "template0", name: str | None = None) -> str:
        """Create a database, cloned from `template`, and return its URL."""
        name = name or f"hourhand_{os.getpid()}_{next(self._numbers)}"
        self.sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop the database behind `url`, cutting its sessions."""
        self.sql(f'DROP DATABASE IF EXISTS "{url.rsplit("/", 1)[1]}" WITH (FORCE)')

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run one statement as the superuser and return what psql prints, unaligned."""
        return self._run(
            "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p", str(self.port),
            "-U", RUN_AS, "-d", database, "-c", statement,
        )  # fmt: skip

    def _initialise(self) -> None:
        self._run(
            "initdb", "-D", str(self.data), "-U", RUN_AS, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )  # fmt: skip
        settings = self.settings | {"port": str(self.port), "unix_socket_directories": str(self.folder)}
        lines = "".join(f"{key} = '{value}'\n" for key, value in settings.items())
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.write(lines)

    def _halt(self, mode: str) -> None:
        pid = self.pid
        if pid is None:
            return
        try:
            self._run("pg_ctl", "stop", "-w", "-t", "30", "-m", mode, "-D", str(self.data))
        except subprocess.CalledProcessError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)  # the postmaster's own "stop at once": it takes its children along
                time.sleep(2)
                os.kill(pid, signal.SIGKILL)

    def _run(self, program: str, *arguments: str) -> str:
        command = [str(self.bin / program), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={RUN_AS}", f"--regid={RUN_AS}", "--init-groups", "--", *command]
        # Standard streams are files or /dev/null, never pipes: the server would inherit them and keep them open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command, check=False, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd="/"
            )
            output.seek(0)
            text = output.read().strip()
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, text, text)
        return text
