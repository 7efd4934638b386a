"""Places of playbooks: the workspace, then the program, or beside their suite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from poor_bench.config.nearest_name import name_hint
from poor_bench.safe_files import path_within

SUFFIX = ".yaml"
_PACKAGE = Path(__file__).parents[1]
_SHIPPED = (_PACKAGE.parent / "data" / "playbooks", _PACKAGE / "built_in_playbooks")
"""In the project, and in the package that `setup.py` builds."""


def playbook_folders(data_dir: Path) -> tuple[Path, ...]:
    """Folders of playbooks that have a name; the first match wins."""
    return data_dir / "playbooks", *_SHIPPED


def find_playbook(written: str, data_dir: Path, suite_folder: Path) -> Path | None:
    """Find the playbook of a case; None if it does not exist.

    Args:
        written: A name such as `shop_search`; with a slash or an ending, a path that starts at
            the folder of the suite. It may lead to that folder, a folder `suites` around it, or
            the workspace, and nowhere else.
        data_dir: Folder of the workspace.
        suite_folder: Folder of the suite file.
    """
    if _is_path(written):
        candidates = list(_inside(written, data_dir, suite_folder))
    else:
        candidates = [folder / f"{written}{SUFFIX}" for folder in playbook_folders(data_dir)]
    return next((path for path in candidates if path.is_file()), None)


def _inside(written: str, data_dir: Path, suite_folder: Path) -> Iterator[Path]:
    is_in_workspace = suite_folder.name == "suites"
    for folder in (suite_folder.parent if is_in_workspace else suite_folder, data_dir):
        with suppress(PermissionError):
            yield path_within(folder, written, start=suite_folder)


def missing_playbook_hint(written: str, data_dir: Path) -> str:
    """Say how to name a playbook where `find_playbook` finds none."""
    if _is_path(written):
        return "A path starts at the folder of the suite and stays inside the workspace."
    return name_hint(written, playbook_names(data_dir))


def _is_path(written: str) -> bool:
    return "/" in written or written.endswith(SUFFIX)


def playbook_names(data_dir: Path) -> list[str]:
    """Names of all playbooks."""
    folders = playbook_folders(data_dir)
    return sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})
