"""Which files a Python program needs to be able to read."""

from __future__ import annotations

import os
import sys
import sysconfig

_SYSTEM_FILES = (
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"),
    *("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo"),
)
_DEBIAN_PACKAGES = "dist-packages"


def find_import_folders() -> list[str]:
    """Find where programs may import from: the standard library and installed packages.

    Other places that this interpreter was told of (editable installs, the project) are left out.
    """
    standard = sysconfig.get_path("stdlib")
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return [
        folder
        for folder in sys.path
        if os.path.isdir(folder)
        and (
            _is_within(folder, standard)
            or folder in installed
            or os.path.basename(folder) == _DEBIAN_PACKAGES
        )
    ]


def find_readable_files() -> list[str]:
    """Find the files and folders that programs may read: modules and shared libraries.

    None of them lies within another one.
    """
    wanted = {
        *(*_SYSTEM_FILES, *find_import_folders()),
        os.path.join(sys.base_prefix, "lib"),
        *map(os.path.dirname, _list_loaded_libraries()),
    }
    existing = sorted(filter(os.path.exists, map(os.path.normpath, wanted)), key=_split_path)
    kept: list[str] = []
    for path in existing:
        if not kept or not _is_within(path, kept[-1]):
            kept.append(path)
    return kept


def require_readable(folders: list[str]) -> None:
    """Make sure that this process may read what stands in folders.

    Raises:
        OSError: If it may not; the message names the first place.
    """
    for folder in folders:
        if not _may(os.R_OK | os.X_OK, folder):
            raise OSError(0, f"other users may not read {folder}")
        with os.scandir(folder) as entries:
            for entry in entries:
                needed = os.R_OK | os.X_OK if entry.is_dir() else os.R_OK
                if not _may(needed, entry.path) and not entry.is_symlink():
                    raise OSError(0, f"other users may not read {entry.path}")


def _may(access: int, path: str) -> bool:
    """True if this process may access a file, with the capabilities that it has."""
    return os.access(path, access, effective_ids=os.access in os.supports_effective_ids)


def _list_loaded_libraries() -> list[str]:
    """List the shared libraries in use by this process, on Linux."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = [line.rstrip("\n").partition("/")[2] for line in maps]
    except FileNotFoundError:
        return []
    return [f"/{path}" for path in paths if ".so" in os.path.basename(path)]


def _is_within(path: str, folder: str) -> bool:
    return _split_path(path)[: len(_split_path(folder))] == _split_path(folder)


def _split_path(path: str) -> list[str]:
    return path.split(os.sep)


def forget_project(folders: list[str]) -> None:
    """Let programs import from `folders` only."""
    sys.path[:] = folders
    sys.path_importer_cache.clear()
