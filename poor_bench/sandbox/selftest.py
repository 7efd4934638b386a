"""Try to break out of the sandbox, in the ways that hostile programs would.

The escapes are in three groups: reaching for what is outside (network, files, environment,
processes), exhausting what there is or outliving the time limit, and forging a right answer. They
are aimed at a fixture that is made for them and removed afterwards.
"""

from __future__ import annotations

import inspect
import math
import os
import secrets
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.sandbox import selftest_attacks as attacks
from poor_bench.sandbox.levels import Level, Mechanism, SandboxStatus
from poor_bench.sandbox.program import CaseEnd, CaseOutcome, Check, CheckEnd, Limits, Program
from poor_bench.sandbox.program_runs import CandidateSession, open_candidate_session
from poor_bench.sandbox.sandbox import Sandbox

_LIMITS = Limits(case_s=2.0, total_s=10.0)
_GRACE_S = 10.0  # how much later than its limit a program may be gone on a busy machine
_HEARTBEATS_S = 0.3
_VARIABLE = "POOR_BENCH_SELFTEST"
_OWNER_ONLY = 0o600
_MAX_FILES = 20
_SYSTEM_FILES = ("/etc/passwd", "/etc/hostname", "/etc/shadow")

_Attack = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Escape:
    """One way to break out.

    Attributes:
        name: What is tried, in a few words.
        holds_from: The lowest level that promises to withstand it.
        evidence: Tries it; returns what shows that it got through, or an empty text.
        needs: Must be in force, whatever the level.
    """

    name: str
    holds_from: Level
    evidence: Callable[[Sandbox, EscapeFixture], str]
    needs: Mechanism | None = None

    def is_promised(self, status: SandboxStatus) -> bool:
        """True if a sandbox promises to withstand it."""
        return self.holds_from <= status.level and self.needs not in status.missing


@dataclass(frozen=True, slots=True)
class EscapeFinding:
    """What came of one way to break out.

    Attributes:
        escape: What was tried.
        evidence: What shows that it got through; empty if the sandbox held.
        is_promised: The sandbox promises to withstand it.
    """

    escape: Escape
    evidence: str
    is_promised: bool

    @property
    def needs(self) -> str:
        """What a sandbox must have to withstand it."""
        level, mechanism = self.escape.holds_from.label, self.escape.needs
        return f"level {level} and {mechanism}" if mechanism else f"level {level}"

    @property
    def held(self) -> bool:
        """True if the sandbox held."""
        return not self.evidence


def run_selftest(sandbox: Sandbox) -> Iterator[EscapeFinding]:
    """Try to break out of a sandbox; findings come as they are made, a few seconds in total.

    Raises:
        SandboxError: If the sandbox cannot be set up.
    """
    status = sandbox.status()
    with prepare_fixture() as fixture:
        for escape in ESCAPES:
            evidence = escape.evidence(sandbox, fixture)
            yield EscapeFinding(escape, evidence, escape.is_promised(status))


@dataclass(frozen=True, slots=True, kw_only=True)
class EscapeFixture:
    """Targets.

    Attributes:
        secret: Stands in this process's environment.
        secret_file: A file that must be neither read nor changed.
        port: A TCP port of this machine on which somebody listens.
        socket_names: Sockets of this machine on which somebody listens.
        victim: A process to send signals to.
    """

    secret: str
    secret_file: Path
    port: int
    socket_names: tuple[str, ...]
    victim: subprocess.Popen[bytes]

    @property
    def is_untouched(self) -> bool:
        """True if the secret file is as it was made."""
        rights = self.secret_file.stat().st_mode & 0o777
        return rights == _OWNER_ONLY and self.secret_file.read_text() == self.secret


@contextmanager
def prepare_fixture() -> Iterator[EscapeFixture]:
    """Make the targets, and remove them afterwards."""
    secret = secrets.token_hex(8)
    with ExitStack() as made:
        folder = Path(made.enter_context(tempfile.TemporaryDirectory(prefix="selftest-")))
        secret_file = folder / "secret.txt"
        secret_file.write_text(secret)
        secret_file.chmod(_OWNER_ONLY)
        os.environ[_VARIABLE] = secret
        made.callback(os.environ.pop, _VARIABLE)
        victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        made.enter_context(victim)
        made.callback(victim.kill)
        yield EscapeFixture(
            secret=secret,
            secret_file=secret_file,
            port=made.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1],
            socket_names=_open_sockets(made, folder, secret),
            victim=victim,
        )


def _open_sockets(made: ExitStack, folder: Path, secret: str) -> tuple[str, ...]:
    if not hasattr(socket, "AF_UNIX"):
        return ()
    names = [str(folder / "socket")]
    if sys.platform == "linux":
        names.append(f"\0selftest-{secret}")
    for name in names:
        listening = made.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(name)
        listening.listen()
    return tuple(names)


def _make_program(attack: _Attack) -> Program:
    """Make the program that consists of one attack."""
    return Program(source=inspect.getsource(attack), function=attack.__name__, limits=_LIMITS)


def _attempt(sandbox: Sandbox, attack: _Attack, *arguments: Any) -> CaseOutcome:
    """Run an attack in the sandbox."""
    return sandbox.run_cases(_make_program(attack), [list(arguments)]).cases[0]


def _claim(sandbox: Sandbox, attack: _Attack, *arguments: Any) -> str:
    """Run an attack in the sandbox and return what it says that it achieved."""
    outcome = _attempt(sandbox, attack, *arguments)
    if outcome.end is CaseEnd.RETURNED and isinstance(outcome.value, str):
        return outcome.value
    return ""


def _believe(
    attack: _Attack, pick_target: Callable[[EscapeFixture], object] | None = None
) -> Callable[[Sandbox, EscapeFixture], str]:
    """Take what an attack says as evidence; it gets one target, if there is a choice of one."""

    def evidence(sandbox: Sandbox, fixture: EscapeFixture) -> str:
        return _claim(sandbox, attack, *([pick_target(fixture)] if pick_target else []))

    return evidence


def _reach_sockets(sandbox: Sandbox, fixture: EscapeFixture) -> str:
    claims = (_claim(sandbox, attacks.reach_unix_socket, name) for name in fixture.socket_names)
    return next(filter(None, claims), "")


def _read_workspace(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
    # where the project is installed, programs may read its files, as all that is installed
    is_installed = Path(__file__).is_relative_to(sysconfig.get_path("purelib"))
    project_files = [] if is_installed else [__file__]
    return _claim(sandbox, attacks.read_files, *_list_files(Path.cwd()), *project_files)


def _read_home(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
    return _claim(sandbox, attacks.read_files, *_list_files(Path.home()), *_SYSTEM_FILES)


def _list_files(folder: Path) -> list[str]:
    try:
        files = [str(path) for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError:
        return []
    return files[:_MAX_FILES]


def _find_secret(sandbox: Sandbox, fixture: EscapeFixture) -> str:
    return _claim(sandbox, attacks.find_secret, fixture.secret, os.getpid())


def _write_outside(sandbox: Sandbox, fixture: EscapeFixture) -> str:
    shared = Path(tempfile.gettempdir(), f"selftest-{fixture.secret}")
    targets = [fixture.secret_file, shared, Path.cwd() / shared.name, Path.home() / shared.name]
    _claim(sandbox, attacks.write_files, *map(str, targets))
    made = [path for path in targets[1:] if path.exists()]
    for path in made:
        path.unlink()
    return f"wrote {made}" if made or not fixture.is_untouched else ""


def _change_rights(sandbox: Sandbox, fixture: EscapeFixture) -> str:
    _claim(sandbox, attacks.change_rights, str(fixture.secret_file))
    return "" if fixture.is_untouched else "changed the rights of a file"


def _signal_victim(sandbox: Sandbox, fixture: EscapeFixture) -> str:
    _claim(sandbox, attacks.signal_process, fixture.victim.pid)
    return "" if fixture.victim.poll() is None else "ended another process"


def _flood_output(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
    outcome = _attempt(sandbox, attacks.flood_output, _LIMITS.file_bytes)
    if len(outcome.output) > _LIMITS.output_bytes:
        return f"{len(outcome.output):,} characters were kept"
    return outcome.value if outcome.end is CaseEnd.RETURNED else ""


def _loop_forever(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
    with _load(sandbox, attacks.loop_forever) as session:
        start = time.monotonic()
        session.run_case(0)
        session.child.end()
        duration = time.monotonic() - start
    return f"ran for {duration:.1f} s" if duration > _LIMITS.case_s + _GRACE_S else ""


def _leave_daemon(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
    with _load(sandbox, attacks.leave_daemon) as session:
        session.run_case(0)
        session.child.end()
        session.child.take_output()
        time.sleep(_HEARTBEATS_S)
        return "a daemon is still alive" if session.child.take_output() else ""


@contextmanager
def _load(sandbox: Sandbox, attack: _Attack) -> Iterator[CandidateSession]:
    """Yield an attack that is loaded: the start of a process takes as long as the machine needs."""
    with (
        sandbox.launcher() as launcher,
        open_candidate_session(launcher, _make_program(attack), [[]], math.inf) as session,
    ):
        session.load()
        yield session


def _pass(attack: _Attack) -> Callable[[Sandbox, EscapeFixture], str]:
    """Try to pass a test without its answer."""

    def evidence(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
        outcome = sandbox.run_check(_make_program(attack), _make_check(secrets.token_hex(8)))
        return "a test passed" if outcome.end is CheckEnd.PASSED else ""

    return evidence


def _find_answer(sandbox: Sandbox, _fixture: EscapeFixture) -> str:
    check = _make_check(f"answer-{secrets.token_hex(8)}", "'answer'")
    outcome = sandbox.run_check(_make_program(attacks.find_answer), check)
    return "a program found the right answer" if outcome.end is CheckEnd.PASSED else ""


def _make_check(answer: str, argument: str = "") -> Check:
    return Check(source=f"def check(candidate):\n    assert candidate({argument}) == {answer!r}\n")


_REACHING = (
    Escape("network outside", Level.ISOLATED, _believe(attacks.reach_outside)),
    Escape(
        "network of this machine",
        Level.ISOLATED,
        _believe(attacks.reach_loopback, lambda fixture: fixture.port),
    ),
    Escape("sockets of this machine", Level.ISOLATED, _reach_sockets),
    Escape("reading the workspace", Level.ISOLATED, _read_workspace),
    Escape("reading the home folder and the system's files", Level.ISOLATED, _read_home),
    Escape(
        "reading a file next door",
        Level.ISOLATED,
        _believe(attacks.read_files, lambda fixture: str(fixture.secret_file)),
    ),
    Escape("reading the environment", Level.ISOLATED, _find_secret),
    Escape(
        "looking at other processes",
        Level.ISOLATED,
        _believe(attacks.look_at_processes, lambda _: os.getpid()),
    ),
    Escape("writing outside", Level.ISOLATED, _write_outside),
    Escape("changing rights outside", Level.ISOLATED, _change_rights),
    Escape("signals to other processes", Level.ISOLATED, _signal_victim),
    Escape("starting another program", Level.ISOLATED, _believe(attacks.start_program)),
)
_EXHAUSTING = (
    Escape("fork bomb", Level.ISOLATED, _believe(attacks.fork_many)),
    Escape(
        "thread bomb",
        Level.PROCESS,
        _believe(attacks.start_threads, lambda _: _LIMITS.tasks),
        needs=Mechanism.TASK_LIMIT,
    ),
    Escape(
        "memory bomb",
        Level.LIMITS,
        _believe(attacks.take_memory, lambda _: _LIMITS.memory_bytes),
    ),
    Escape("output flood", Level.LIMITS, _flood_output),
    Escape("endless loop", Level.PROCESS, _loop_forever),
    Escape("daemon that outlives its program", Level.ISOLATED, _leave_daemon),
)
_FORGING = (
    Escape("forged replies", Level.PROCESS, _pass(attacks.forge_replies)),
    Escape("looking for the right answer", Level.PROCESS, _find_answer),
    Escape("leaving at once", Level.PROCESS, _pass(attacks.leave_at_once)),
    Escape("leaving politely", Level.PROCESS, _pass(attacks.exit_politely)),
    Escape("killing itself", Level.PROCESS, _pass(attacks.kill_itself)),
    Escape("crashing", Level.PROCESS, _pass(attacks.crash)),
)
ESCAPES = (*_REACHING, *_EXHAUSTING, *_FORGING)
