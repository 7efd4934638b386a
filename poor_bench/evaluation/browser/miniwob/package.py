"""Where the pages of the package miniwob are."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from poor_bench.command_line import python_command
from poor_bench.errors import MissingExtraError


def pages_folder() -> Path:
    """The folder of the package's pages; the package itself is not imported.

    Raises:
        MissingExtraError: If it is not installed.
    """
    spec = find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "the benchmark MiniWoB++ needs the package miniwob",
            hint=python_command("-m pip install miniwob"),
        )
    return Path(spec.submodule_search_locations[0]) / "html"


def task_names() -> list[str]:
    """The names of all tasks, such as `click-button`.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    return sorted(path.stem for path in (pages_folder() / "miniwob").glob("*.html"))
