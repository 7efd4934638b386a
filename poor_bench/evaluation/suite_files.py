"""Places of suite files: any path, the workspace, or this package."""

from __future__ import annotations

from pathlib import Path

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError

SUFFIX = ".yaml"


def suite_files(data_dir: Path) -> list[Path]:
    """Suites that have a name: the workspace's, then the package's."""
    folders = (data_dir / "suites", Path(__file__).parent / "suites")
    return [path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}"))]


def find_suite(written: str, data_dir: Path) -> Path:
    """Find a suite by path or by name, such as `example`.

    Raises:
        ConfigError: If neither exists.
    """
    if Path(written).is_file():
        return Path(written)
    known = suite_files(data_dir)
    found = next((path for path in known if path.stem == written), None)
    if found is None:
        hint = name_hint(written, [path.stem for path in known])
        raise ConfigError(f"suite `{written}` does not exist", hint=hint)
    return found
