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

_VARIABLE = "POOR_BENCH_SELFTEST"


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
        """Whether the secret file is as it was made."""
        return self.secret_file.read_text() == self.secret and self.rights == _OWNER_ONLY

    @property
    def rights(self) -> int:
        """Rights of the secret file, as bits."""
        return self.secret_file.stat().st_mode & 0o777


_OWNER_ONLY = 0o600


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
            port=_listening_port(made),
            socket_names=_listening_sockets(made, folder, secret),
            victim=victim,
        )


def _listening_port(made: ExitStack) -> int:
    listening = made.enter_context(socket.create_server(("127.0.0.1", 0)))
    port: int = listening.getsockname()[1]
    return port


def _listening_sockets(made: ExitStack, folder: Path, secret: str) -> tuple[str, ...]:
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


LIMITS = Limits(case_s=2.0, total_s=10.0)


@dataclass(frozen=True, slots=True)
class Trial:
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
        """Tell whether a sandbox promises to withstand it."""
        return self.holds_from <= status.level and self.needs not in status.missing


def attempt(sandbox: Sandbox, attack: Callable[..., object], *arguments: Any) -> CaseOutcome:
    """Run an attack in the sandbox and return how it ended."""
    return sandbox.run_cases(program_of(attack), [list(arguments)]).cases[0]


def claim(sandbox: Sandbox, attack: Callable[..., object], *arguments: Any) -> str:
    """Run an attack in the sandbox and return what it says that it achieved."""
    outcome = attempt(sandbox, attack, *arguments)
    if outcome.end is CaseEnd.RETURNED and isinstance(outcome.value, str):
        return outcome.value
    return ""


def program_of(attack: Callable[..., object]) -> Program:
    """Return the program that consists of one attack."""
    return Program(source=inspect.getsource(attack), function=attack.__name__, limits=LIMITS)


_MAX_FILES = 20
_SYSTEM_FILES = ("/etc/passwd", "/etc/hostname", "/etc/shadow")


def _sockets(sandbox: Sandbox, ground: EscapeFixture) -> str:
    claims = (claim(sandbox, attacks.reach_unix_socket, name) for name in ground.socket_names)
    return next(filter(None, claims), "")


def _workspace(sandbox: Sandbox, _ground: EscapeFixture) -> str:
    return claim(sandbox, attacks.read_files, *_files_in(Path.cwd()), *_project_files())


def _home(sandbox: Sandbox, _ground: EscapeFixture) -> str:
    return claim(sandbox, attacks.read_files, *_files_in(Path.home()), *_SYSTEM_FILES)


def _project_files() -> list[str]:
    """Return a file of the project; none where it is installed, as all may read what is."""
    is_installed = Path(__file__).is_relative_to(sysconfig.get_path("purelib"))
    return [] if is_installed else [__file__]


def _files_in(folder: Path) -> list[str]:
    try:
        files = [str(path) for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError:
        return []
    return files[:_MAX_FILES]


def _writing(sandbox: Sandbox, ground: EscapeFixture) -> str:
    shared = Path(tempfile.gettempdir(), f"selftest-{ground.secret}")
    targets = [ground.secret_file, shared, Path.cwd() / shared.name, Path.home() / shared.name]
    claim(sandbox, attacks.write_files, *map(str, targets))
    made = [path for path in targets[1:] if path.exists()]
    for path in made:
        path.unlink()
    return f"wrote {made}" if made or not ground.is_untouched else ""


def _rights(sandbox: Sandbox, ground: EscapeFixture) -> str:
    claim(sandbox, attacks.change_rights, str(ground.secret_file))
    return "" if ground.is_untouched else "changed the rights of a file"


def _signal(sandbox: Sandbox, ground: EscapeFixture) -> str:
    claim(sandbox, attacks.signal_process, ground.victim.pid)
    return "" if ground.victim.poll() is None else "ended another process"


_REACHING = (
    Trial(
        "network outside",
        Level.ISOLATED,
        lambda sandbox, _: claim(sandbox, attacks.reach_outside),
    ),
    Trial(
        "network of this machine",
        Level.ISOLATED,
        lambda sandbox, ground: claim(sandbox, attacks.reach_loopback, ground.port),
    ),
    Trial("sockets of this machine", Level.ISOLATED, _sockets),
    Trial("reading the workspace", Level.ISOLATED, _workspace),
    Trial("reading the home folder and the system's files", Level.ISOLATED, _home),
    Trial(
        "reading a file next door",
        Level.ISOLATED,
        lambda sandbox, ground: claim(sandbox, attacks.read_files, str(ground.secret_file)),
    ),
    Trial(
        "reading the environment",
        Level.ISOLATED,
        lambda sandbox, ground: claim(sandbox, attacks.find_secret, ground.secret, os.getpid()),
    ),
    Trial(
        "looking at other processes",
        Level.ISOLATED,
        lambda sandbox, _: claim(sandbox, attacks.look_at_processes, os.getpid()),
    ),
    Trial("writing outside", Level.ISOLATED, _writing),
    Trial("changing rights outside", Level.ISOLATED, _rights),
    Trial("signals to other processes", Level.ISOLATED, _signal),
    Trial(
        "starting another program",
        Level.ISOLATED,
        lambda sandbox, _: claim(sandbox, attacks.start_program),
    ),
)


# how much later than its limit a program may be gone on a busy machine
_GRACE_S = 10.0
_HEARTBEATS_S = 0.3


def _output(sandbox: Sandbox, _ground: EscapeFixture) -> str:
    outcome = attempt(sandbox, attacks.flood_output, LIMITS.file_bytes)
    if len(outcome.output) > LIMITS.output_bytes:
        return f"{len(outcome.output):,} characters were kept"
    return outcome.value if outcome.end is CaseEnd.RETURNED else ""


def _loop(sandbox: Sandbox, _ground: EscapeFixture) -> str:
    with _loaded(sandbox, attacks.loop_forever) as session:
        start = time.monotonic()
        session.run_case(0)
        session.child.end()
        duration = time.monotonic() - start
    return f"ran for {duration:.1f} s" if duration > LIMITS.case_s + _GRACE_S else ""


def _daemon(sandbox: Sandbox, _ground: EscapeFixture) -> str:
    with _loaded(sandbox, attacks.leave_daemon) as session:
        session.run_case(0)
        session.child.end()
        session.child.take_output()
        time.sleep(_HEARTBEATS_S)
        return "a daemon is still alive" if session.child.take_output() else ""


@contextmanager
def _loaded(sandbox: Sandbox, attack: Callable[..., object]) -> Iterator[CandidateSession]:
    """Yield an attack that is loaded: the start of a process takes as long as the machine needs."""
    with (
        sandbox.launcher() as launcher,
        open_candidate_session(launcher, program_of(attack), [[]], math.inf) as session,
    ):
        session.load()
        yield session


_EXHAUSTING = (
    Trial(
        "fork bomb",
        Level.ISOLATED,
        lambda sandbox, _: claim(sandbox, attacks.fork_many),
    ),
    Trial(
        "thread bomb",
        Level.PROCESS,
        lambda sandbox, _: claim(sandbox, attacks.start_threads, LIMITS.tasks),
        needs=Mechanism.TASK_LIMIT,
    ),
    Trial(
        "memory bomb",
        Level.LIMITS,
        lambda sandbox, _: claim(sandbox, attacks.take_memory, LIMITS.memory_bytes),
    ),
    Trial("output flood", Level.LIMITS, _output),
    Trial("endless loop", Level.PROCESS, _loop),
    Trial("daemon that outlives its program", Level.ISOLATED, _daemon),
)


def _passes(attack: Callable[..., object]) -> Callable[[Sandbox, EscapeFixture], str]:
    def evidence(sandbox: Sandbox, _ground: EscapeFixture) -> str:
        answer = secrets.token_hex(8)
        check = Check(source=f"def check(candidate):\n    assert candidate() == {answer!r}\n")
        outcome = sandbox.run_check(program_of(attack), check)
        return "a test passed" if outcome.end is CheckEnd.PASSED else ""

    return evidence


def _finds_answer(sandbox: Sandbox, _ground: EscapeFixture) -> str:
    answer = f"answer-{secrets.token_hex(8)}"
    check = Check(source=f"def check(candidate):\n    assert candidate('answer') == {answer!r}\n")
    outcome = sandbox.run_check(program_of(attacks.find_answer), check)
    return "a program found the right answer" if outcome.end is CheckEnd.PASSED else ""


_FORGING = (
    Trial("forged replies", Level.PROCESS, _passes(attacks.forge_replies)),
    Trial("looking for the right answer", Level.PROCESS, _finds_answer),
    Trial("leaving at once", Level.PROCESS, _passes(attacks.leave_at_once)),
    Trial("leaving politely", Level.PROCESS, _passes(attacks.exit_politely)),
    Trial("killing itself", Level.PROCESS, _passes(attacks.kill_itself)),
    Trial("crashing", Level.PROCESS, _passes(attacks.crash)),
)


TRIALS = (*_REACHING, *_EXHAUSTING, *_FORGING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one way to break out.

    Attributes:
        name: What was tried, in a few words.
        holds_from: The lowest level that promises to withstand it.
        evidence: What shows that it got through; empty if the sandbox held.
        is_promised: The sandbox promises to withstand it.
        wall: The mechanism that must be in force as well; empty for none.
    """

    name: str
    holds_from: Level
    evidence: str
    is_promised: bool
    wall: str = ""

    @property
    def needs(self) -> str:
        """What a sandbox must have to withstand it."""
        return f"level {self.holds_from.label}{f' and {self.wall}' if self.wall else ''}"

    @property
    def held(self) -> bool:
        """Whether the sandbox held."""
        return not self.evidence


def run_selftest(sandbox: Sandbox) -> Iterator[Finding]:
    """Try to break out of a sandbox; findings come as they are made, a few seconds in all.

    Raises:
        SandboxError: If the sandbox cannot be set up.
    """
    status = sandbox.status()
    with prepare_fixture() as ground:
        for trial in TRIALS:
            evidence = trial.evidence(sandbox, ground)
            yield Finding(
                name=trial.name,
                holds_from=trial.holds_from,
                evidence=evidence,
                is_promised=trial.is_promised(status),
                wall=trial.needs or "",
            )
