"""Where playbooks stand: in the workspace, then with the program, or beside their suite."""

from __future__ import annotations

from pathlib import Path

SUFFIX = ".yaml"
_PACKAGE = Path(__file__).parents[1]
_SHIPPED = (_PACKAGE.parent / "data" / "playbooks", _PACKAGE / "built_in_playbooks")
"""In the project, and where `setup.py` packs them."""


def playbook_folders(data_dir: Path) -> tuple[Path, ...]:
    """Return the folders that names of playbooks are looked up in, the first one wins."""
    return data_dir / "playbooks", *_SHIPPED


def find_playbook(written: str, data_dir: Path, suite_folder: Path) -> Path | None:
    """Return the file that a case means, or None where there is none.

    Args:
        written: A name such as `shop_search`; with a slash or an ending, a path that starts at
            the folder of the suite.
        data_dir: Folder of the workspace.
        suite_folder: Where the suite file stands.
    """
    if "/" in written or written.endswith(SUFFIX):
        candidates = [suite_folder / written]
    else:
        candidates = [folder / f"{written}{SUFFIX}" for folder in playbook_folders(data_dir)]
    return next((path for path in candidates if path.is_file()), None)


def playbook_names(data_dir: Path) -> list[str]:
    """Return the names of all playbooks that can be meant by name."""
    folders = playbook_folders(data_dir)
    return sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})
