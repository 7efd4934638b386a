"""Where suite files stand: anywhere, in the workspace, or in this package."""

from __future__ import annotations

from pathlib import Path

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError

SUFFIX = ".yaml"


def suite_files(data_dir: Path) -> list[Path]:
    """Return the suites that can be meant by name: the workspace's, then the package's."""
    folders = (data_dir / "suites", Path(__file__).parent / "suites")
    return [path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}"))]


def find_suite(written: str, data_dir: Path) -> Path:
    """Return the file that is meant by a path or a name, such as `example`.

    Raises:
        ConfigError: If there is no such file and no suite of that name.
    """
    if Path(written).is_file():
        return Path(written)
    known = suite_files(data_dir)
    found = next((path for path in known if path.stem == written), None)
    if found is None:
        hint = name_hint(written, [path.stem for path in known])
        raise ConfigError(f"there is no suite `{written}`", hint=hint)
    return found
