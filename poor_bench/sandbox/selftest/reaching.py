"""Trials that reach for what is outside: network, files, environment, processes."""

from __future__ import annotations

import os
import sysconfig
import tempfile
from pathlib import Path

from poor_bench.sandbox.levels import Level
from poor_bench.sandbox.sandbox import Sandbox
from poor_bench.sandbox.selftest import attacks
from poor_bench.sandbox.selftest.ground import Ground
from poor_bench.sandbox.selftest.trial import Trial, claim

_MAX_FILES = 20
_SYSTEM_FILES = ("/etc/passwd", "/etc/hostname", "/etc/shadow")


def _sockets(sandbox: Sandbox, ground: Ground) -> str:
    claims = (claim(sandbox, attacks.reach_unix_socket, name) for name in ground.socket_names)
    return next(filter(None, claims), "")


def _workspace(sandbox: Sandbox, _ground: Ground) -> str:
    return claim(sandbox, attacks.read_files, *_files_in(Path.cwd()), *_project_files())


def _home(sandbox: Sandbox, _ground: Ground) -> str:
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


def _writing(sandbox: Sandbox, ground: Ground) -> str:
    shared = Path(tempfile.gettempdir(), f"selftest-{ground.secret}")
    targets = [ground.secret_file, shared, Path.cwd() / shared.name, Path.home() / shared.name]
    claim(sandbox, attacks.write_files, *map(str, targets))
    made = [path for path in targets[1:] if path.exists()]
    for path in made:
        path.unlink()
    return f"wrote {made}" if made or not ground.is_untouched else ""


def _rights(sandbox: Sandbox, ground: Ground) -> str:
    claim(sandbox, attacks.change_rights, str(ground.secret_file))
    return "" if ground.is_untouched else "changed the rights of a file"


def _signal(sandbox: Sandbox, ground: Ground) -> str:
    claim(sandbox, attacks.signal_process, ground.victim.pid)
    return "" if ground.victim.poll() is None else "ended another process"


TRIALS = (
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
