"""The same mechanisms hold for a user without rights, seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534
PACKAGES = Path(pytest.__file__).parents[1]
SYSTEM_PYTHON = Path(f"/usr/bin/python3.{sys.version_info.minor}")


def _can_be_read_by_all(path: Path) -> bool:
    return path.exists() and all(
        place.stat().st_mode & 0o005 == 0o005 for place in (path, *path.parents)
    )


def _interpreter() -> Path:
    """Return an interpreter that any user can start, with the packages of this one."""
    needed = (ROOT, PACKAGES)
    for candidate in (Path(sys.executable).resolve(), SYSTEM_PYTHON):
        if all(map(_can_be_read_by_all, (candidate, *needed))):
            return candidate
    pytest.skip("run as root from folders that other users cannot read")


@pytest.mark.slow(reason="attacks the sandbox in every way")
def test_selftest_holds_for_a_user_without_rights() -> None:
    is_root = os.geteuid() == 0
    interpreter = _interpreter() if is_root else Path(sys.executable)
    outcome = subprocess.run(
        [interpreter, str(ROOT / "main.py"), "sandbox", "selftest", "--json"],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "HOME": "/", "PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        check=False,
        user=NOBODY if is_root else None,
        group=NOBODY if is_root else None,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert len(json.loads(outcome.stdout)["escapes"]) > 20
