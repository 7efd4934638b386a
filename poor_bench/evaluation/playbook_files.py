"""Places of playbooks: the workspace, then the program, or beside their suite."""

from __future__ import annotations

from pathlib import Path

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
            the folder of the suite.
        data_dir: Folder of the workspace.
        suite_folder: Folder of the suite file.
    """
    if "/" in written or written.endswith(SUFFIX):
        candidates = [suite_folder / written]
    else:
        candidates = [folder / f"{written}{SUFFIX}" for folder in playbook_folders(data_dir)]
    return next((path for path in candidates if path.is_file()), None)


def playbook_names(data_dir: Path) -> list[str]:
    """Names of all playbooks."""
    folders = playbook_folders(data_dir)
    return sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})
