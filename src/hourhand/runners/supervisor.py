"""Runners: the program around each command; it outlives neither its executor, nor does anything outlive it.

`supervised.py` starts it with three descriptors: control (one byte asks it to stop, the end of the pipe means that the
executor is gone), status (where it says how the command ended, or why it could not be started) and the order.
Being the subreaper of everything below it, each process the command leaves behind becomes its child, also one that made
a session of its own; so "no children left" means that nothing is left (guarantee 10).

It is started for every attempt, so it imports only what is cheap: neither signal (enum) nor json nor typing.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the signal module without its enums, a third of the start-up
import ctypes
import errno
import os
import resource
import select
import time

STOP, KILL = b"T", b"K"
LEFT_BEHIND_SECONDS = 2.0
"""How long what nobody waits for any more may take to end by itself."""
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_AGAIN_SECONDS = 0.02


class Order:
    """What to run and how; packed as NUL-separated `name=value`, since neither arguments nor variables can hold NUL."""

    def __init__(self) -> None:
        self.argv: list[bytes] = []
        self.env: dict[bytes, bytes] = {}
        self.cwd: bytes = b"/"
        self.grace: float = 0.0
        self.parent: int = 0
        self.memory: int | None = None
        self.processes: int | None = None
        self.ids: tuple[int, int] | None = None
        self.groups: list[int] = []
        self.descriptors: list[int] = []

    def pack(self) -> bytes:
        """As it travels to the supervisor."""
        pairs: list[tuple[str, object]] = [("cwd", self.cwd), ("grace", self.grace), ("parent", self.parent)]
        pairs += [("arg", one) for one in self.argv]
        pairs += [("env", name + b"=" + value) for name, value in self.env.items()]
        pairs += [("group", one) for one in self.groups] + [("descriptor", one) for one in self.descriptors]
        if self.memory is not None:
            pairs.append(("memory", self.memory))
        if self.processes is not None:
            pairs.append(("processes", self.processes))
        if self.ids is not None:
            pairs += [("uid", self.ids[0]), ("gid", self.ids[1])]
        return b"\0".join(
            name.encode() + b"=" + (value if isinstance(value, bytes) else str(value).encode()) for name, value in pairs
        )

    @classmethod
    def unpack(cls, data: bytes) -> Order:
        """The order, as it was packed."""
        found: dict[bytes, list[bytes]] = {}
        for pair in data.split(b"\0"):
            name, _, value = pair.partition(b"=")
            found.setdefault(name, []).append(value)
        order = cls()
        order.argv = found[b"arg"]
        for variable in found.get(b"env", []):
            name, _, value = variable.partition(b"=")
            order.env[name] = value
        (order.cwd,) = found[b"cwd"]
        order.grace = float(found[b"grace"][0])
        order.parent = int(found[b"parent"][0])
        order.memory = int(found[b"memory"][0]) if b"memory" in found else None
        order.processes = int(found[b"processes"][0]) if b"processes" in found else None
        order.ids = (int(found[b"uid"][0]), int(found[b"gid"][0])) if b"uid" in found else None
        order.groups = [int(one) for one in found.get(b"group", [])]
        order.descriptors = [int(one) for one in found.get(b"descriptor", [])]
        return order


class StartFailed(Exception):
    """The command could not be started; the message says why, and goes to the executor as it is."""


def prctl(option: int, value: int) -> None:
    """Change a property of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}, {value}): {os.strerror(number)}")


# --- the child, between fork and exec -------------------------------------------------------------------------------


def become(order: Order, supervisor: int) -> None:
    """Turn this fresh child into the command; only ever returns by raising."""
    os.setsid()
    for number in range(1, _signal.NSIG):
        # An ignored signal stays ignored across exec; a command must find what it would find at a terminal.
        if number not in (_signal.SIGKILL, _signal.SIGSTOP) and _signal.getsignal(number) is not None:
            _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_NPROC, order.processes)
    if order.ids is not None:
        uid, gid = order.ids
        os.setgroups(order.groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    # After the change of user, which clears it: if the supervisor is killed, the command goes with it.
    prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)
    _enter(order.cwd)
    _limit(resource.RLIMIT_AS, order.memory)  # last: it counts for this interpreter too, until exec replaces it
    _execute(order)


def _limit(kind: int, most: int | None) -> None:
    """Lower a limit; one that is lower already stays."""
    if most is None:
        return
    hard = resource.getrlimit(kind)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, least))


def _enter(folder: bytes) -> None:
    try:
        os.chdir(folder)
    except FileNotFoundError:
        raise StartFailed(f"cwd does not exist: {_shown(folder)}; give a folder of this executor's machine") from None
    except NotADirectoryError:
        raise StartFailed(f"cwd is not a folder: {_shown(folder)}") from None
    except OSError as error:
        raise StartFailed(f"cwd {_shown(folder)} cannot be entered: {error.strerror}") from None


def _execute(order: Order) -> None:
    program = order.argv[0]
    refused: tuple[bytes, OSError] | None = None
    for path in _paths(program, order.env.get(b"PATH") or os.defpath.encode()):
        try:
            os.execve(path, order.argv, order.env)  # noqa: S606  # running what the task says is what this is for
        except (FileNotFoundError, NotADirectoryError) as error:
            if os.path.exists(path):  # noqa: PTH110  # pathlib would double the start-up
                refused = (path, error)
        except OSError as error:
            refused = refused or (path, error)
            if error.errno not in (errno.EACCES, errno.ENOEXEC):
                break
    raise StartFailed(_why(program, refused))


def _paths(program: bytes, search: bytes) -> list[bytes]:
    """Where the program may be; never the current folder, which an empty part of PATH would mean to a shell."""
    return [program] if b"/" in program else [place + b"/" + program for place in search.split(b":") if place]


def _why(program: bytes, refused: tuple[bytes, OSError] | None) -> str:
    if refused is None:
        where = "" if b"/" in program else " on the command's PATH"
        return f"no such program: {_shown(program)}{where}; install it on this executor's machine, or give its path"
    path, error = refused
    known = {
        errno.EACCES: f"not executable: {_shown(path)}; it must be a file that the command's user may execute",
        errno.ENOENT: f"{_shown(path)} exists, but the interpreter named in its first line, or its loader, does not",
        errno.ENOEXEC: f"{_shown(path)} is not a program; a script begins with a line such as #!/bin/sh",
        errno.E2BIG: f"{_shown(program)} got too many or too long arguments and variables; one may have 128 KiB",
        errno.EAGAIN: f"{_shown(program)} was not started: its user has as many processes as command_processes allows",
    }
    return known.get(error.errno or 0) or f"{_shown(path)} could not be started: {error.strerror}"


def _shown(text: bytes) -> str:
    shown = repr(text.decode("utf-8", "backslashreplace"))
    return shown if len(shown) <= 200 else shown[:200] + "…"  # noqa: PLR2004


# --- the supervisor ---------------------------------------------------------------------------------------------------


class Supervisor:
    """Waits for the command, for a word from the executor, or for the executor's end."""

    def __init__(self, order: Order, control: int, command: int, signals: int) -> None:
        self.order = order
        self.control = control
        self.command = command
        self.signals = signals
        self.status: int | None = None
        self.left_behind = 0
        self.kill_at: float | None = None
        """Since something asked for the end: when it is made by force."""

    def run(self) -> str:
        """Return how the command ended, once nothing of it is left."""
        events = select.poll()
        events.register(self.control, select.POLLIN)
        events.register(self.signals, select.POLLIN)
        while self._reap():
            if self.status is not None and self.kill_at is None:
                self.left_behind = self._end_within(min(self.order.grace, LEFT_BEHIND_SECONDS))
            rest = None
            if self.kill_at is not None:
                rest = self.kill_at - time.monotonic()
                if rest <= 0:
                    kill(descendants())
                    rest = _AGAIN_SECONDS
            for descriptor, _ in events.poll(None if rest is None else rest * 1000):
                if descriptor == self.signals:
                    self._signalled()
                elif not self._told():
                    events.unregister(self.control)
        return self._ending()

    def _reap(self) -> bool:
        """Take the dead away; whether anything lives on."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.command:
                self.status = status

    def _signalled(self) -> None:
        received = os.read(self.signals, 512)
        if _signal.SIGUSR1 in received and os.getppid() != self.order.parent:
            self._orphaned()
        if any(number in received for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)):
            self._end_within(self.order.grace)

    def _told(self) -> bool:
        """Follow the executor's word; False once it has no more to say."""
        word = os.read(self.control, 1)
        if word == STOP:
            self._end_within(self.order.grace)
        elif word == KILL:
            self._end_within(0)
        else:
            self._orphaned()
        return bool(word)

    def _orphaned(self) -> None:
        # Shorter than any lease: another executor may soon be at the same instance.
        self._end_within(min(self.order.grace, LEFT_BEHIND_SECONDS))

    def _end_within(self, seconds: float) -> int:
        """Ask everything to end, once, and let the earliest word decide when it is forced; how many were asked."""
        at = time.monotonic() + seconds
        first = self.kill_at is None
        self.kill_at = at if self.kill_at is None else min(self.kill_at, at)
        if not first:
            return 0
        asked = descendants()
        for pid, _ in asked:
            _send(pid, _signal.SIGTERM)
            _send(pid, _signal.SIGCONT)  # one that was stopped could not hear it
        return len(asked)

    def _ending(self) -> str:
        if self.status is None:
            return "failed=the command's end was not seen"
        if os.WIFSIGNALED(self.status):
            return f"signal={os.WTERMSIG(self.status)}\nleft={self.left_behind}"
        return f"exit={os.WEXITSTATUS(self.status)}\nleft={self.left_behind}"


def descendants() -> list[tuple[int, int]]:
    """Everything below this process that lives: (process id, process group)."""
    below: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and (found := _stat(name)) is not None:
            parent, group = found
            below.setdefault(parent, []).append((int(name), group))
    tree: list[tuple[int, int]] = []
    level = [os.getpid()]
    while level:
        children = [child for parent in level for child in below.pop(parent, [])]
        tree += children
        level = [pid for pid, _ in children]
    return tree


def _stat(pid: str) -> tuple[int, int] | None:
    """Parent and group of a process; None if it is dead."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 1024)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # The name, in brackets, may hold anything, brackets too.
    state, parent, group = text[text.rindex(b")") + 2 :].split(b" ", 3)[:3]
    return None if state in b"ZX" else (int(parent), int(group))


def kill(processes: list[tuple[int, int]]) -> None:
    """End them by force."""
    # A group first: that reaches all its members at once, so that a fork bomb cannot outrun it.
    for group in {group for _, group in processes} - {os.getpgrp(), 0}:
        try:
            os.killpg(group, _signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    for pid, _ in processes:
        _send(pid, _signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def listen() -> int:
    """Turn the signals that matter into bytes; returns where they arrive."""
    arriving, waking = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGUSR1):
        _signal.signal(number, lambda *_: None)
    _signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    return arriving


def begin(order: Order, status: int) -> int:
    """Start the command; its process id."""
    if order.ids is not None:
        for descriptor in (1, 2):
            os.fchown(descriptor, *order.ids)  # or it could not open its own /dev/stdout
    supervisor = os.getpid()
    # Until the child has its own dispositions, a signal meant for it must wait.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    command = os.fork()
    if command == 0:
        try:
            become(order, supervisor)
        except StartFailed as failure:
            os.write(status, f"failed={failure}\n".encode())
        except BaseException as error:  # noqa: BLE001  # whatever it is, this child must end here and say so
            os.write(status, f"failed=the command could not be started: {error!r}\n".encode())
        finally:
            os._exit(127)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    # What the command reads from or writes to ends when the command does, not when its supervisor does.
    nothing = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor, inheritable=False)
    for descriptor in order.descriptors:
        os.close(descriptor)
    return command


def main(control: int, status: int, order_from: int) -> None:
    """Supervise one command; ends this process."""
    for descriptor in (control, status, order_from):
        os.set_inheritable(descriptor, False)  # noqa: FBT003  # its only form
    with os.fdopen(order_from, "rb") as file:
        order = Order.unpack(file.read())
    signals = listen()
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    # The executor's thread that started this may end before the executor does, so this only makes it look.
    prctl(PR_SET_PDEATHSIG, _signal.SIGUSR1)
    if os.getppid() != order.parent:
        return
    ending = Supervisor(order, control, begin(order, status), signals).run()
    try:
        os.write(status, ending.encode())
    except BrokenPipeError:
        pass
    finally:
        os._exit(0)  # nothing is left to tidy up, and that would take two milliseconds
