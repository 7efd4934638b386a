"""Where evaluators come from: files in folders, and entry points of installed packages."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Protocol

from poor_bench.errors import PluginError, describe_crash

_INSTALLED_EVALUATORS = "built_in_evaluators"
"""Where `setup.py` packs them."""
ENTRY_POINT_GROUP = "poor_bench.evaluators"
"""A package offers an evaluator as `name = "its.module"` in this group."""


class EvaluatorSource(Protocol):
    """A module that has not been imported yet."""

    @property
    def origin(self) -> str:
        """Where it comes from, for messages."""

    def import_module(self) -> ModuleType:
        """Import it.

        Raises:
            PluginError: If it cannot be imported; the message has origin and reason.
        """


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file of a plug-in folder."""

    path: Path

    @property
    def origin(self) -> str:
        """The file's path."""
        return str(self.path)

    def import_module(self) -> ModuleType:
        """Execute the file as a module of its own name, apart from every other's."""
        folder = blake2b(str(self.path.parent.resolve()).encode(), digest_size=4).hexdigest()
        name = f"poor_bench_evaluators_{folder}.{self.path.stem}"
        spec = importlib.util.spec_from_file_location(name, self.path)
        if spec is None:
            raise PluginError(f"{self.path} is not a Python file")
        try:
            return _execute(spec)
        except (Exception, SystemExit) as error:
            raise _broken(self.origin, error, str(self.path)) from error


@dataclass(frozen=True, slots=True)
class EntryPointSource:
    """An entry point of an installed package."""

    name: str
    target: str

    @property
    def origin(self) -> str:
        """The module that the entry point names."""
        return f"{self.target} (entry point {self.name!r})"

    def import_module(self) -> ModuleType:
        """Import the module as any other."""
        try:
            return importlib.import_module(self.target)
        except (Exception, SystemExit) as error:
            raise _broken(self.origin, error) from error


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The evaluator files of several folders."""

    sources: Mapping[str, FileSource]
    notes: tuple[str, ...]
    """One sentence for every file that another one of the same name hides."""


def list_folders(folders: Sequence[Path]) -> FolderListing:
    """Return the evaluators of `folders` by name; of two with one name the earlier folder's.

    Every `*.py` file is one whose name does not start with `_`; a folder that does not exist has
    none. No file is opened.
    """
    sources: dict[str, FileSource] = {}
    notes = []
    for path in (path for folder in folders for path in sorted(folder.glob("[!_]*.py"))):
        winner = sources.setdefault(path.stem, FileSource(path))
        if winner.path != path:
            notes.append(f"evaluator {path.stem!r}: {winner.path} is used instead of {path}")
    return FolderListing(sources=sources, notes=tuple(notes))


def list_entry_points() -> Mapping[str, EntryPointSource]:
    """Return the evaluators that installed packages offer, by name."""
    from importlib.metadata import entry_points

    return {
        point.name: EntryPointSource(name=point.name, target=point.module)
        for point in entry_points(group=ENTRY_POINT_GROUP)
    }


def _execute(spec: ModuleSpec) -> ModuleType:
    module = importlib.util.module_from_spec(spec)
    # A dataclass with postponed annotations looks its own module up while it is being executed.
    sys.modules[spec.name] = module
    try:
        if spec.loader is not None:
            with redirect_stdout(sys.stderr):  # stdout may be JSON for a machine
                spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _broken(origin: str, error: BaseException, file: str = "") -> PluginError:
    return PluginError(
        f"{origin} cannot be imported: {describe_crash(error, file)}",
        hint="fix or remove the file; the other evaluators work without it",
    )


@cache
def project_evaluators_folder() -> Path:
    """Return the folder of the built-in evaluators: beside the package, installed within it."""
    package = Path(__file__).parents[1]
    installed = package / _INSTALLED_EVALUATORS
    return installed if installed.is_dir() else package.parent / "evaluators"
