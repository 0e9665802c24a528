"""A real MariaDB server in a temporary folder, for tests, benchmarks and fault runs.

Durable as in production (`innodb_flush_log_at_trx_commit = 1`), listening on 127.0.0.1 and on a Unix socket. The test
account signs in with a password; the server's own `root` comes by the socket alone. MariaDB does not like to run as
root, so root hands it to the system user `mysql`.

    server = MariaServer()
    server.start()
    url = server.create_database()
    ...
    server.stop()       # and removes the folder
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from postgres import free_port

RUN_AS = "mysql"
USERNAME = "hourhand"
PASSWORD = "an open s'cret"  # noqa: S105  # with a quote and blanks, so that what forgets to quote it fails
START_SECONDS = 60.0
STOP_SECONDS = 30.0
SETTINGS = {
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_doublewrite": "ON",
    "innodb_buffer_pool_size": "256M",
    "innodb_file_per_table": "ON",
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_general_ci",
    "local_infile": "1",
    "max_connections": "200",
    "bind_address": "127.0.0.1",
    "skip_name_resolve": "ON",
}
SERVER, MAKER, CLIENT = "mariadbd", "mariadb-install-db", "mariadb"
FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/local/mysql/bin", "/usr/local/mysql/scripts")
"""Where servers are that are not on everybody's PATH."""


class MariaMissing(RuntimeError):
    """There is no MariaDB server on this machine."""


def program(name: str) -> str:
    """Return the path of one of MariaDB's programs, or refuse, saying how to install it."""
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(FOLDERS))
    if found is None:
        raise MariaMissing(
            f"MariaDB's program {name} was not found (looked on PATH and in {', '.join(FOLDERS)}). The suite needs it "
            "and does not skip: run scripts/system-packages, or apt-get install mariadb-server-core mariadb-client."
        )
    return found


class MariaServer:
    """One MariaDB server and its temporary folder; it can be stopped, crashed and started again."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.programs = {name: program(name) for name in (SERVER, MAKER, CLIENT)}
        self.settings = SETTINGS | (settings or {})
        self.folder = Path(tempfile.mkdtemp(prefix="hourhand-maria-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        if os.geteuid() == 0:
            shutil.chown(self.folder, RUN_AS, RUN_AS)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def socket(self) -> Path:
        """The Unix socket."""
        return self.folder / "server.sock"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "server.log"

    @property
    def pid(self) -> int | None:
        """The server's process id, or None when it does not run."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> None:
        """Start the server, making its folder the first time, and wait until it accepts connections."""
        first = not self.data.exists()
        if first:
            self._initialise()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                _as_its_user([self.programs[SERVER], *self._options()]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd="/", start_new_session=True,
            )  # fmt: skip
        self._await()
        if first:
            secret = PASSWORD.replace("'", "''")
            self.sql("DELETE FROM mysql.global_priv WHERE user = 'root' AND host <> 'localhost'; FLUSH PRIVILEGES")
            for host in ("127.0.0.1", "localhost"):
                self.sql(f"CREATE USER '{USERNAME}'@'{host}' IDENTIFIED BY '{secret}'")
                self.sql(f"GRANT ALL PRIVILEGES ON *.* TO '{USERNAME}'@'{host}' WITH GRANT OPTION")

    def stop(self, *, remove: bool = True) -> None:
        """Stop the server (sessions are cut, data is flushed) and remove its folder unless told otherwise."""
        self._halt(signal.SIGTERM)
        if remove:
            shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self) -> None:
        """Stop cleanly and start again on the same port."""
        self._halt(signal.SIGTERM)
        self.start()

    def crash(self) -> None:
        """Kill it where it stands, as a power cut would; `start` then recovers from the log."""
        self._halt(signal.SIGKILL)

    def url(self, database: str = "mysql") -> str:
        """Return the URL of a database, without the password."""
        return f"mariadb://{USERNAME}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str | None = None) -> str:
        """Create a database and return its URL."""
        name = name or f"hourhand_{os.getpid()}_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE `{name}`")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop the database behind `url`; sessions that hold its tables are cut first."""
        name = url.rsplit("/", 1)[1]
        sessions = f"SELECT id FROM information_schema.processlist WHERE db = '{name}'"  # noqa: S608  # a name of ours
        for session in self.sql(sessions).split():
            with contextlib.suppress(subprocess.CalledProcessError):  # it may have left by itself
                self.sql(f"KILL {session}")
        self.sql(f"DROP DATABASE IF EXISTS `{name}`")

    def sql(self, statement: str, database: str = "mysql") -> str:
        """Run statements as the server's root and return what the client prints: tabs between columns, no heading."""
        return self._run(
            self.programs[CLIENT], "--no-defaults", "--batch", "--raw", "--skip-column-names",
            "--default-character-set=utf8mb4", f"--socket={self.socket}", "--user=root", database, "-e", statement,
        )  # fmt: skip

    def _initialise(self) -> None:
        self._run(
            self.programs[MAKER], "--no-defaults", f"--datadir={self.data}", "--auth-root-authentication-method=normal",
            "--skip-test-db", "--force", "--skip-name-resolve", "--skip-log-bin",
        )  # fmt: skip

    def _options(self) -> list[str]:
        settings = self.settings | {
            "datadir": str(self.data),
            "socket": str(self.socket),
            "port": str(self.port),
            "pid_file": str(self.folder / "server.pid"),
            "tmpdir": str(self.folder),
        }
        return ["--no-defaults", *(f"--{key.replace('_', '-')}={value}" for key, value in settings.items())]

    def _await(self) -> None:
        give_up = time.monotonic() + START_SECONDS
        while True:
            try:
                self.sql("SELECT 1")
            except subprocess.CalledProcessError as error:
                if self.pid is None or time.monotonic() > give_up:
                    self._halt(signal.SIGKILL)
                    log = self.log.read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"MariaDB did not start on port {self.port}; its log ends:\n{log}") from error
                time.sleep(0.05)
            else:
                return

    def _halt(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            _as_its_user(list(command)), check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd="/", encoding="utf-8", errors="replace",
        )  # fmt: skip
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stdout)
        return done.stdout.strip()


def _as_its_user(command: list[str]) -> list[str]:
    if os.geteuid() != 0:
        return command
    return ["setpriv", f"--reuid={RUN_AS}", f"--regid={RUN_AS}", "--init-groups", "--", *command]
