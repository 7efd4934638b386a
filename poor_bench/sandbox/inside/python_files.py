"""Which files a Python program needs to be able to read."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

_SYSTEM_FILES = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
)
_DEBIAN_PACKAGES = "dist-packages"


def import_folders() -> list[str]:
    """Return where programs may import from: the standard library and installed packages.

    Other places that this interpreter was told of (editable installs, the project) are left out.
    """
    standard = Path(sysconfig.get_path("stdlib"))
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return [
        folder
        for folder in sys.path
        if Path(folder).is_dir()
        and (
            Path(folder).is_relative_to(standard)
            or folder in installed
            or Path(folder).name == _DEBIAN_PACKAGES
        )
    ]


def readable_files() -> list[str]:
    """Return the files and folders that programs may read: modules and shared libraries.

    None of them lies within another one.
    """
    shared = [Path(path).parent for path in _loaded_libraries()]
    wanted = [
        *map(Path, (*_SYSTEM_FILES, *import_folders())),
        Path(sys.base_prefix, "lib"),
        *shared,
    ]
    kept: list[Path] = []
    for path in sorted(path for path in wanted if path.exists()):
        if not kept or not path.is_relative_to(kept[-1]):
            kept.append(path)
    return [str(path) for path in kept]


def _loaded_libraries() -> list[str]:
    """Return the shared libraries in use by this process, on Linux."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    paths = (line.partition("/")[2] for line in lines)
    return [f"/{path}" for path in paths if ".so" in Path(path).name]
