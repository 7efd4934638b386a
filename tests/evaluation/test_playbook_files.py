from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.evaluation.browser.playbook_file import find_playbook


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "bench"
    for folder in ("suites", "playbooks"):
        (workspace / folder).mkdir(parents=True)
        (workspace / folder / "own.yaml").touch()
    (tmp_path / "secret.yaml").touch()
    (workspace / "suites" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    return workspace


@pytest.mark.parametrize(
    ("written", "found"),
    [("own", "playbooks/own.yaml"), ("./own.yaml", "suites/own.yaml"),
     ("../playbooks/own.yaml", "playbooks/own.yaml")],
)  # fmt: skip
def test_playbooks_of_the_workspace_are_found(workspace: Path, written: str, found: str) -> None:
    path = find_playbook(written, workspace, workspace / "suites")
    assert path is not None
    assert path.samefile(workspace / found)


@pytest.mark.parametrize("written", ["../../secret.yaml", "/etc/x.yaml", "./link.yaml"])
def test_a_playbook_out_of_the_workspace_is_not_found(workspace: Path, written: str) -> None:
    absolute = str(workspace.parent / "secret.yaml")
    for name in (written, absolute):
        assert find_playbook(name, workspace, workspace / "suites") is None
